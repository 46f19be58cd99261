"""NTFS through ntfs-3g, a FUSE program."""

from __future__ import annotations

from pathlib import Path

from fstrial.base import proc
from fstrial.base.errors import MachineError
from fstrial.filesystems.contract import Checked, Filesystem, Health, Limits, Replay, no_verdict

__all__ = ["Type"]

_MOUNT_DEADLINE_S = 60.0


class Type(Filesystem):
    """Mounted with ntfs-3g's own defaults; `mount=big_writes` and the like are for the plan to say.

    ntfs-3g writes no journal: it clears the one that Windows left (ntfs-3g(8), "recover").
    """

    name = "ntfs-3g"
    kernel_type = "fuseblk"
    fuse = True
    package = "ntfs-3g"
    programs = ("mkfs.ntfs", "ntfs-3g", "ntfsfix", "ntfslabel")
    minimum_bytes = 2049 * 512  # 1 MiB and the sector of the second boot record; bisected with mkntfs 2022.10.3
    # ntfs-3g(8): the POSIX namespace, so all characters but / and NUL and both cases; without the option
    # `permissions` chown and chmod do nothing and say so to nobody ("silent"). A name has 255 UTF-16 units, so 255
    # bytes always fit. The largest offset that a write was let through to is a page below 2^63.
    limits = Limits(maximum_file_bytes=2**63 - 4096, owners=False, permissions=False)
    replay = Replay.NOBODY
    discard = "mkntfs never discards; quick format (-Q): nothing is zeroed"

    def make(self, device: str, options: tuple[str, ...]) -> tuple[str, ...]:
        return ("mkfs.ntfs", "-q", "-Q", "-F", *options, device)

    def mount_command(self, device: str, folder: Path, options: tuple[str, ...]) -> tuple[str, ...]:
        chosen = ("-o", ",".join(options)) if options else ()
        return ("ntfs-3g", *chosen, device, str(folder))

    def mount(self, device: str, folder: Path, options: tuple[str, ...]) -> None:
        """ntfs-3g returns when it has mounted, and serves from the background until the umount.

        Raises MachineError with its words.
        """
        done = proc.run(self.mount_command(device, folder, options), deadline_s=_MOUNT_DEADLINE_S)
        if done.failed:
            raise MachineError(f"ntfs-3g did not mount {device}: {done.complaint()}")

    def check(self, device: str) -> tuple[str, ...]:
        return ("ntfsfix", "-n", device)

    def check_means(self, exit_status: int, words: str = "") -> Checked:
        """ntfsfix(8) looks at boot sectors, $MFT and its mirror, and whether it could mount: it is no chkdsk, and no
        free checker for Linux is."""
        match exit_status:
            case 0:
                return Checked(Health.CLEAN, "as far as ntfsfix looks")
            case 1:
                return Checked(Health.DAMAGED, "ntfsfix found errors")
            case _:
                return no_verdict("ntfsfix", exit_status)

    def repair(self, device: str) -> tuple[str, ...]:
        return ("ntfsfix", "-d", device)

    def repair_means(self, exit_status: int, words: str = "") -> Checked:
        match exit_status:
            case 0:
                return Checked(Health.REPAIRED, "ntfsfix does not say whether there was anything to correct")
            case 1:
                return Checked(Health.DAMAGED, "ntfsfix could not correct it")
            case _:
                return no_verdict("ntfsfix", exit_status)

    def new_uuid(self, device: str) -> tuple[str, ...]:
        """The serial number, by which udev and blkid tell NTFS volumes apart."""
        return ("ntfslabel", "--new-serial", device)
