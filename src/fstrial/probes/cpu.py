"""CPU time of the whole machine: kernel threads do the compressing and the write-back, and rusage hides them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fstrial.model.metric import Sample, missing
from fstrial.probes._machine import ACCOUNTING_TICK_S, BELOW_TICK
from fstrial.probes.contract import Place, Probe

__all__ = ["Reader"]

# proc_stat(5), the line "cpu": user nice system idle iowait irq softirq steal guest guest_nice. Guest time is in user
# and nice already.
_BUSY = (0, 1, 2, 5, 6)
_STEAL = 7


class Reader(Probe):
    """Ticks of all CPUs together. Less than one is missing, not 0: time was used, and nobody knows how much."""

    metrics = ("system_cpu_s", "steal_s")

    def __init__(self, place: Place, source: Path = Path("/proc/stat")) -> None:
        super().__init__(place)
        self._source = source
        self._before = (0, 0)

    def enter(self) -> None:
        self._before = self._ticks()

    def exit(self) -> Sequence[Sample]:
        after = self._ticks()
        return tuple(_sample(*figure) for figure in zip(self.metrics, self._before, after, strict=True))

    def _ticks(self) -> tuple[int, int]:
        """Busy and stolen ticks since boot."""
        with self._source.open() as file:
            fields = [int(word) for word in file.readline().split()[1:]]
        return sum(fields[place] for place in _BUSY), fields[_STEAL]


def _sample(metric: str, before: int, after: int) -> Sample:
    return Sample(metric, (after - before) * ACCOUNTING_TICK_S) if after > before else missing(metric, BELOW_TICK)
