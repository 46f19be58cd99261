"""What may be said of a comparison, in one fixed order: too few runs, same, faster or slower, cannot tell."""

from __future__ import annotations

import numpy as np

from fstrial.model.analysis import Verdict
from fstrial.model.metric import Direction
from fstrial.stats.estimators import Array, Estimate, Mask

__all__ = [
    "ALPHA",
    "BLOCKS_FOR_INTERVAL",
    "BLOCKS_FOR_VERDICT",
    "MARGIN",
    "calls_different",
    "calls_same",
    "decide",
]

ALPHA = 0.05
MARGIN = 0.03
"""Ratios within [1 / 1.03, 1.03] are the same for every practical purpose."""
BLOCKS_FOR_INTERVAL = 3
BLOCKS_FOR_VERDICT = 5


def calls_same(estimate: Estimate) -> Mask:
    """Whether the whole 95 % interval lies inside the margin."""
    return np.asarray(np.abs(estimate.centre) + estimate.half_width(ALPHA) <= np.log1p(MARGIN))


def calls_different(estimate: Estimate, p_adjusted: Array) -> Mask:
    """Whether it is not the same, and Holm rejects "the ratio is 1"."""
    return np.asarray((p_adjusted <= ALPHA) & ~calls_same(estimate))


def decide(estimate: Estimate | None, p_adjusted: float, direction: Direction, blocks: int, failures: bool) -> Verdict:
    """The verdict of one main comparison.

    `estimate` is None where no interval can be had. With `failures` the values hold lower bounds, and "same" is
    never said; nor is anything flattering, which the caller sees to by a p of 1 (compare.family_p).
    """
    if blocks < BLOCKS_FOR_VERDICT:
        return Verdict.TOO_FEW
    if estimate is None:
        return Verdict.CANNOT_TELL
    if calls_same(estimate) and not failures:
        return Verdict.SAME
    if p_adjusted > ALPHA:
        return Verdict.CANNOT_TELL
    more = bool(estimate.centre > 0.0)
    return Verdict.SLOWER if more == (direction is Direction.LOWER) else Verdict.FASTER
