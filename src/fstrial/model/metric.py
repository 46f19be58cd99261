"""Metrics: what a figure is called, what it is in, and which way is better. Samples: one figure of one phase."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

__all__ = ["PHASE_METRICS", "Direction", "Figure", "Metric", "Sample", "Unit", "missing"]


class Direction(Enum):
    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Unit(Enum):
    """SI base units only: formatting is the report's business."""

    SECONDS = "s"
    BYTES = "B"
    COUNT = "1"
    SHARE = "share"


class Metric(Struct, frozen=True):
    """A registered metric: the store refuses samples of any other."""

    name: str
    unit: Unit
    direction: Direction
    summary: str


class Figure(Struct, frozen=True, order=True):
    """Which figure of a trial: a phase's name and a metric's name."""

    phase: str
    metric: str


class Sample(Struct, frozen=True, omit_defaults=True, gc=False):
    """One figure of one phase of one trial.

    Either `value` is there, or `missing` says why not. With `lower_bound` the phase failed after that long: the
    true value is at least `value`.

    A run may have millions: defaults are left out when encoded, and the collector need not look for cycles
    (gc=False, here as in PhaseResult, Command and SpaceReading; msgspec, "Structs").
    """

    metric: str
    value: float | None = None
    missing: str = ""
    lower_bound: bool = False


def missing(metric: str, reason: str) -> Sample:
    return Sample(metric, None, reason)


_S, _B, _N = Unit.SECONDS, Unit.BYTES, Unit.COUNT
_LESS, _MORE, _FACT = Direction.LOWER, Direction.HIGHER, Direction.NEITHER

PHASE_METRICS: tuple[Metric, ...] = (
    Metric("elapsed_s", _S, _LESS, "until the calls return"),
    Metric("durable_s", _S, _LESS, "until syncfs of the filesystem has returned too"),
    Metric("user_s", _S, _LESS, "user time of the workload's own processes"),
    Metric("sys_s", _S, _LESS, "system time of the workload's own processes"),
    Metric("system_cpu_s", _S, _LESS, "busy time of the whole machine, kernel threads included"),
    Metric("device_reads", _N, _LESS, "read requests the device completed"),
    Metric("device_writes", _N, _LESS, "write requests the device completed"),
    Metric("device_flushes", _N, _LESS, "flush requests the device completed"),
    Metric("device_discards", _N, _FACT, "discard requests the device completed"),
    Metric("device_read_bytes", _B, _LESS, "bytes read from the device"),
    Metric("device_write_bytes", _B, _LESS, "bytes written to the device"),
    Metric("device_discard_bytes", _B, _FACT, "bytes discarded on the device"),
    Metric("device_busy_s", _S, _LESS, "time in which the device had a request"),
    Metric("operations", _N, _FACT, "operations that the workload did"),
    Metric("bytes", _B, _FACT, "bytes that the workload moved"),
    Metric("used_bytes", _B, _LESS, "growth of the filesystem's used space (statfs)"),
    Metric("du_bytes", _B, _LESS, "space of the files as du counts it"),
    Metric("steal_s", _S, _FACT, "time a hypervisor took from this machine"),
    Metric("pressure_cpu_s", _S, _FACT, "time in which some task waited for a CPU (PSI)"),
    Metric("pressure_io_s", _S, _FACT, "time in which some task waited for I/O (PSI)"),
    Metric("pressure_memory_s", _S, _FACT, "time in which some task waited for memory (PSI)"),
    Metric("other_io_bytes", _B, _FACT, "bytes that others moved on the disk below the device"),
)
"""Figures that any phase of any workload may have; a workload declares its own beside them."""
