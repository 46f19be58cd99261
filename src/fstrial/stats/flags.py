"""What a reader should know beside the verdicts. Nothing is dropped because of a flag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fstrial.model.analysis import Comparison, Flag, FlagKind, Summary, Verdict
from fstrial.model.metric import Direction, Figure
from fstrial.model.plan import StoppingRule
from fstrial.model.trial import Outcome, TrialResult
from fstrial.stats.compare import Draft
from fstrial.stats.estimators import Array
from fstrial.stats.series import Table
from fstrial.stats.summaries import SHORTEST_S
from fstrial.stats.trends import Slope, polish, slope, stand_out
from fstrial.stats.verdict import BLOCKS_FOR_VERDICT, MARGIN
from fstrial.stats.words import block_name, figure_name, listing, percent, runs

__all__ = ["run_flags", "workload_flags"]

_BLOCKS = BLOCKS_FOR_VERDICT
_SLOPE_P = 0.01
_DRIFT_LOG = np.log1p(0.03)
_MANY_COMPARISONS = 10
_BLOCKS_FOR_MANY = 10
_TARGET_FOR_SAME = 0.02
"""Two thirds of the margin for "same": a wider interval hardly ever fits inside it."""


def workload_flags(table: Table, summaries: Sequence[Summary], drafts: Sequence[Draft]) -> Iterator[Flag]:
    """Of one workload: failures, outliers, drift, ageing, phases too short to time."""
    yield from _failures(table)
    if len(table.blocks) >= _BLOCKS:
        yield from _outliers(table)
        yield from _drift(table)
    yield from _ageing(drafts)
    yield from _too_short(table, summaries)


def run_flags(rule: StoppingRule, blocks: int, tested: int, comparisons: Sequence[Comparison]) -> Iterator[Flag]:
    """Of the whole run: too few blocks for so many comparisons, a target at which "same" cannot be had."""
    if tested >= _MANY_COMPARISONS and blocks < _BLOCKS_FOR_MANY:
        yield Flag(
            FlagKind.FEW_BLOCKS,
            f"{tested} main comparisons are corrected for; to tell a difference among so many takes about "
            f"{_BLOCKS_FOR_MANY} blocks, and {blocks} have run.",
        )
    undecided = any(one.verdict in (Verdict.CANNOT_TELL, Verdict.TOO_FEW) for one in comparisons)
    if rule.runs is None and rule.until is not None and rule.until > _TARGET_FOR_SAME and undecided:
        yield Flag(
            FlagKind.WIDE_FOR_SAME,
            f"A target of ±{percent(rule.until)} hardly ever ends in “same (within {percent(MARGIN)})”: "
            f"that takes ±{percent(_TARGET_FOR_SAME)} or less.",
        )


def _failures(table: Table) -> Iterator[Flag]:
    words = {Outcome.FAILED: "failed", Outcome.LOST: "were lost", Outcome.SKIPPED: "were skipped"}
    for candidate in table.candidates:
        results = table.results[candidate.label]
        for outcome, verb in words.items():
            hit = [result for result in results if result.outcome is outcome]
            if hit:
                text = f"{len(hit)} of {runs(len(results))} of {table.workload} on {candidate.label} {verb}"
                yield Flag(FlagKind.FAILED, f"{text}: {_cause(hit[0])}.", table.workload, candidate.label)


def _cause(result: TrialResult) -> str:
    """The trial's own reason, or that of the first phase that failed."""
    phase = next((one for one in result.phases if one.outcome is Outcome.FAILED), None)
    reason = result.reason or (f"{phase.name}: {phase.reason}" if phase else "no reason was given")
    return reason.rstrip(". \n")


