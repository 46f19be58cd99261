"""Btrfs."""

from __future__ import annotations

from fstrial.base.units import MIB
from fstrial.filesystems.contract import Checked, Filesystem, Health, Limits, no_verdict

__all__ = ["Type"]


class Type(Filesystem):
    name = "btrfs"
    kernel_type = "btrfs"
    package = "btrfs-progs"
    programs = ("mkfs.btrfs", "btrfs", "btrfstune")
    minimum_bytes = 109 * MIB  # with duplicated metadata, its default; bisected with btrfs-progs 6.2
    # 16 EiB by format, 2^63 - 1 bytes through Linux: btrfs(5), "FILESYSTEM LIMITS"
    limits = Limits(maximum_file_bytes=2**63 - 1)
    discard = "not done by mkfs (-K): the device is new or was discarded before"

    def make(self, device: str, options: tuple[str, ...]) -> tuple[str, ...]:
        return ("mkfs.btrfs", "-q", "-f", "-K", *options, device)

    def check(self, device: str) -> tuple[str, ...]:
        return ("btrfs", "check", "--readonly", device)

    def check_means(self, exit_status: int, words: str = "") -> Checked:
        """btrfs-check(8), "EXIT STATUS": not zero is a failure, of the filesystem or of the check."""
        match exit_status:
            case 0:
                return Checked(Health.CLEAN)
            case 1:
                return Checked(Health.DAMAGED, "btrfs check failed")
            case _:
                return no_verdict("btrfs check", exit_status)

    def repair(self, device: str) -> tuple[str, ...]:
        """Counts down ten seconds first; --force would skip that, but also the look whether it is mounted."""
        return ("btrfs", "check", "--repair", device)

    def repair_means(self, exit_status: int, words: str = "") -> Checked:
        match exit_status:
            case 0:
                return Checked(Health.REPAIRED, "btrfs check does not say whether there was anything to correct")
            case 1:
                return Checked(Health.DAMAGED, "errors left uncorrected")
            case _:
                return no_verdict("btrfs check", exit_status)

    def new_uuid(self, device: str) -> tuple[str, ...]:
        """In the superblock alone (METADATA_UUID, Linux 5.0), so it is quick whatever the size: btrfstune(8)."""
        return ("btrfstune", "-f", "-m", device)
