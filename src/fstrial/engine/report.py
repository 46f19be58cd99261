"""What a phase did: figures per kind of operation and per worker, and the throughput over time."""

from __future__ import annotations

import os
from enum import Enum

from msgspec import Struct

from fstrial.engine.phase import Kind
from fstrial.model.histogram import Histogram

__all__ = [
    "ClockFacts",
    "Ending",
    "Failure",
    "KindFigures",
    "Report",
    "Series",
    "Verdict",
    "VerdictCount",
    "Verification",
    "WorkerFigures",
]


class Ending(Enum):
    """How a worker ended; the numbers of engine.h follow this order.

    COMPLETE: its amount was done. OTHER_FIRST: another was done first and stopped it. STOPPED: it was asked to, or a
    deadline passed. FAILED, OTHER_FAILED: an error met by it, by another. LOST: its process was killed.
    """

    COMPLETE = "complete"
    OTHER_FIRST = "other first"
    STOPPED = "stopped"
    FAILED = "failed"
    OTHER_FAILED = "other failed"
    LOST = "lost"


class Verdict(Enum):
    """What a verifying read says of a block; the numbers of engine.h follow this order.

    EMPTY: zeros, never written or lost. STALE: whole, of another generation. TORN: parts of several generations, or
    parts missing. FOREIGN: sound, of another run, file or offset. DAMAGED: none of these.
    """

    GOOD = "good"
    EMPTY = "empty"
    STALE = "stale"
    TORN = "torn"
    FOREIGN = "foreign"
    DAMAGED = "damaged"


class ClockFacts(Struct, frozen=True):
    """Where timestamps come from and what one costs. `source` is `tsc` or `clock_gettime`."""

    source: str
    ticks_per_s: float
    timestamp_s: float


class Failure(Struct, frozen=True):
    """The error that ended a phase.

    `error` is an errno value; ENODATA says that a file ended before the block. `offset` is the first byte not
    transferred; in a metadata phase `name` is the number of the name instead. `worker` met it.
    """

    error: int
    kind: Kind
    worker: int
    path: str
    offset: int | None = None
    name: int | None = None

    def words(self) -> str:
        place = f" at byte {self.offset}" if self.offset is not None else ""
        return f"{self.kind.value} of {self.path}{place}: {os.strerror(self.error)}"


class KindFigures(Struct, frozen=True):
    """All workers' operations of one kind."""

    kind: Kind
    operations: int
    moved_bytes: int
    errors: int
    latency: Histogram


class WorkerFigures(Struct, frozen=True):
    """One worker. Times are seconds since all were released; None: it came to none.

    `last_done_s` is of the last operation, `end_s` includes syncs at the end and close. `user_s` and `sys_s` are as
    the kernel charged them.
    """

    ending: Ending
    operations: int
    moved_bytes: int
    begin_s: float
    first_done_s: float | None
    last_done_s: float | None
    end_s: float
    user_s: float
    sys_s: float
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int


class Series(Struct, frozen=True):
    """Operations and bytes done in each bin of `bin_s` seconds since the release, all workers together."""

    bin_s: float
    operations: tuple[int, ...]
    moved_bytes: tuple[int, ...]


class VerdictCount(Struct, frozen=True):
    verdict: Verdict
    blocks: int


class Verification(Struct, frozen=True):
    """How many blocks earned which verdict, and the first that was not good: where, and its verdict."""

    counts: tuple[VerdictCount, ...]
    first_bad_path: str = ""
    first_bad_offset: int = 0
    first_bad: Verdict = Verdict.GOOD

    @property
    def bad_blocks(self) -> int:
        return sum(count.blocks for count in self.counts if count.verdict is not Verdict.GOOD)


class Report(Struct, frozen=True):
    """A phase that ran. With a `failure`, or lost workers, its figures are what was done until then.

    `elapsed_s` is until the last worker's end, `timed_out` says that the deadline stopped it. `short_transfers` and
    `retries` (after EINTR and EAGAIN) were carried through and are no errors.
    """

    elapsed_s: float
    kinds: tuple[KindFigures, ...]
    workers: tuple[WorkerFigures, ...]
    series: Series
    clock: ClockFacts
    failure: Failure | None = None
    verification: Verification | None = None
    timed_out: bool = False
    short_transfers: int = 0
    retries: int = 0

    def of(self, kind: Kind) -> KindFigures:
        """The figures of one kind; zeros when there was none of it."""
        empty = KindFigures(kind, 0, 0, 0, Histogram())
        return next((figures for figures in self.kinds if figures.kind is kind), empty)

    @property
    def operations(self) -> int:
        """Of the phase's own kinds: syncs and closes not counted."""
        return sum(worker.operations for worker in self.workers)

    @property
    def moved_bytes(self) -> int:
        return sum(worker.moved_bytes for worker in self.workers)

    @property
    def failed(self) -> bool:
        return self.failure is not None or self.timed_out or any(w.ending is Ending.LOST for w in self.workers)

    @property
    def reason(self) -> str:
        """Why the phase failed, in words; empty when it did not."""
        if self.failure:
            return self.failure.words()
        if any(worker.ending is Ending.LOST for worker in self.workers):
            return "a worker's process was killed"
        return f"not done when its deadline passed after {self.elapsed_s:.1f} s" if self.timed_out else ""
