"""The `stat` file of a block device (kernel Documentation/block/stat.rst)."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SECTOR_BYTES", "counters", "not_counted"]

SECTOR_BYTES = 512
"""Of this file, whatever the device's own block size."""

_FIELDS = {
    "device_reads": 0,
    "read_sectors": 2,
    "device_writes": 4,
    "write_sectors": 6,
    "busy_ms": 9,
    "device_discards": 11,
    "discard_sectors": 13,
    "device_flushes": 15,
}
"""Place of each counter; discards came with Linux 4.18, flushes with 5.5."""


def counters(stat: Path) -> dict[str, int]:
    """What the device has counted since it was made: those counters that this kernel has."""
    words = stat.read_text().split()
    return {name: int(words[place]) for name, place in _FIELDS.items() if place < len(words)}


def not_counted(stat: Path | None) -> str:
    """Why a device's counters cannot be had; empty when they can."""
    if stat is None:
        return "there is no block device"
    if not stat.exists():
        return f"there is no {stat}"
    switches = [folder / "queue/iostats" for folder in stat.parents[:2]]  # a partition's queue is its disk's
    if any(switch.exists() and switch.read_text().strip() == "0" for switch in switches):
        return "the device's accounting is switched off (queue/iostats)"
    return ""
