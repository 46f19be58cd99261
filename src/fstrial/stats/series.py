"""A run's samples, gathered once: for each workload, every figure of every candidate along the blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fstrial.model.declaration import TOTAL, Declaration
from fstrial.model.metric import PHASE_METRICS, Direction, Figure, Metric, Sample, Unit
from fstrial.model.plan import Candidate
from fstrial.model.record import RunRecord, TrialRecord
from fstrial.model.trial import Outcome, PhaseKind, TrialResult
from fstrial.stats.estimators import Array, Mask

__all__ = ["EVERY_PHASE", "Series", "Table", "complete_blocks", "tables"]

EVERY_PHASE = (
    "elapsed_s",
    "durable_s",
    "user_s",
    "sys_s",
    "system_cpu_s",
    "device_write_bytes",
    "device_flushes",
)
"""Figures that are summarised for every phase, whether a declaration names them or not."""


@dataclass(frozen=True)
class Series:
    """One figure of one candidate, a row a block of the table.

    `values` has NaN where there is none. `bound` marks lower bounds. `failed` marks trials that failed in or
    before the phase, or that ended wrong after it; a failed trial may have a bound, a value or neither.
    """

    values: Array
    bound: Mask
    failed: Mask
    runs: int
    missing: str
    """Why there is no value, when there is none at all."""

    @property
    def known(self) -> Mask:
        return ~np.isnan(self.values)


@dataclass(frozen=True)
class Table:
    """One workload of a run. `blocks` are the numbers of the rows, `figures` in the order of reports."""

    declaration: Declaration
    candidates: tuple[Candidate, ...]
    blocks: tuple[int, ...]
    figures: tuple[Figure, ...]
    work_phases: frozenset[str]
    """Phases that do the workload's work, as opposed to those of the harness."""
    series: dict[tuple[str, Figure], Series]
    results: dict[str, tuple[TrialResult, ...]]
    """Each candidate's results in block order."""

    @property
    def workload(self) -> str:
        return self.declaration.workload

    def direction(self, figure: Figure) -> Direction:
        metric = self._metric(figure)
        return Direction.NEITHER if metric is None else metric.direction

    def is_time(self, figure: Figure) -> bool:
        metric = self._metric(figure)
        return metric is not None and metric.unit is Unit.SECONDS

    def _metric(self, figure: Figure) -> Metric | None:
        declared = (*self.declaration.metrics, *PHASE_METRICS)
        return next((metric for metric in declared if metric.name == figure.metric), None)


def tables(record: RunRecord) -> tuple[Table, ...]:
    """One table a declared workload. Of two trials with one place in a block the later one counts."""
    candidates = record.plan.candidates()
    by_workload: dict[str, list[TrialRecord]] = {one.workload: [] for one in record.declarations}
    for trial in record.measured():
        by_workload.setdefault(trial.trial.workload.name, []).append(trial)
    return tuple(_table(one, candidates, by_workload[one.workload]) for one in record.declarations)


def complete_blocks(record: RunRecord) -> int:
    """Blocks in which every candidate has had its trial of every workload, however it ended.

    A candidate that a workload skips may have been left out of the blocks that follow: nobody waits for it.
    """
    measured = record.measured()
    places = [(one.trial.workload.name, one.trial.candidate.label) for one in measured]
    skipped = {place for place, one in zip(places, measured, strict=True) if one.result.outcome is Outcome.SKIPPED}
    wanted = {
        (workload.name, candidate.label) for workload in record.plan.workloads for candidate in record.plan.candidates()
    } - skipped
    there: dict[int, set[tuple[str, str]]] = {}
    for place, one in zip(places, measured, strict=True):
        there.setdefault(one.trial.block, set()).add(place)
    return sum(wanted <= done for done in there.values())


def _table(declaration: Declaration, candidates: Sequence[Candidate], trials: Sequence[TrialRecord]) -> Table:
    blocks = tuple(sorted({one.trial.block for one in trials}))
    row = {block: index for index, block in enumerate(blocks)}
    by_candidate: dict[str, dict[int, TrialResult]] = {one.label: {} for one in candidates}
    for one in trials:
        by_candidate.setdefault(one.trial.candidate.label, {})[row[one.trial.block]] = one.result
    ordered = {label: dict(sorted(results.items())) for label, results in by_candidate.items()}
    phases = {phase.name: phase.kind for one in trials for phase in one.result.phases}
    figures = _figures(declaration, phases)
    series = {}
    for label, results in ordered.items():
        for figure, found in _gather(figures, results, len(blocks)).items():
            series[label, figure] = found
    work = frozenset(name for name, kind in phases.items() if kind is not PhaseKind.HARNESS)
    kept = {label: tuple(results.values()) for label, results in ordered.items()}
    return Table(declaration, tuple(candidates), blocks, figures, work, series, kept)


