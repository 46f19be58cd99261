"""What a probe is: it looks when a phase begins and when it has ended, and gives samples or reasons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fstrial.base.registry import Registry
from fstrial.model.metric import Sample

__all__ = ["Place", "Probe", "probes"]


@dataclass(frozen=True)
class Place:
    """What a probe may look at: the device's sysfs `stat` file and that of the disk below it, where known."""

    statistics: Path | None = None
    below: Path | None = None


class Probe(ABC):
    """Made once a trial; `enter` and `exit` once a phase. Cheap: no program is started, no log is parsed."""

    metrics: ClassVar[tuple[str, ...]]
    """Metrics it yields, in `model.metric.PHASE_METRICS`: each a value or missing with a reason."""

    def __init__(self, place: Place) -> None:
        self.place = place

    @abstractmethod
    def enter(self) -> None: ...

    @abstractmethod
    def exit(self) -> Sequence[Sample]: ...


probes: Registry[type[Probe]] = Registry("fstrial.probes", "Reader", "probe")
"""Each file of this room names its class `Reader`."""
