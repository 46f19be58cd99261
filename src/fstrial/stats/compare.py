"""One candidate against the baseline, block by block: log ratios, their estimate, what failures allow."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fstrial.model.analysis import Comparison, Interval, Method
from fstrial.model.metric import Direction, Figure
from fstrial.model.plan import Candidate
from fstrial.stats.estimators import Array, Estimate, estimate, paired_t
from fstrial.stats.series import Series, Table
from fstrial.stats.verdict import ALPHA, BLOCKS_FOR_INTERVAL, BLOCKS_FOR_VERDICT, decide

__all__ = ["Draft", "compare", "family_p", "finish", "one_sided_p"]

_LARGEST_LOG = math.log(sys.float_info.max)


@dataclass(frozen=True)
class Draft:
    """A comparison before the correction for all the others.

    `log_ratios` has the blocks where both have a value, `rows` their rows in the table. `estimate` is None
    where no interval can be had.
    """

    table: Table
    figure: Figure
    candidate: Candidate
    baseline: str
    main: bool
    log_ratios: Array
    rows: npt.NDArray[np.intp]
    method: Method
    estimate: Estimate | None
    failed: int
    baseline_failed: int
    why: str

    @property
    def blocks(self) -> int:
        return int(self.log_ratios.size)

    @property
    def tested(self) -> bool:
        """Whether it is one of the m main comparisons: the baseline against itself is none."""
        return self.main and not self.candidate.aa

    @property
    def side(self) -> int:
        """+1 when failed runs make the ratio a lower bound, -1 an upper bound, 0 when nothing failed."""
        if self.method is not Method.ONE_SIDED:
            return 0
        return 1 if self.failed else -1


def compare(table: Table, figure: Figure, candidate: Candidate, baseline: str, inflation: float) -> Draft:
    """Pair a candidate with the baseline by block; `inflation` widens intervals and p alike."""
    mine = table.series[candidate.label, figure]
    base = table.series[baseline, figure]
    paired = np.flatnonzero(mine.known & base.known)
    failed, baseline_failed = int(mine.failed.sum()), int(base.failed.sum())
    above = bool((mine.values[paired] > 0.0).all() and (base.values[paired] > 0.0).all())
    log_ratios = np.log(mine.values[paired]) - np.log(base.values[paired]) if above else np.empty(0)
    method, found = _estimate(log_ratios, bool(failed), bool(baseline_failed), inflation)
    return Draft(
        table=table,
        figure=figure,
        candidate=candidate,
        baseline=baseline,
        main=figure in table.declaration.main,
        log_ratios=log_ratios,
        rows=paired if above else paired[:0],
        method=method,
        estimate=found,
        failed=failed,
        baseline_failed=baseline_failed,
        why=_why(mine, base, candidate.label, baseline) or _too_few(method, log_ratios.size),
    )


def _estimate(
    log_ratios: Array, failed: bool, baseline_failed: bool, inflation: float
) -> tuple[Method, Estimate | None]:
    """Bounds go in as values under Student's t: the trimmed t would throw out the very runs that failed."""
    if log_ratios.size == 0 or (failed and baseline_failed):
        return Method.COUNTS, None
    one_sided = failed or baseline_failed
    if log_ratios.size < BLOCKS_FOR_INTERVAL:
        return (Method.ONE_SIDED if one_sided else Method.PAIRED_T), None
    if one_sided:
        return Method.ONE_SIDED, paired_t(log_ratios, inflation)
    found = estimate(log_ratios, inflation)
    return (Method.TRIMMED_T if found.trimmed else Method.PAIRED_T), found


