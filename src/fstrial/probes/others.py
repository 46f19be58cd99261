"""Other people's I/O: what the disk below moved beyond what our device did."""

from __future__ import annotations

from collections.abc import Sequence

from fstrial.model.metric import Sample, missing
from fstrial.probes._blockstat import SECTOR_BYTES, counters, not_counted
from fstrial.probes.contract import Place, Probe

__all__ = ["Reader"]


class Reader(Probe):
    """Bytes read and written. The metadata of the filesystem that carries an image is among them.

    Where an image's writes go through the host's page cache they reach the disk later than they left our device, so
    a phase may be charged with those of the phase before it.
    """

    metrics = ("other_io_bytes",)

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        why_not = not_counted(place.below)
        self._why_not = f"the disk below: {why_not}" if why_not else not_counted(place.statistics)
        self._before = 0

    def enter(self) -> None:
        self._before = self._beyond_ours()

    def exit(self) -> Sequence[Sample]:
        if self._why_not:
            return (missing("other_io_bytes", self._why_not),)
        return (Sample("other_io_bytes", float(max(0, self._beyond_ours() - self._before))),)

    def _beyond_ours(self) -> int:
        """Bytes that the disk below moved since boot, less those of our device."""
        if self._why_not or self.place.below is None or self.place.statistics is None:
            return 0
        below, ours = counters(self.place.below), counters(self.place.statistics)
        return SECTOR_BYTES * sum(below[name] - ours[name] for name in ("read_sectors", "write_sectors"))
