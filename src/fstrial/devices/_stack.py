"""What stands on a block device: its partitions, and whatever is built on any of them, as high as it goes."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from fstrial.devices._block import Block, number_at, number_text
from fstrial.devices._loop import backing_of

__all__ = ["How", "Stacked", "down", "stack"]


class How(Enum):
    """How a device came to stand in a stack."""

    ITSELF = "the device in question"
    DISK = "the whole disk that it is a partition of"
    PARTITION = "a partition"
    HOLDER = "something built on it"
    LOOP = "a loop device over it"


@dataclass(frozen=True)
class Stacked:
    """A device that shows (some of) the content of the one at the bottom.

    `chain` names the way up (`sda1 > dm-0`), `how` the last step of it.
    """

    block: Block
    chain: str
    how: How


def stack(block: Block, sysfs: Path = Path("/sys")) -> dict[str, Stacked]:
    """By number: the device, its partitions, their holders and the loop devices over any of them, recursively.

    For a partition also its whole disk and what stands on that, since it shows the partition's content; but not the
    other partitions. Holders do not show loop devices: those are asked what they stand on. Raises OSError when any of
    it cannot be read.
    """
    loops = tuple(_loops(sysfs))
    todo = [Stacked(block, block.name, How.ITSELF)]
    if block.is_partition:
        disk = Block.at(block.disk)
        todo.append(Stacked(disk, disk.name, How.DISK))
    found: dict[str, Stacked] = {}
    while todo:
        one = todo.pop(0)
        if one.block.number not in found:
            found[one.block.number] = one
            todo.extend(_above(one, loops))
    return found


def down(block: Block) -> Iterator[Block]:
    """The device and all that it is built on: slaves, and the disks of partitions."""
    yield block
    for lower in block.slaves():
        yield from down(lower)


def _above(one: Stacked, loops: tuple[tuple[Block, str], ...]) -> Iterator[Stacked]:
    if one.how is not How.DISK:
        yield from (Stacked(part, f"{one.chain} > {part.name}", How.PARTITION) for part in one.block.partitions())
    yield from (Stacked(up, f"{one.chain} > {up.name}", How.HOLDER) for up in one.block.holders())
    for loop, below in loops:
        if below == one.block.number:
            yield Stacked(loop, f"{one.chain} > {loop.name}", How.LOOP)


def _loops(sysfs: Path) -> Iterator[tuple[Block, str]]:
    """Every loop device over a block device, and the number of that."""
    for folder in sorted((sysfs / "block").glob("loop*/loop")):
        loop, node = Block.at(folder.parent), Path("/dev", folder.parent.name)
        if number_at(str(node)) != loop.number:
            raise OSError(errno.ENXIO, "it cannot be asked what it stands on: no node of its own in /dev", loop.name)
        backing = backing_of(node)
        if backing is not None and backing.rdevice:
            yield loop, number_text(backing.rdevice)
