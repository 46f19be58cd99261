"""What sysfs says of a block device (Documentation/ABI/stable/sysfs-block)."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from fstrial.model.trial import DeviceFacts

__all__ = ["Block", "block_of", "number_at", "number_text"]

_SECTOR_BYTES = 512
_SERIALS = ("serial", "device/serial", "device/wwid", "wwid")  # virtio, NVMe and MMC, SCSI, NVMe namespace
_PAGE_HEAD_BYTES = 4  # of a SCSI vital product data page (SPC-4, 7.8)


@dataclass(frozen=True)
class Block:
    """A block device by its number `MAJOR:MINOR`; `folder` is its own in sysfs."""

    number: str
    folder: Path

    @classmethod
    def at(cls, folder: Path) -> Block:
        """The device of a sysfs folder, links followed. Raises OSError."""
        real = folder.resolve(strict=True)
        return cls(_read(real / "dev"), real)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_partition(self) -> bool:
        return (self.folder / "partition").exists()

    @property
    def disk(self) -> Path:
        """Folder of the whole disk."""
        return self.folder.parent if self.is_partition else self.folder

    @property
    def size_bytes(self) -> int:
        return int(_read(self.folder / "size")) * _SECTOR_BYTES

    @property
    def start(self) -> str:
        """First sector of a partition; empty for a whole device."""
        return _read(self.folder / "start", "")

    @property
    def is_read_only(self) -> bool:
        return _read(self.folder / "ro") != "0"

    @property
    def sequence(self) -> str:
        """diskseq: another number whenever another medium or image is behind the same name (Linux 5.15)."""
        return _read(self.disk / "diskseq", "")

    @property
    def serial(self) -> str:
        """What the hardware is called by its maker, blanks made single; empty where sysfs knows none."""
        told = (_read(self.disk / name, "") for name in _SERIALS)
        page = _read(self.disk / "device/vpd_pg80", "", skip=_PAGE_HEAD_BYTES)
        return " ".join(next(filter(None, (page, *told)), "").split())

    @property
    def model(self) -> str:
        return _read(self.disk / "device/model", "")

    @property
    def statistics(self) -> Path:
        return self.folder / "stat"

    def partitions(self) -> tuple[Block, ...]:
        """Of a whole disk; none of a partition."""
        return tuple(Block.at(folder.parent) for folder in sorted(self.folder.glob("*/partition")))

    def holders(self) -> tuple[Block, ...]:
        """Devices built on this one: LVM, MD, device-mapper, bcache."""
        return tuple(Block.at(entry) for entry in sorted((self.folder / "holders").iterdir()))

    def slaves(self) -> tuple[Block, ...]:
        """Devices that this one is built on; a partition's disk among them."""
        if self.is_partition:
            return (Block.at(self.disk),)
        return tuple(Block.at(entry) for entry in sorted((self.folder / "slaves").iterdir()))

    def facts(
        self,
        target: str,
        kind: str,
        path: str,
        below: Block | None = None,
        backing: str = "",
        direct_io: bool | None = None,
    ) -> DeviceFacts:
        """What a result keeps of it. `below` is the device that carries its image: whether it turns matters."""
        queue = self.disk / "queue"
        turning = (below or self).disk / "queue/rotational"
        return DeviceFacts(
            target=target,
            kind=kind,
            path=path,
            size_bytes=self.size_bytes,
            logical_block_bytes=_number(queue / "logical_block_size"),
            physical_block_bytes=_number(queue / "physical_block_size"),
            rotational={"0": False, "1": True}.get(_read(turning, "")),
            direct_io=direct_io,
            write_cache=_read(queue / "write_cache", ""),
            model=self.model,
            serial=self.serial,
            backing=backing,
        )

    @property
    def logical_block_bytes(self) -> int:
        return _number(self.disk / "queue/logical_block_size") or _SECTOR_BYTES


def number_text(number: int) -> str:
    """`MAJOR:MINOR` of a device number, as sysfs and mount tables write it."""
    return f"{os.major(number)}:{os.minor(number)}"


def number_at(path: str) -> str:
    """`MAJOR:MINOR` of the block device that a path leads to; empty for anything else, and for no path."""
    if not path.startswith("/"):
        return ""
    try:
        state = Path(path).stat()
    except OSError:
        return ""
    return number_text(state.st_rdev) if stat.S_ISBLK(state.st_mode) else ""


def block_of(number: str, sysfs: Path = Path("/sys")) -> Block:
    """The block device of that `MAJOR:MINOR`. Raises OSError when sysfs does not know it."""
    return Block.at(sysfs / "dev/block" / number)


def _read(file: Path, default: str | None = None, skip: int = 0) -> str:
    """A sysfs file's text; without a default its absence raises OSError."""
    try:
        return file.read_bytes()[skip:].decode(errors="replace").strip("\0 \t\n")
    except OSError:
        if default is None:
            raise
        return default


def _number(file: Path) -> int | None:
    text = _read(file, "")
    return int(text) if text.isdigit() else None
