"""What carries a folder: the filesystem mounted there and the disk below it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fstrial.devices._block import Block, block_of, number_at, number_text
from fstrial.devices._mounts import mount_of
from fstrial.devices._names import typed

__all__ = ["Carrier", "carrier_of"]

_IN_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Carrier:
    """`kind` is the filesystem's type, `source` what is mounted; `block` the device below, where there is one."""

    kind: str
    source: str
    block: Block | None

    def __str__(self) -> str:
        return self.kind if self.is_memory or not self.source else f"{self.kind} on {typed(self.source)}"

    @property
    def is_memory(self) -> bool:
        return self.kind in _IN_MEMORY

    @property
    def statistics(self) -> Path | None:
        """`stat` file of the whole disk below: what others do on its other partitions counts too."""
        return self.block.disk / "stat" if self.block is not None else None


def carrier_of(folder: Path) -> Carrier:
    """By the device number of its files; by the mounted source where that number stands for no device (Btrfs)."""
    mount = mount_of(folder)
    kind, source = (mount.kind, mount.source) if mount is not None else ("unknown", "")
    for number in (number_text(folder.stat().st_dev), number_at(source)):
        with suppress(OSError):
            return Carrier(kind, source, block_of(number))
    return Carrier(kind, source, None)
