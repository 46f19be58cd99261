"""Measuring one phase: probes around it, the two clocks, and what a failure leaves behind."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fstrial.base.errors import FstrialError
from fstrial.model.metric import Sample, missing
from fstrial.model.trial import CacheState, Outcome, PhaseKind, PhaseResult
from fstrial.probes.contract import Place, Probe, probes
from fstrial.run.bench import TrialBench, cpu_sample
from fstrial.workloads.contract import PhaseFailed

__all__ = ["Measurer", "Timed", "as_bounds", "describe", "not_reached", "total_of"]

SUMMED = (
    "elapsed_s",
    "durable_s",
    "system_cpu_s",
    "device_reads",
    "device_writes",
    "device_flushes",
    "device_discards",
    "device_read_bytes",
    "device_write_bytes",
    "device_discard_bytes",
    "device_busy_s",
    "operations",
    "bytes",
    "steal_s",
    "pressure_cpu_s",
    "pressure_io_s",
    "pressure_memory_s",
    "other_io_bytes",
)
"""Metrics whose total over the phases means something."""

NO_SYNC = "sync=end: synced once, after the last phase"


@dataclass(frozen=True)
class Timed:
    """A phase with the CPU seconds that went into it, below the tick or not."""

    result: PhaseResult
    user_s: float
    sys_s: float


class Measurer:
    """Measures the phases of one trial with every probe there is."""

    def __init__(self, place: Place) -> None:
        self._probes: tuple[Probe, ...] = tuple(probes.load(name)(place) for name in probes.names())

    def measure(
        self,
        name: str,
        kind: PhaseKind,
        bench: TrialBench,
        work: Callable[[], None],
        *,
        sync: Callable[[], None] | None = None,
        unsynced: str = "",
        cache: CacheState = CacheState.WARM,
    ) -> Timed:
        """Run `work` between the probes.

        With `sync` the phase is also timed until that returns (`durable_s`); without, `durable_s` is missing for the
        reason `unsynced`, or left out when there is none to give. A failure makes every figure a lower bound.
        """
        for probe in self._probes:
            probe.enter()
        reason = ""
        begin = time.monotonic()
        returned = begin
        try:
            work()
            returned = time.monotonic()
            if sync is not None:
                sync()
        except (PhaseFailed, OSError, FstrialError) as error:
            reason = describe(error)
            returned = max(returned, time.monotonic()) if returned == begin else returned
        durable = time.monotonic()
        seen = [sample for probe in reversed(self._probes) for sample in probe.exit()]
        clocks = [Sample("elapsed_s", returned - begin)]
        if sync is not None:
            clocks.append(Sample("durable_s", durable - begin))
        elif unsynced:
            clocks.append(missing("durable_s", unsynced))
        samples = (*clocks, *bench.account.samples(), *seen)
        result = PhaseResult(
            name=name,
            kind=kind,
            outcome=Outcome.FAILED if reason else Outcome.PASSED,
            samples=as_bounds(samples) if reason else samples,
            reason=reason,
            cache=cache,
        )
        return Timed(result, bench.account.user_s, bench.account.sys_s)

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(metric for probe in self._probes for metric in probe.metrics)


def describe(error: Exception) -> str:
    """A failure in one line of words; an OSError names the file and what the number means."""
    if isinstance(error, OSError) and error.errno is not None:
        where = f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
        return f"{errno.errorcode.get(error.errno, error.errno)}: {os.strerror(error.errno)}{where}"
    return str(error)


def as_bounds(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """The same figures as lower bounds."""
    return tuple(
        sample if sample.value is None else Sample(sample.metric, sample.value, lower_bound=True) for sample in samples
    )


def not_reached(name: str, kind: PhaseKind, metrics: Sequence[str], reason: str) -> PhaseResult:
    """A phase that never began: every figure missing, with the reason."""
    return PhaseResult(name, kind, Outcome.SKIPPED, tuple(missing(metric, reason) for metric in metrics), reason)


def total_of(name: str, phases: Sequence[Timed], final_sync_s: float | None) -> PhaseResult:
    """The workload as a whole: sums over its timed phases.

    `final_sync_s` is the one sync of `sync=end`, which belongs to the total alone. A metric that no phase has is
    missing with their reason; once a phase failed the total is a lower bound.
    """
    failed = next((phase.result for phase in phases if phase.result.outcome is not Outcome.PASSED), None)
    sums = [_sum(metric, phases) for metric in SUMMED]
    samples = [sample for sample in sums if sample is not None]
    samples.append(cpu_sample("user_s", sum(phase.user_s for phase in phases)))
    samples.append(cpu_sample("sys_s", sum(phase.sys_s for phase in phases)))
    if final_sync_s is not None:
        elapsed_s = sum(sample.value or 0.0 for sample in samples if sample.metric == "elapsed_s")
        samples = [sample for sample in samples if sample.metric != "durable_s"]
        samples.append(Sample("durable_s", elapsed_s + final_sync_s))
    reason = "" if failed is None else f"{failed.name}: {failed.reason}"
    return PhaseResult(
        name,
        PhaseKind.TOTAL,
        Outcome.PASSED if failed is None else Outcome.FAILED,
        tuple(samples) if failed is None else as_bounds(samples),
        reason,
    )


def _sum(metric: str, phases: Sequence[Timed]) -> Sample | None:
    found = [sample for phase in phases if (sample := phase.result.sample(metric)) is not None]
    values = [sample.value for sample in found if sample.value is not None]
    if values:
        return Sample(metric, sum(values))
    return missing(metric, found[0].missing) if found else None
