"""Why a block device must not be written to: each check looks at one kind of use and says what it found.

All take a Suspect and yield reasons; what they cannot read they raise as OSError or ValueError, which the guard
takes as "in use".
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fstrial.base import proc
from fstrial.devices._block import Block, block_of
from fstrial.devices._loop import backing_of
from fstrial.devices._mounts import mounts, unescape

__all__ = ["CHECKS", "Reason", "Signature", "Suspect", "signatures", "suspect_of"]

_PROBE_DEADLINE_S = 60.0
_BTRFS_DEVICES = 0x10000 + 0x88  # num_devices of the superblock (include/uapi/linux/btrfs_tree.h)
_NOTHING_FOUND = 2  # blkid(8), "EXIT STATUS"
_AMBIVALENT = 8  # several filesystems at once: holds_more_than_a_filesystem tells


@dataclass(frozen=True)
class Reason:
    """Why not, the evidence, and what a person can do about it."""

    why: str
    evidence: str
    remedy: str


@dataclass(frozen=True)
class Signature:
    """One signature that libblkid knows, as wipefs(8) reports it. `usage` is filesystem, raid, crypto, other."""

    type: str
    usage: str
    uuid: str
    label: str

    @property
    def is_plain_filesystem(self) -> bool:
        """libblkid's usage of a ZFS or VMFS member is "filesystem" too; its type says what it is."""
        return self.usage == "filesystem" and not self.type.endswith("_member")

    def __str__(self) -> str:
        named = " ".join(
            part for part in (self.label and f"label {self.label}", self.uuid and f"UUID {self.uuid}") if part
        )
        return f"{self.type} ({named})" if named else self.type


@dataclass(frozen=True)
class Suspect:
    """The device that somebody wants to give up, and where to look: tests look at recorded trees."""

    path: Path
    block: Block
    sysfs: Path = Path("/sys")
    procfs: Path = Path("/proc")

    @cached_property
    def family(self) -> dict[str, Block]:
        """The device and its partitions, by number."""
        return {one.number: one for one in (self.block, *self.block.partitions())}

    def names(self, number: str) -> str:
        return self.family[number].name


def signatures(path: Path) -> tuple[Signature, ...]:
    """Every signature on the device, several at once included. Raises OSError when it cannot be examined."""
    done = proc.run(
        ("wipefs", "--no-act", "--json", "--output", "TYPE,USAGE,UUID,LABEL", str(path)),
        deadline_s=_PROBE_DEADLINE_S,
    )
    if done.failed:
        raise OSError(errno.EIO, f"wipefs: {done.complaint()}")
    if not done.stdout.strip():
        return ()
    found = json.loads(done.stdout)["signatures"]
    return tuple(
        dict.fromkeys(Signature(*(one.get(key) or "" for key in ("type", "usage", "uuid", "label"))) for one in found)
    )


def partition_table(path: Path) -> str:
    """Type of the partition table, or an empty text: blkid tells it from the boot sector of FAT and NTFS, which
    ends in the same two bytes. Raises OSError when it cannot be examined."""
    done = proc.run(
        ("blkid", "--probe", "--match-tag", "PTTYPE", "--output", "value", str(path)), deadline_s=_PROBE_DEADLINE_S
    )
    if done.exit_status not in (0, _NOTHING_FOUND, _AMBIVALENT):
        raise OSError(errno.EIO, f"blkid: {done.complaint()}")
    return done.stdout.strip()


def mounted(suspect: Suspect) -> Iterator[Reason]:
    """By number, and by source: Btrfs and overlays show numbers of their own."""
    for mount in mounts(suspect.procfs):
        number = mount.number if mount.number in suspect.family else _number_of(mount.source)
        if number in suspect.family:
            yield Reason(
                "it is mounted", f"{suspect.names(number)} on {mount.point} ({mount.kind})", f"umount {mount.point}"
            )


def swapped_on(suspect: Suspect) -> Iterator[Reason]:
    for line in (suspect.procfs / "swaps").read_bytes().splitlines()[1:]:
        area = unescape(line.split()[0])
        if _number_of(area) in suspect.family:
            yield Reason("it is swap", f"{area} in /proc/swaps", f"swapoff {area}")


def held(suspect: Suspect) -> Iterator[Reason]:
    """LVM, MD, device-mapper and bcache are seen here: sysfs holders."""
    for one in suspect.family.values():
        for holder in one.holders():
            yield Reason(
                "something is built on it",
                f"{one.name} is held by {holder}",
                f"take {holder} apart first, if it may go",
            )


