"""Pressure: time in which some task waited for a CPU, for I/O or for memory."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from fstrial.model.metric import Sample, missing
from fstrial.probes.contract import Place, Probe

__all__ = ["Reader"]

_RESOURCES = ("cpu", "io", "memory")


class Reader(Probe):
    """The `some` totals of /proc/pressure, in microseconds (kernel Documentation/accounting/psi.rst)."""

    metrics = tuple(f"pressure_{resource}_s" for resource in _RESOURCES)

    def __init__(self, place: Place, folder: Path = Path("/proc/pressure")) -> None:
        super().__init__(place)
        self._folder = folder
        self._before: tuple[int | str, ...] = ()

    def enter(self) -> None:
        self._before = self._totals()

    def exit(self) -> Sequence[Sample]:
        return tuple(
            missing(metric, before)
            if isinstance(before, str)
            else missing(metric, after)
            if isinstance(after, str)
            else Sample(metric, (after - before) / 1e6)
            for metric, before, after in zip(self.metrics, self._before, self._totals(), strict=True)
        )

    def _totals(self) -> tuple[int | str, ...]:
        return tuple(_total_us(self._folder / resource) for resource in _RESOURCES)


def _total_us(file: Path) -> int | str:
    """Microseconds since boot, or why they cannot be had."""
    try:
        some = file.read_text().partition("\n")[0]
    except FileNotFoundError:
        return "this kernel has no pressure files (CONFIG_PSI)"
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return "pressure accounting is switched off (boot with psi=1)"
        return f"{file} cannot be read: {error.strerror}"
    return int(some.rpartition("total=")[2])
