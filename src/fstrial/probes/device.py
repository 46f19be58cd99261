"""What the block device did: requests, bytes and busy time."""

from __future__ import annotations

from collections.abc import Sequence

from fstrial.model.metric import Sample, missing
from fstrial.probes._blockstat import SECTOR_BYTES, counters, not_counted
from fstrial.probes.contract import Place, Probe

__all__ = ["Reader"]

_REQUESTS = ("device_reads", "device_writes", "device_flushes", "device_discards")
_BYTES = {
    "device_read_bytes": "read_sectors",
    "device_write_bytes": "write_sectors",
    "device_discard_bytes": "discard_sectors",
}
_WRAP_MS = 2**32  # io_ticks is printed as an unsigned int of milliseconds (block/genhd.c, part_stat_show)


class Reader(Probe):
    metrics = (*_REQUESTS, *_BYTES, "device_busy_s")

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._why_not = not_counted(place.statistics)
        self._before: dict[str, int] = {}

    def enter(self) -> None:
        self._before = self._now()

    def exit(self) -> Sequence[Sample]:
        if self._why_not:
            return tuple(missing(metric, self._why_not) for metric in self.metrics)
        after = self._now()
        grown = {name: count - self._before[name] for name, count in after.items()}
        return (
            *(_sample(metric, grown.get(metric)) for metric in _REQUESTS),
            *(_sample(metric, grown.get(sectors), SECTOR_BYTES) for metric, sectors in _BYTES.items()),
            _busy(grown),
        )

    def _now(self) -> dict[str, int]:
        stat = self.place.statistics
        return counters(stat) if stat is not None and not self._why_not else {}


def _sample(metric: str, count: int | None, unit: int = 1) -> Sample:
    if count is None:
        return missing(metric, "this kernel does not count it")
    return Sample(metric, float(count * unit))


def _busy(grown: dict[str, int]) -> Sample:
    """Busy time is counted in jiffies (block/blk-core.c, update_io_ticks()): requests within one took some time, and
    nobody knows how much."""
    busy_ms = grown["busy_ms"] % _WRAP_MS
    if busy_ms == 0 and any(grown.get(metric) for metric in _REQUESTS):
        return missing("device_busy_s", "below one tick of the kernel's clock (jiffy)")
    return Sample("device_busy_s", busy_ms / 1000)
