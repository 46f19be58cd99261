"""The table of the published page's shape, with its footnotes; and the table of all trials under the same heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fstrial.model.analysis import Comparison, Summary
from fstrial.model.declaration import Column
from fstrial.model.metric import Direction, Figure, Metric
from fstrial.model.record import TrialRecord
from fstrial.model.trial import Outcome
from fstrial.report import words
from fstrial.report._findings import Findings

__all__ = ["MOST_TRIALS", "Cell", "Head", "Line", "Results", "TrialLine", "results", "trial_lines"]

MOST_TRIALS = 300
"""Trials shown of one workload; the data in the page has all."""


@dataclass(frozen=True)
class Head:
    """A column: its title, the unit that its values are in and what that is in SI, the metric, and whether it is
    tested for a verdict."""

    title: str
    unit: str
    divisor: float
    metric: str
    main: bool


@dataclass(frozen=True)
class Cell:
    """`lines` stand below the value in small type, then `said`, a word of comparison. `note`: a footnote's number.

    `tint` is a class of the page's style: `better`, `worse` or none.
    """

    value: str
    lines: tuple[str, ...] = ()
    said: str = ""
    tint: str = ""
    best: bool = False
    note: int = 0


@dataclass(frozen=True)
class Line:
    label: str
    about: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Results:
    heads: tuple[Head, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    uncorrected: bool
    """Whether some cell is tinted though it has no verdict."""


@dataclass(frozen=True)
class TrialLine:
    number: int
    block: int
    label: str
    outcome: str
    cells: tuple[str, ...]


def results(findings: Findings) -> Results:
    notes: list[str] = []
    columns = [(column.figure, _head(findings, column)) for column in findings.declaration.columns]
    best = {figure: _best(findings, figure) for figure, _ in columns}
    lines = [
        Line(
            candidate.label,
            _about(findings, candidate.label, candidate.aa),
            tuple(
                _cell(findings, candidate.label, figure, head.divisor, best[figure] == candidate.label, notes)
                for figure, head in columns
            ),
        )
        for candidate in findings.candidates
    ]
    uncorrected = any(_DAGGER in cell.said for line in lines for cell in line.cells)
    return Results(tuple(head for _, head in columns), tuple(lines), tuple(notes), uncorrected)


_DAGGER = "†"


def _head(findings: Findings, column: Column) -> Head:
    means = [mean for label in findings.labels if (mean := findings.mean(label, column.figure)) is not None]
    divisor, unit = words.scale(max(means, default=1.0), findings.metric(column.figure).unit)
    return Head(column.title, unit, divisor, column.figure.metric, column.figure in findings.declaration.main)


def _about(findings: Findings, label: str, aa: bool) -> str:
    if label == findings.baseline:
        return "baseline"
    return f"{findings.baseline} again: the noise" if aa else ""


def _best(findings: Findings, figure: Figure) -> str:
    """Whose geometric mean is the best: of those that never failed, and only where there is something to beat."""
    direction = findings.metric(figure).direction
    means = {
        candidate.label: summary.geometric_mean
        for candidate in findings.candidates
        if not candidate.aa
        and (summary := findings.summary(candidate.label, figure)).geometric_mean is not None
        and not summary.failed
    }
    if len(means) < 2 or direction is Direction.NEITHER:
        return ""
    choose = min if direction is Direction.LOWER else max
    return choose(means, key=lambda label: means[label] or 0.0)


def _cell(findings: Findings, label: str, figure: Figure, divisor: float, best: bool, notes: list[str]) -> Cell:
    summary, comparison = findings.summary(label, figure), findings.comparison(label, figure)
    metric = findings.metric(figure)
    leaning = words.Leaning.NEITHER if comparison is None else words.leaning(comparison, metric)
    return Cell(
        value=_value(summary, divisor),
        lines=tuple(_small(summary, comparison)),
        said="" if comparison is None else _said(comparison, metric, leaning),
        tint="" if leaning is words.Leaning.NEITHER else leaning.value,
        best=best,
        note=_note(notes, _reason(summary, comparison)),
    )


def _value(summary: Summary, divisor: float) -> str:
    """`>194` where the mean is a lower bound, as published pages have it."""
    if summary.geometric_mean is None:
        return "–"
    return f"{'>' if summary.bounds else ''}{words.number(summary.geometric_mean / divisor)}"


def _small(summary: Summary, comparison: Comparison | None) -> list[str]:
    lines = []
    if comparison is not None and comparison.ratio is not None:
        lines.append(f"× {words.factor(comparison.ratio)}")
    if comparison is not None and comparison.interval is not None:
        lines.append(words.span(comparison.interval))
    if summary.failed:
        lines.append(f"failed {summary.failed} of {summary.runs}")
    if summary.too_short:
        lines.append("too short to time")
    return lines


def _said(comparison: Comparison, metric: Metric, leaning: words.Leaning) -> str:
    """The verdict, or for a tint without one the word for its side with a dagger."""
    if comparison.verdict is not None:
        return comparison.verdict.value
    if leaning is words.Leaning.NEITHER:
        return ""
    less, more = words.sides(metric)
    lower_is_better = metric.direction is Direction.LOWER
    return f"{less if (leaning is words.Leaning.BETTER) is lower_is_better else more} {_DAGGER}"


def _reason(summary: Summary, comparison: Comparison | None) -> str:
    return summary.missing or ("" if comparison is None or comparison.ratio is not None else comparison.why)


def _note(notes: list[str], reason: str) -> int:
    """The reason's number from 1, one for all cells that share it; 0 for none."""
    if not reason:
        return 0
    if reason not in notes:
        notes.append(reason)
    return notes.index(reason) + 1


def trial_lines(findings: Findings, heads: Sequence[Head], trials: Sequence[TrialRecord]) -> tuple[TrialLine, ...]:
    """The first MOST_TRIALS, in the order they ran."""
    return tuple(_trial_line(findings, heads, one) for one in trials[:MOST_TRIALS])


def _trial_line(findings: Findings, heads: Sequence[Head], one: TrialRecord) -> TrialLine:
    outcome, reason = one.result.outcome, one.result.reason
    return TrialLine(
        number=one.trial.number,
        block=one.trial.block + 1,
        label=one.trial.candidate.label,
        outcome=outcome.value if outcome is Outcome.PASSED or not reason else f"{outcome.value}: {reason}",
        cells=tuple(
            _trial_cell(one, column.figure, head.divisor)
            for column, head in zip(findings.declaration.columns, heads, strict=True)
        ),
    )


def _trial_cell(one: TrialRecord, figure: Figure, divisor: float) -> str:
    phase = one.result.phase(figure.phase)
    sample = None if phase is None else phase.sample(figure.metric)
    if sample is None or sample.value is None:
        return "–"
    return f"{'>' if sample.lower_bound else ''}{words.number(sample.value / divisor)}"