def _why(mine: Series, base: Series, label: str, baseline: str) -> str:
    """Why there is no ratio, or only one side of it; empty for an ordinary comparison."""
    for series, name in ((mine, label), (base, baseline)):
        if series.missing:
            return f"{name} has no value: {series.missing}"
        if (series.values[series.known] <= 0.0).any():
            return f"{name} has a value that is not above 0, and such a value has no ratio"
    if not (mine.known & base.known).any():
        return f"{label} and {baseline} never have a value in the same block"
    counts = [
        f"{name} failed {int(series.failed.sum())} of {series.runs}"
        for series, name in ((mine, label), (base, baseline))
        if series.failed.any()
    ]
    if len(counts) == 2:
        return f"{' and '.join(counts)}: the ratio of two bounds bounds nothing"
    return f"{counts[0]}: the ratio is known from one side only" if counts else ""


def _too_few(method: Method, blocks: int) -> str:
    if method is Method.COUNTS or blocks >= BLOCKS_FOR_VERDICT:
        return ""
    return f"{blocks} {'block' if blocks == 1 else 'blocks'}; a verdict needs {BLOCKS_FOR_VERDICT}"


def one_sided_p(found: Estimate, side: int) -> Array:
    """p where only one side of the ratio is known: on the other side nothing can be claimed, so 1 there.

    `side` is +1 where values are lower bounds of the log ratio, -1 where upper bounds. On the known side it
    stays the two-sided p, so that the claim has half its error: 2.5 %.
    """
    return np.where(side * found.centre > 0.0, found.p(), 1.0)


def family_p(draft: Draft) -> float:
    """The p that a main comparison brings to Holm's correction: 1 where nothing can be claimed."""
    if draft.estimate is None:
        return 1.0
    if draft.side == 0:
        return float(draft.estimate.p())
    if draft.table.direction(draft.figure) is not Direction.LOWER:
        return 1.0  # a bound on a figure of which more is better would flatter the one that failed
    return float(one_sided_p(draft.estimate, draft.side))


def finish(draft: Draft, p_adjusted: float | None = None, level: float | None = None) -> Comparison:
    """The comparison as reported; `p_adjusted` and `level` are Holm's, for one of the m main comparisons."""
    found, direction = draft.estimate, draft.table.direction(draft.figure)
    interval = None if found is None else _interval(found, ALPHA, draft.side)
    verdict = None
    if p_adjusted is not None and direction is not Direction.NEITHER:
        verdict = decide(found, p_adjusted, direction, draft.blocks, failures=draft.side != 0)
    has_ratio = draft.blocks > 0 and draft.side == 0 and draft.method is not Method.COUNTS
    return Comparison(
        workload=draft.table.workload,
        figure=draft.figure,
        filesystem=draft.candidate.label,
        baseline=draft.baseline,
        main=draft.main,
        blocks=draft.blocks,
        method=draft.method,
        ratio=_ratio(draft.log_ratios, found) if has_ratio else None,
        interval=interval,
        adjusted=None if found is None or level is None else _interval(found, level, draft.side),
        p=None if found is None else float(one_sided_p(found, draft.side) if draft.side else found.p()),
        p_adjusted=None if found is None else p_adjusted,
        verdict=verdict,
        uncorrected=interval is not None and not draft.tested and _excludes_one(interval),
        failed=draft.failed,
        baseline_failed=draft.baseline_failed,
        aa=draft.candidate.aa,
        why=draft.why,
    )


def _ratio(log_ratios: Array, found: Estimate | None) -> float:
    return float(np.exp(log_ratios.mean() if found is None else found.centre))


def _interval(found: Estimate, alpha: float, side: int) -> Interval:
    centre, half = float(found.centre), float(found.half_width(alpha))
    return Interval(None if side < 0 else _end(centre - half), None if side > 0 else _end(centre + half))


def _end(logarithm: float) -> float | None:
    """As a ratio; an end too far out for a float is an open one."""
    return math.exp(logarithm) if logarithm < _LARGEST_LOG else None


def _excludes_one(interval: Interval) -> bool:
    above = interval.low is not None and interval.low > 1.0
    return above or (interval.high is not None and interval.high < 1.0)
