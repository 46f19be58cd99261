"""What a format is: a way to write a run as bytes for other programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from fstrial.base.registry import Registry
from fstrial.model.analysis import Analysis
from fstrial.model.record import RunRecord

__all__ = ["Format", "formats"]


class Format(ABC):
    """One format. `suffixes` are those its files usually have, the first the most usual."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    about: ClassVar[str]

    @abstractmethod
    def write(self, record: RunRecord, analysis: Analysis) -> bytes:
        """The run in this format."""


formats: Registry[Format] = Registry("fstrial.formats", "FORMAT", "format")
"""Each file of this room names its format `FORMAT`."""
