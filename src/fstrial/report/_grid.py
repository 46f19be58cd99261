"""The table of the published page as narrow text: filesystems down, tests across, units in the headings.

What is best, tinted or explained in a footnote is `_results`' business; here is only how little room it can take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from fstrial.model.analysis import Analysis, Comparison, Interval, Summary, Verdict
from fstrial.model.metric import Figure
from fstrial.model.record import RunRecord
from fstrial.report import words
from fstrial.report._findings import Findings
from fstrial.report._results import Cell, results
from fstrial.stats.series import tables

__all__ = ["BETTER", "SAME", "WORSE", "Grid", "Heading", "Line", "Place", "below", "grids", "legend"]

BETTER, WORSE, SAME = "▲", "▼", "="


@dataclass(frozen=True)
class Heading:
    title: str
    unit: str
    main: bool


@dataclass(frozen=True)
class Place:
    """One cell: the mean, its mark (a single sign or none), lines below, and a footnote's number (0: none)."""

    value: str
    mark: str
    lines: tuple[str, ...]
    best: bool
    note: int


@dataclass(frozen=True)
class Line:
    label: str
    about: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Grid:
    """One workload. `notes` are the reasons behind cells without a value or a ratio, numbered from 1."""

    workload: str
    about: str
    headings: tuple[Heading, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def grids(record: RunRecord, analysis: Analysis) -> Iterator[Grid]:
    """One for each workload, from the analysis alone: no trial is read again."""
    bare = msgspec.structs.replace(record, trials=())
    for table in tables(bare):
        yield _grid(Findings(table, analysis, record.plan.baseline))


def below(heading: Heading) -> str:
    """What stands below a heading's title."""
    return " ".join(part for part in (heading.unit, "• main" if heading.main else "") if part)


def legend(baseline: str, best: str) -> str:
    """What the signs mean; `best` says how the best of a column is shown."""
    return (
        f"Geometric means; × is the ratio to {baseline} with its 95 % interval. {BETTER} better, {WORSE} worse than "
        f"{baseline}, {SAME} the same: main figures by their verdict, the others by their own interval, uncorrected "
        f"for how many they are. The best of a column is {best}."
    )


def _grid(findings: Findings) -> Grid:
    declaration, found = findings.declaration, results(findings)
    figures = [column.figure for column in declaration.columns]
    scales = [_scale(findings, figure) for figure in figures]
    headings = (
        Heading(column.title, unit, column.figure in declaration.main)
        for column, (_, unit) in zip(declaration.columns, scales, strict=True)
    )
    lines = []
    for line in found.lines:
        columns = zip(figures, scales, line.cells, strict=True)
        places = (_place(findings, line.label, figure, divisor, cell) for figure, (divisor, _), cell in columns)
        lines.append(Line(line.label, line.about, tuple(places)))
    return Grid(declaration.workload, declaration.about, tuple(headings), tuple(lines), found.notes)


def _scale(findings: Findings, figure: Figure) -> tuple[float, str]:
    """One unit for the whole column, by its largest value."""
    means = [findings.mean(label, figure) or 0.0 for label in findings.labels]
    return words.scale(max(means, default=0.0), findings.metric(figure).unit)


def _place(findings: Findings, label: str, figure: Figure, divisor: float, cell: Cell) -> Place:
    summary, comparison = findings.summary(label, figure), findings.comparison(label, figure)
    lines = [*_ratio(comparison), *_failed(summary), *(["too short"] if summary.too_short else [])]
    return Place(_value(summary, divisor), _mark(cell, comparison), tuple(lines), cell.best, cell.note)


def _value(summary: Summary, divisor: float) -> str:
    """`>194` where the mean is a lower bound, as published pages have it."""
    if summary.geometric_mean is None:
        return "–"
    return f"{'>' if summary.bounds else ''}{words.number(summary.geometric_mean / divisor)}"


def _mark(cell: Cell, comparison: Comparison | None) -> str:
    if comparison is not None and comparison.verdict is Verdict.SAME:
        return SAME
    return {"better": BETTER, "worse": WORSE}.get(cell.tint, "")


def _ratio(comparison: Comparison | None) -> Iterator[str]:
    """The interval of the ratio, or the bare ratio where there are too few blocks for one."""
    if comparison is not None and comparison.interval is not None:
        yield f"×{_ends(comparison.interval)}"
    elif comparison is not None and comparison.ratio is not None:
        yield f"×{words.factor(comparison.ratio)}"


def _ends(interval: Interval) -> str:
    low, high = (None if end is None else words.factor(end) for end in (interval.low, interval.high))
    if low == high:
        return low or ""
    return f"{low}–{high}" if low and high else f"≥{low}" if low else f"≤{high}"


def _failed(summary: Summary) -> Iterator[str]:
    if summary.failed:
        yield f"{summary.failed} of {summary.runs} failed"
