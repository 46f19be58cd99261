"""Where trials execute: a host starts a worker in a kernel and keeps the channel to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol

from fstrial.base.registry import Registry
from fstrial.model.trial import Note, Trial, TrialResult
from fstrial.model.wire import Progress, Start

__all__ = ["Host", "Worker", "WorkerLost", "hosts"]


class WorkerLost(Exception):
    """The worker or its kernel is gone, or silent past its deadline; the text says what is known."""


class Worker(Protocol):
    """A live worker."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What it said when it was ready."""

    def run(self, trial: Trial, progress: Callable[[Progress], None]) -> TrialResult:
        """Run one trial. Raises WorkerLost."""


class Host(ABC):
    """One kind of place."""

    name: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def worker(self, start: Start) -> AbstractContextManager[Worker]:
        """A ready worker, for as long as the block. Raises the error it met while starting, or WorkerLost."""


hosts: Registry[type[Host]] = Registry("fstrial.hosts", "Place", "host")
"""Each file of this room names its class `Place`."""
