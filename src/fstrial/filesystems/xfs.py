"""XFS."""

from __future__ import annotations

from fstrial.base.units import MIB
from fstrial.filesystems.contract import Checked, Filesystem, Health, Limits, no_verdict

__all__ = ["Type"]

_UNREPLAYED = "valuable metadata changes in a log"


class Type(Filesystem):
    """fsck.xfs(8) does nothing and always succeeds, so xfs_repair is the checker."""

    name = "xfs"
    kernel_type = "xfs"
    package = "xfsprogs"
    programs = ("mkfs.xfs", "xfs_repair", "xfs_admin")
    minimum_bytes = 300 * MIB  # mkfs.xfs(8), "-d size"; the same when bisected with xfsprogs 6.1.0
    # fs/xfs/xfs_super.c sets s_maxbytes to MAX_LFS_FILESIZE, which is 2^63 - 1 (include/linux/fs.h)
    limits = Limits(maximum_file_bytes=2**63 - 1)
    discard = "not done by mkfs (-K): the device is new or was discarded before"

    def make(self, device: str, options: tuple[str, ...]) -> tuple[str, ...]:
        return ("mkfs.xfs", "-q", "-f", "-K", *options, device)

    def check(self, device: str) -> tuple[str, ...]:
        return ("xfs_repair", "-n", device)

    def check_means(self, exit_status: int, words: str = "") -> Checked:
        """xfs_repair(8), "EXIT STATUS". With -n it looks past a log that was not replayed, and may then report
        damage that is none."""
        if _UNREPLAYED in words:
            return Checked(Health.UNKNOWN, "its log must be replayed first: mount and unmount it")
        match exit_status:
            case 0:
                return Checked(Health.CLEAN)
            case 1:
                return Checked(Health.DAMAGED, "corruption detected")
            case _:
                return no_verdict("xfs_repair", exit_status)

    def repair(self, device: str) -> tuple[str, ...]:
        return ("xfs_repair", "-e", device)

    def repair_means(self, exit_status: int, words: str = "") -> Checked:
        match exit_status:
            case 0:
                return Checked(Health.CLEAN)
            case 1:
                return Checked(Health.UNKNOWN, "xfs_repair met an error of its own and should be run again")
            case 2:
                return Checked(Health.UNKNOWN, "its log must be replayed first: mount and unmount it")
            case 4:
                return Checked(Health.REPAIRED, "errors corrected")
            case _:
                return no_verdict("xfs_repair", exit_status)

    def new_uuid(self, device: str) -> tuple[str, ...]:
        return ("xfs_admin", "-U", "generate", device)
