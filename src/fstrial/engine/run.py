"""Running phases: start, wait, stop, report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from fstrial.base.errors import MachineError, MissingRequirement
from fstrial.engine import _native
from fstrial.engine.phase import Api, DataPhase, MetadataPhase, check
from fstrial.engine.report import ClockFacts, Failure, Report

__all__ = ["Running", "api_reason", "clock_facts", "content_of", "run", "started"]

_GLANCE_MS = 100
"""Between two looks of a waiting thread Python handles signals, so Ctrl-C is heard within this time."""


class Running:
    """A phase in progress; it runs in threads or processes of its own. Use `started`, which ends it in any case."""

    def __init__(self, phase: DataPhase | MetadataPhase) -> None:
        check(phase)
        self.phase = phase
        self._clock = _native.clock_facts()
        self._handle = _start(phase)
        self._ended = False
        self._timed_out = False

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether it has ended, after waiting at most so long (None: for as long as it takes)."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._ended:
            left_ms = _GLANCE_MS if deadline is None else min(_GLANCE_MS, int((deadline - time.monotonic()) * 1000))
            self._ended = bool(_native.lib.engine_wait(self._handle, max(0, left_ms)))
            if deadline is not None and time.monotonic() >= deadline:
                break
        return self._ended

    def stop(self) -> None:
        """Ask it to end after the operations in progress. Any thread or signal handler may call this."""
        _native.lib.engine_stop(self._handle)

    def expire(self) -> None:
        """Stop it because its time is up: the report says so."""
        self._timed_out = True
        self.stop()

    def report(self) -> Report:
        """What was done; waits for the end."""
        self.wait()
        natives = [_native.lib.engine_report(self._handle, worker) for worker in range(self.phase.workers)]
        return Report(
            elapsed_s=max(native.end_ns for native in natives) * 1e-9,
            kinds=_native.kind_figures(natives),
            workers=tuple(map(_native.worker_figures, natives)),
            series=_native.series(natives, self.phase.bin_s),
            clock=self._clock,
            failure=self._failure(natives),
            verification=_native.verification(natives, self.phase),
            timed_out=self._timed_out,
            short_transfers=sum(native.short_transfers for native in natives),
            retries=sum(native.retries for native in natives),
        )

    def close(self) -> None:
        """Stop what still runs, wait for it, free it. Reports already made stay."""
        if self._handle is not None:
            _native.lib.engine_free(self._handle)
            self._handle = None

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _failure(self, natives: list[Any]) -> Failure | None:
        for worker, native in enumerate(natives):
            if native.ending == _native.lib.ENGINE_FAILED:
                return _native.failure(native.failure, worker, self.phase)
        return None


def _start(phase: DataPhase | MetadataPhase) -> Any:
    if isinstance(phase, DataPhase):
        reason = api_reason(phase.api)
        if reason:
            raise MissingRequirement(reason, f"choose another API, such as {Api.PREAD_PWRITE.value}")
        described, alive = _native.data_phase(phase)
        start = _native.lib.engine_start
    else:
        described, alive = _native.metadata_phase(phase)
        start = _native.lib.engine_start_metadata
    failure, handle = _native.ffi.new("struct engine_failure *"), _native.ffi.new("struct engine_run **")
    error = start(described, failure, handle)
    alive.clear()
    if error:
        raise MachineError(f"cannot start the phase: {_native.failure(failure, 0, phase).words()}")
    return handle[0]


@contextmanager
def started(phase: DataPhase | MetadataPhase) -> Iterator[Running]:
    """A phase that runs as long as the block, at most.

    Raises UsageError for a phase that cannot be, MissingRequirement for an API this kernel refuses, MachineError when
    a target cannot be made or workers cannot be started.
    """
    with Running(phase) as running:
        yield running


def run(phase: DataPhase | MetadataPhase, deadline_s: float | None = None) -> Report:
    """Run a phase to its end, or stop it at the deadline; errors of its operations are in the report."""
    with started(phase) as running:
        if not running.wait(deadline_s):
            running.expire()
        return running.report()


def api_reason(api: Api) -> str:
    """Why the API cannot be used here; empty: it can."""
    error = _native.api_error(api)
    return f"this kernel or sandbox refuses {api.value}: {os.strerror(error)}" if error else ""


def clock_facts() -> ClockFacts:
    """Where timestamps come from, and the measured cost of one."""
    return _native.clock_facts()


def content_of(phase: DataPhase, target: int, offset: int, size_bytes: int, ordinal: int = 0) -> bytes:
    """The bytes that the phase writes into the block at `offset` of its target number `target`.

    `ordinal` counts a worker's writes; only near-zero content depends on it.
    """
    return _native.fill(phase, target, offset, ordinal, size_bytes)
