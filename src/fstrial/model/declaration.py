"""What a workload declares about its figures. It travels with the result, so a report needs no workload."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from fstrial.model.metric import Figure, Metric

__all__ = ["TOTAL", "Chart", "ChartKind", "Column", "Declaration", "PhaseTitle"]

TOTAL = "total"
"""Name of the phase that stands for the whole workload."""


class ChartKind(Enum):
    """INTERVALS: ratio to the baseline with its interval and every raw sample. BARS: one bar a filesystem.
    STACKED: the figures stacked, one bar a filesystem. PHASES: one figure over the phases, stacked."""

    INTERVALS = "intervals"
    BARS = "bars"
    STACKED = "stacked"
    PHASES = "phases"


class Column(Struct, frozen=True):
    """One column of the table people know: its heading and the figure under it."""

    title: str
    figure: Figure


class Chart(Struct, frozen=True):
    title: str
    kind: ChartKind
    figures: tuple[Figure, ...]
    about: str = ""


class PhaseTitle(Struct, frozen=True):
    name: str
    title: str


class Declaration(Struct, frozen=True):
    """A workload's phases in order, metrics, table shape, main figures (one to three, tested for a verdict), charts.

    `about` says in a sentence or two what the workload did with these settings.
    """

    workload: str
    about: str
    phases: tuple[PhaseTitle, ...]
    metrics: tuple[Metric, ...]
    columns: tuple[Column, ...]
    main: tuple[Figure, ...]
    charts: tuple[Chart, ...] = ()
