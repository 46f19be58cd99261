"""What ext2, ext3 and ext4 share: mke2fs, e2fsck and tune2fs."""

from __future__ import annotations

from collections.abc import Iterable

from fstrial.base.units import KIB
from fstrial.filesystems.contract import Checked, Filesystem, Health, no_verdict

__all__ = ["LARGEST_MAPPED_FILE", "MINIMUM_WITH_JOURNAL", "Ext"]

MINIMUM_WITH_JOURNAL = 2048 * KIB
"""Below it mke2fs still succeeds, but says "Filesystem too small for a journal" and makes none (1.47.0, bisected)."""

LARGEST_MAPPED_FILE = 2_196_873_666_560
"""Bytes of the largest file on 4 KiB blocks without extents: 2^32 sectors, the blocks of its map among them
(fs/ext4/super.c, ext4_max_bitmap_size(); found by writing)."""

# e2fsck(8), "EXIT CODE": the status is the sum of these
_CORRECTED = 1 | 2
_UNCORRECTED = 4
_NO_VERDICT = {8: "operational error", 16: "usage or syntax error", 32: "canceled", 128: "shared library error"}


class Ext(Filesystem):
    """One of the family; `lazy` are its extended options that leave work for after mkfs, off here."""

    package = "e2fsprogs"
    discard = "not done by mkfs (-E nodiscard): the device is new or was discarded before"
    lazy: tuple[str, ...] = ("lazy_itable_init=0", "lazy_journal_init=0")

    def make(self, device: str, options: tuple[str, ...]) -> tuple[str, ...]:
        others, extended = _extended(options)
        ours = ",".join(("nodiscard", *self.lazy, *extended))
        return (f"mkfs.{self.name}", "-q", "-F", "-E", ours, *others, device)

    def check(self, device: str) -> tuple[str, ...]:
        return ("e2fsck", "-f", "-n", device)

    def check_means(self, exit_status: int, words: str = "") -> Checked:
        """Beside the status its words count: with -n e2fsck ends with 0 though it left the journal alone, or
        though the first superblock is lost and it went on with a copy."""
        if "skipping journal recovery" in words:
            return Checked(Health.UNKNOWN, "its journal must be replayed first: mount and unmount it")
        if "trying backup blocks" in words:
            return Checked(Health.DAMAGED, "the first superblock is invalid")
        return _means(exit_status)

    def repair(self, device: str) -> tuple[str, ...]:
        return ("e2fsck", "-f", "-y", device)

    def repair_means(self, exit_status: int, words: str = "") -> Checked:
        return _means(exit_status)

    def new_uuid(self, device: str) -> tuple[str, ...]:
        return ("tune2fs", "-U", "random", device)


def _means(exit_status: int) -> Checked:
    if exit_status < 0:
        return no_verdict("e2fsck", exit_status)
    trouble = ", ".join(text for bit, text in _NO_VERDICT.items() if exit_status & bit)
    if exit_status & _UNCORRECTED:
        return Checked(Health.DAMAGED, ", ".join(filter(None, ("errors left uncorrected", trouble))))
    if trouble:
        return Checked(Health.UNKNOWN, f"e2fsck: {trouble}")
    if exit_status & ~_CORRECTED:
        return no_verdict("e2fsck", exit_status)
    return Checked(Health.REPAIRED, "errors corrected") if exit_status else Checked(Health.CLEAN)


def _extended(options: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options without -E, and the values of every -E.

    mke2fs heeds its last -E alone (misc/mke2fs.c), so a user's would switch lazy initialisation on again; within
    one list the later entry wins.
    """
    others: list[str] = []
    extended: list[str] = []
    words = iter(options)
    for word in words:
        if word == "-E":
            extended.extend(filter(None, [next(words, "")]))
        elif word.startswith("-E"):
            extended.append(word[2:])
        else:
            others.append(word)
    return tuple(others), tuple(extended)