def _figures(declaration: Declaration, phases: Iterable[str]) -> tuple[Figure, ...]:
    """Without repetition: main figures, columns, charts, then the standard figures of every phase."""
    named = [
        *declaration.main,
        *(column.figure for column in declaration.columns),
        *(figure for chart in declaration.charts for figure in chart.figures),
    ]
    every = dict.fromkeys([*(phase.name for phase in declaration.phases), *phases, TOTAL])
    standard = [Figure(phase, metric) for phase in every for metric in EVERY_PHASE]
    return tuple(dict.fromkeys([*named, *standard]))


class _Column:
    """A figure's values by row, None where there is none, and the rows where it is a lower bound."""

    def __init__(self, rows: int) -> None:
        self.values: list[float | None] = [None] * rows
        self.bounds: list[int] = []
        self.example = Sample("")

    def series(self, failed: Mask, runs: int, otherwise: str) -> Series:
        """What is not finite is no figure, and a bound of nothing says nothing."""
        values = np.array(self.values, dtype=np.float64)  # None becomes NaN
        bound = np.zeros(values.shape, dtype=bool)
        bound[self.bounds] = True
        usable = np.isfinite(values) & ~(bound & ~(values > 0.0))
        reason = "" if usable.any() else (self.example.missing or otherwise)
        return Series(np.where(usable, values, np.nan), bound & usable, failed | bound, runs, reason)


class _Phase:
    """The columns of one phase. Trials list samples in one order, so the places of ours are looked up once."""

    def __init__(self) -> None:
        self.columns: dict[str, _Column] = {}
        self._places: list[tuple[int, str, _Column]] = []
        self._length = -1

    def take(self, row: int, samples: Sequence[Sample]) -> None:
        if len(samples) != self._length:
            self._look_up(samples)
        for at, metric, column in self._places:
            sample = samples[at]
            if sample.metric != metric:
                self._look_up(samples)
                return self.take(row, samples)
            column.values[row] = sample.value
            if sample.lower_bound:
                column.bounds.append(row)
        return None

    def _look_up(self, samples: Sequence[Sample]) -> None:
        self._length = len(samples)
        self._places = []
        for at, sample in enumerate(samples):
            column = self.columns.get(sample.metric)
            if column is not None:
                column.example = sample
                self._places.append((at, sample.metric, column))


def _gather(figures: Sequence[Figure], results: dict[int, TrialResult], rows: int) -> dict[Figure, Series]:
    """One pass over a candidate's samples."""
    phases = {figure.phase: _Phase() for figure in figures}
    columns = {figure: _Column(rows) for figure in figures}
    for figure, column in columns.items():
        phases[figure.phase].columns[figure.metric] = column
    for row, result in results.items():
        for phase in result.phases:
            phases[phase.name].take(row, phase.samples)
    failed = _failed_rows(phases, results, rows)
    otherwise = next((one.reason for one in results.values() if one.reason), "not measured")
    return {figure: column.series(failed[figure.phase], len(results), otherwise) for figure, column in columns.items()}


def _failed_rows(phases: Iterable[str], results: dict[int, TrialResult], rows: int) -> dict[str, Mask]:
    """For each phase, the trials that failed in it or before it.

    A trial that did all its work and failed all the same (a wrong end state, a damaged filesystem) counts as failed
    in every phase: nothing flattering is said of work that went wrong.
    """
    failed = {name: np.zeros(rows, dtype=bool) for name in phases}
    for row, result in results.items():
        if result.outcome is not Outcome.FAILED:
            continue
        broke_at_work = any(
            phase.kind is PhaseKind.WORKLOAD and phase.outcome is not Outcome.PASSED for phase in result.phases
        )
        passed = {phase.name for phase in result.phases if phase.outcome is Outcome.PASSED}
        for name, mask in failed.items():
            mask[row] = not broke_at_work or name not in passed
    return failed