def _outliers(table: Table) -> Iterator[Flag]:
    """One flag a run, with every main figure in which it stands out."""
    found: dict[tuple[int, int], list[str]] = {}
    for figure in table.declaration.main:
        residuals = polish(_slowness(table, figure))
        for row, column in np.argwhere(stand_out(residuals)):
            factor = float(np.exp(residuals[row, column]))
            found.setdefault((int(row), int(column)), []).append(f"{figure_name(figure)} ×{factor:.2f}")
    for (row, column), figures in sorted(found.items()):
        block, label = table.blocks[row], table.candidates[column].label
        yield Flag(
            FlagKind.OUTLIER,
            f"{table.workload} on {label} in {block_name(block)} stands out from what its filesystem and "
            f"block lead one to expect: {listing(figures)}.",
            table.workload,
            label,
            block,
        )


def _drift(table: Table) -> Iterator[Flag]:
    """One flag a workload: the main figure whose block means moved most."""
    moved = []
    for figure in table.declaration.main:
        logs = _slowness(table, figure)
        # each candidate about its own mean, so that a missing run does not move its block
        means = _mean(logs - _mean(logs, axis=0), axis=1)
        line = _line(means[:, 0])
        if line is not None and line.p < _SLOPE_P and abs(line.change) > _DRIFT_LOG:
            moved.append((abs(line.change), figure, line))
    if moved:
        _, figure, line = max(moved, key=lambda one: one[0])
        yield Flag(
            FlagKind.DRIFT,
            f"The machine drifted: {table.workload} became {_change(line, table.direction(figure))} over "
            f"{len(table.blocks)} blocks ({figure_name(figure)}, all filesystems alike); pairing within "
            "blocks removes it from the ratios.",
            table.workload,
        )


def _change(line: Slope, direction: Direction) -> str:
    word = "worse" if line.change > 0 else "better"
    if direction is Direction.LOWER:
        word = "slower" if line.change > 0 else "faster"
    return f"{percent(float(np.expm1(abs(line.change))))} {word}"


def _ageing(drafts: Sequence[Draft]) -> Iterator[Flag]:
    for draft in drafts:
        if not draft.tested or draft.blocks < _BLOCKS or draft.side != 0:
            continue
        line = slope(draft.log_ratios, draft.rows)
        if line.p < _SLOPE_P:
            middle = float(draft.log_ratios.mean())
            first, last = (float(np.exp(middle + sign * line.change / 2.0)) for sign in (-1.0, 1.0))
            label = draft.candidate.label
            yield Flag(
                FlagKind.AGEING,
                f"The ratio of {label} to {draft.baseline} in {figure_name(draft.figure)} moved from about "
                f"{first:.2f} to {last:.2f} over the run: the ratio given is an average.",
                draft.table.workload,
                label,
            )


def _too_short(table: Table, summaries: Sequence[Summary]) -> Iterator[Flag]:
    short: dict[str, list[str]] = {}
    for one in summaries:
        if one.too_short and one.figure.metric == "elapsed_s" and one.figure.phase in table.work_phases:
            short.setdefault(one.figure.phase, []).append(one.filesystem)
    for phase, labels in short.items():
        yield Flag(
            FlagKind.TOO_SHORT,
            f"{phase} of {table.workload} takes less than {SHORTEST_S:g} s on {listing(labels)}: too short "
            "to time well; more work in it would give steadier figures.",
            table.workload,
        )


def _slowness(table: Table, figure: Figure) -> Array:
    """Blocks × candidates: logarithms that rise as a run gets worse; NaN for failures and what has none."""
    columns = []
    for candidate in table.candidates:
        series = table.series[candidate.label, figure]
        usable = series.known & ~series.failed & (series.values > 0.0)
        logs = np.full(series.values.shape, np.nan)
        logs[usable] = np.log(series.values[usable])
        columns.append(-logs if table.direction(figure) is Direction.HIGHER else logs)
    return np.stack(columns, axis=1)


def _mean(values: Array, axis: int) -> Array:
    """Along one axis, kept; NaN are passed over, and a row of nothing else gives NaN."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=axis, keepdims=True)
    count = known.sum(axis=axis, keepdims=True)
    mean: Array = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _line(figures: Array) -> Slope | None:
    rows = np.flatnonzero(~np.isnan(figures))
    return slope(figures[rows], rows) if rows.size >= _BLOCKS else None
