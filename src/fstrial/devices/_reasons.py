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
from fstrial.devices._blkid import partition_table
from fstrial.devices._block import Block, block_of, number_at, number_text
from fstrial.devices._mounts import Mount, mount_of, mounts, unescape
from fstrial.devices._names import typed
from fstrial.devices._stack import How, Stacked, down, stack

__all__ = ["CHECKS", "Reason", "Signature", "Suspect", "signatures", "suspect_of"]

_PROBE_DEADLINE_S = 60.0
_BTRFS_DEVICES = 0x10000 + 0x88  # num_devices of the superblock (include/uapi/linux/btrfs_tree.h)
_PARTITION_TABLE = "partition-table"


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
            part for part in (self.label and f"label {typed(self.label)}", self.uuid and f"UUID {self.uuid}") if part
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
    def stack(self) -> dict[str, Stacked]:
        """It and what stands on it, by number."""
        return stack(self.block, self.sysfs)

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        return signatures(self.path)

    @property
    def shown(self) -> str:
        return typed(self.path)


def suspect_of(path: Path) -> Suspect:
    """Raises OSError when it is no block device that sysfs knows."""
    state = path.stat()
    if not stat.S_ISBLK(state.st_mode):
        raise OSError(errno.ENOTBLK, os.strerror(errno.ENOTBLK), str(path))
    return Suspect(path, block_of(number_text(state.st_rdev)))


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
    found = json.loads(done.stdout, strict=False)["signatures"]
    return tuple(
        dict.fromkeys(Signature(*(one.get(key) or "" for key in ("type", "usage", "uuid", "label"))) for one in found)
    )


def mounted(suspect: Suspect) -> Iterator[Reason]:
    """By number, and by source: Btrfs and overlays show numbers of their own."""
    for mount in mounts(suspect.procfs):
        found = suspect.stack.get(mount.number) or suspect.stack.get(number_at(mount.source))
        if found:
            where = f" in the mount namespace of process {mount.process}" if mount.process else ""
            evidence = f"{found.chain} on {typed(mount.point)} ({mount.kind}){where}"
            yield Reason("it is mounted", evidence, _unmount(mount))


def _unmount(mount: Mount) -> str:
    enter = f"nsenter --target {mount.process} --mount " if mount.process else ""
    return f"{enter}umount {typed(mount.point)}"


def swapped_on(suspect: Suspect) -> Iterator[Reason]:
    for line in (suspect.procfs / "swaps").read_bytes().splitlines()[1:]:
        area = unescape(line.split()[0])
        found = suspect.stack.get(number_at(area))
        if found:
            yield Reason("it is swap", f"{found.chain} in /proc/swaps", f"swapoff {typed(area)}")


def built_upon(suspect: Suspect) -> Iterator[Reason]:
    """LVM, MD, device-mapper and bcache are seen here: sysfs holders."""
    for one in suspect.stack.values():
        if one.how is How.HOLDER:
            yield Reason(
                "something is built on it", one.chain, f"take {one.block.name} apart first, if it may go  (lsblk)"
            )


def backs_a_loop(suspect: Suspect) -> Iterator[Reason]:
    for one in suspect.stack.values():
        if one.how is How.LOOP:
            yield Reason("it backs a loop device", one.chain, f"losetup --detach /dev/{one.block.name}")


def holds_root(suspect: Suspect) -> Iterator[Reason]:
    """It, or something below the device of the root filesystem."""
    mount = mount_of(Path("/"), suspect.procfs / "self/mountinfo")
    for number in {number_text(Path("/").stat().st_dev), number_at(mount.source if mount else "")}:
        if not number or not (suspect.sysfs / "dev/block" / number).exists():
            continue  # Btrfs, overlay, a network
        if any(one.number in suspect.stack for one in down(block_of(number, suspect.sysfs))):
            yield Reason("it holds the root filesystem", f"/ is on device {number}", "choose another device")


def read_only(suspect: Suspect) -> Iterator[Reason]:
    if suspect.block.is_read_only:
        yield Reason("it is read-only", f"{suspect.block.folder}/ro", "is there a write-protect switch?")


def opened_exclusively(suspect: Suspect) -> Iterator[Reason]:
    """open(2), O_EXCL: without O_CREAT it fails on a block device that the kernel or a program has claimed."""
    for one in (suspect.block, *suspect.block.partitions()):
        node = suspect.path if one == suspect.block else Path("/dev", one.name)
        try:
            os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            yield Reason(
                "something has it open exclusively", f"open({node}, O_EXCL): EBUSY", f"see  lsof {node}; dmsetup ls"
            )


def has_partitions(suspect: Suspect) -> Iterator[Reason]:
    """A table on the device, or partitions that the kernel made of it."""
    table = partition_table(suspect.path)
    parts = [one.name for one in suspect.block.partitions()]
    if parts or table:
        evidence = ", ".join([*([f"{table} partition table"] if table else []), *parts])
        remedy = "name one of the partitions, if it may go" if parts else f"wipefs {suspect.shown}  shows the table"
        yield Reason("it has partitions", evidence, remedy)


def holds_more_than_a_filesystem(suspect: Suspect) -> Iterator[Reason]:
    """A plain filesystem can be given up with --erase; members of arrays, containers and contradictions cannot."""
    found = [one for one in suspect.signatures if one.usage != _PARTITION_TABLE]
    look = f"wipefs {suspect.shown}  shows it; if it may go:  wipefs --all {suspect.shown}"
    if len({one.type for one in found}) > 1:
        yield Reason("it carries several signatures at once", ", ".join(map(str, found)), look)
    elif found and not found[0].is_plain_filesystem:
        yield Reason(f"it is part of something larger ({found[0].usage or 'unknown'})", str(found[0]), look)


def part_of_a_btrfs(suspect: Suspect) -> Iterator[Reason]:
    """A Btrfs over several devices shows the same UUID on each, and no holder while it is not mounted."""
    if not any(one.type == "btrfs" for one in suspect.signatures):
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
    built_upon,
    backs_a_loop,
    holds_root,
    read_only,
    opened_exclusively,
    has_partitions,
    holds_more_than_a_filesystem,
    part_of_a_btrfs,
)
"""In the order in which a person wants to hear of them."""
