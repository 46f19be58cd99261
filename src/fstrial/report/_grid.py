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
from fstrial.report._results import Cell, Head, results
from fstrial.stats.series import tables

__all__ = ["BETTER", "SAME", "WORSE", "Grid", "Line", "Place", "below", "grids", "legend"]

BETTER, WORSE, SAME = "▲", "▼", "="


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
    heads: tuple[Head, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def grids(record: RunRecord, analysis: Analysis) -> Iterator[Grid]:
    """One for each workload, from the analysis alone: no trial is read again."""
    bare = msgspec.structs.replace(record, trials=())
    for table in tables(bare):
        yield _grid(Findings(table, analysis, record.plan.baseline))


def below(head: Head) -> str:
    """What stands below a column's title."""
    return " ".join(part for part in (head.unit, "• main" if head.main else "") if part)


def legend(baseline: str, best: str) -> str:
    """What the signs mean; `best` says how the best of a column is shown."""
    return (
        f"Geometric means; × is the ratio to {baseline} with its 95 % interval. {BETTER} better, {WORSE} worse than "
        f"{baseline}, {SAME} the same: main figures by their verdict, the others by their own interval, uncorrected "
        f"for how many they are. The best of a column is {best}."
    )


def _grid(findings: Findings) -> Grid:
    declaration, found = findings.declaration, results(findings)
    lines = []
    for line in found.lines:
        cells = zip(declaration.columns, line.cells, strict=True)
        places = (_place(findings, line.label, column.figure, cell) for column, cell in cells)
        lines.append(Line(line.label, line.about, tuple(places)))
    return Grid(declaration.workload, declaration.about, found.heads, tuple(lines), found.notes)


def _place(findings: Findings, label: str, figure: Figure, cell: Cell) -> Place:
    summary, comparison = findings.summary(label, figure), findings.comparison(label, figure)
    lines = [*_ratio(comparison), *_failed(summary), *(["too short"] if summary.too_short else [])]
    return Place(cell.value, _mark(cell, comparison), tuple(lines), cell.best, cell.note)


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
