"""What sysfs says of a block device (Documentation/ABI/stable/sysfs-block)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fstrial.model.trial import DeviceFacts

__all__ = ["Block", "block_of", "disk_below"]

_SECTOR_BYTES = 512


@dataclass(frozen=True)
class Block:
    """A block device by its number; `folder` is its own in sysfs, `disk` that of the whole disk."""

    number: str
    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_partition(self) -> bool:
        return (self.folder / "partition").exists()

    @property
    def disk(self) -> Path:
        return self.folder.parent if self.is_partition else self.folder

    @property
    def size_bytes(self) -> int:
        return int(_read(self.folder / "size")) * _SECTOR_BYTES

    @property
    def is_read_only(self) -> bool:
        return _read(self.folder / "ro") != "0"

    @property
    def sequence(self) -> str:
        """diskseq: another number whenever another medium or image is behind the same name (Linux 5.15)."""
        return _read(self.disk / "diskseq", "")

    @property
    def serial(self) -> str:
        return next(
            (
                text
                for name in ("serial", "device/serial", "device/wwid", "wwid")
                if (text := _read(self.disk / name, ""))
            ),
            "",
        )

    @property
    def model(self) -> str:
        return _read(self.disk / "device/model", "")

    @property
    def statistics(self) -> Path:
        return self.folder / "stat"

    def partitions(self) -> tuple[Block, ...]:
        """Of a whole disk; none of a partition."""
        return tuple(
            Block(_read(folder / "dev"), folder)
            for folder in sorted(self.folder.iterdir())
            if (folder / "partition").exists() and not self.is_partition
        )

    def holders(self) -> tuple[str, ...]:
        return tuple(sorted(entry.name for entry in (self.folder / "holders").iterdir()))

    def facts(
        self, target: str, kind: str, path: Path, backing: str = "", direct_io: bool | None = None
    ) -> DeviceFacts:
        """What a result keeps of it."""
        queue = self.disk / "queue"
        return DeviceFacts(
            target=target,
            kind=kind,
            path=str(path),
            size_bytes=self.size_bytes,
            logical_block_bytes=_number(queue / "logical_block_size"),
            physical_block_bytes=_number(queue / "physical_block_size"),
            rotational={"0": False, "1": True}.get(_read(queue / "rotational", "")),
            direct_io=direct_io,
            write_cache=_read(queue / "write_cache", ""),
            model=self.model,
            serial=self.serial,
            backing=backing,
        )


def block_of(rdev: int, sysfs: Path = Path("/sys")) -> Block:
    """The block device of that number. Raises OSError when sysfs does not know it."""
    number = f"{os.major(rdev)}:{os.minor(rdev)}"
    return Block(number, (sysfs / "dev/block" / number).resolve(strict=True))


def disk_below(folder: Path, sysfs: Path = Path("/sys")) -> Block | None:
    """The block device that a folder's filesystem lies on, or None (tmpfs, network, several devices)."""
    try:
        return block_of(folder.stat().st_dev, sysfs)
    except OSError:
        return None


def _read(file: Path, default: str | None = None) -> str:
    """A sysfs file's text; without a default its absence raises OSError."""
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        if default is None:
            raise
        return default


def _number(file: Path) -> int | None:
    text = _read(file, "")
    return int(text) if text.isdigit() else None