def backs_a_loop(suspect: Suspect) -> Iterator[Reason]:
    """By device and inode: holders do not show it."""
    for folder in sorted((suspect.sysfs / "block").glob("loop*/loop")):
        name = folder.parent.name
        backing = backing_of(Path("/dev", name))
        if backing is not None and backing.rdevice and _text(backing.rdevice) in suspect.family:
            yield Reason("it backs a loop device", f"/dev/{name} stands on it", f"losetup --detach /dev/{name}")


def holds_root(suspect: Suspect) -> Iterator[Reason]:
    if _text(Path("/").stat().st_dev) in suspect.family:
        yield Reason("it holds the root filesystem", "the device of / in stat(2)", "choose another device")


def read_only(suspect: Suspect) -> Iterator[Reason]:
    if suspect.block.is_read_only:
        yield Reason("it is read-only", f"{suspect.block.folder}/ro", "is there a write-protect switch?")


def opened_exclusively(suspect: Suspect) -> Iterator[Reason]:
    """open(2), O_EXCL: without O_CREAT it fails on a block device that the kernel or a program has claimed."""
    for one in suspect.family.values():
        try:
            os.close(os.open(_device_node(suspect, one), os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            yield Reason(
                "something has it open exclusively", f"open({one.name}, O_EXCL): EBUSY", "see  lsof, dmsetup ls"
            )


def has_partitions(suspect: Suspect) -> Iterator[Reason]:
    """A table on the device, or partitions that the kernel made of it."""
    table = "" if suspect.block.is_partition else partition_table(suspect.path)
    parts = [one.name for one in suspect.block.partitions()]
    if parts or table:
        evidence = ", ".join([*([f"{table} partition table"] if table else []), *parts])
        yield Reason("it is a whole device with partitions", evidence, "name one of the partitions, if it may go")


def holds_more_than_a_filesystem(suspect: Suspect) -> Iterator[Reason]:
    """A plain filesystem can be given up with --erase; members of arrays, containers and contradictions cannot."""
    found = [one for one in signatures(suspect.path) if one.usage not in ("", "partition-table")]
    kinds = {one.type for one in found}
    if len(kinds) > 1:
        yield Reason(
            "it carries several signatures at once", ", ".join(map(str, found)), f"wipefs {suspect.path} shows them"
        )
    for one in found:
        if len(kinds) == 1 and not one.is_plain_filesystem:
            yield Reason(f"it is part of something larger ({one.usage})", str(one), f"wipefs {suspect.path} shows it")
            return


def part_of_a_btrfs(suspect: Suspect) -> Iterator[Reason]:
    """A Btrfs over several devices shows the same UUID on each, and no holder while it is not mounted."""
    if not any(one.type == "btrfs" for one in signatures(suspect.path)):
        return
    with suspect.path.open("rb") as device:
        device.seek(_BTRFS_DEVICES)
        count = int.from_bytes(device.read(8), "little")
    if count != 1:
        yield Reason(
            f"it is one of the {count} devices of a Btrfs", "num_devices of its superblock", "btrfs filesystem show"
        )


CHECKS: tuple[Callable[[Suspect], Iterator[Reason]], ...] = (
    mounted,
    swapped_on,
    held,
    backs_a_loop,
    holds_root,
    read_only,
    opened_exclusively,
    has_partitions,
    holds_more_than_a_filesystem,
    part_of_a_btrfs,
)
"""In the order in which a person wants to hear of them."""


def _device_node(suspect: Suspect, one: Block) -> Path:
    return suspect.path if one == suspect.block else Path("/dev", one.name)


def _number_of(source: str) -> str:
    """`MAJOR:MINOR` of a block device's path, or an empty text for anything else."""
    if not source.startswith("/"):
        return ""
    try:
        state = Path(source).stat()
    except OSError:
        return ""
    return _text(state.st_rdev) if stat.S_ISBLK(state.st_mode) else ""


def _text(number: int) -> str:
    return f"{os.major(number)}:{os.minor(number)}"


def suspect_of(path: Path) -> Suspect:
    """Raises OSError when it is no block device that sysfs knows."""
    state = path.stat()
    if not stat.S_ISBLK(state.st_mode):
        raise OSError(errno.ENOTBLK, os.strerror(errno.ENOTBLK), str(path))
    return Suspect(path, block_of(state.st_rdev))
