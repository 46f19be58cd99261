"""What a table of blocks × candidates shows beside the ratios: runs that stand out, and slopes over the run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from fstrial.stats.estimators import SCALED_MAD, Array, Mask

__all__ = ["Slope", "polish", "slope", "stand_out"]

_SWEEPS = 10
_MADS = 6.0
_FACTOR_LOG = np.log(1.25)
_ROUNDING = 1e-9
"""A change of a log figure below this over a whole run is the rounding of equal values."""


@dataclass(frozen=True)
class Slope:
    """A straight line through figures on the log scale: its change from the first block to the last, and its p."""

    change: float
    p: float


def polish(table: Array) -> Array:
    """Residuals of a two-way median polish (Tukey 1977), blocks × candidates, NaN where there is no value.

    The median is the low one (the lower of the middle two): a stalled run among two candidates is then an outlier
    of its own, not half a slow block. With one candidate blocks cannot be told from runs: only its median is
    taken off.
    """
    left = table.copy()
    for _ in range(_SWEEPS):
        before = left
        if table.shape[1] > 1:
            left = left - _low_median(left, axis=1)
        left = left - _low_median(left, axis=0)
        if np.allclose(left, before, rtol=0.0, atol=_ROUNDING, equal_nan=True):
            break
    return left


def stand_out(residuals: Array) -> Mask:
    """Runs above what is expected by more than 6 scaled MADs and by more than a factor of 1.25.

    The MAD is the larger of the whole table's and the candidate's own: a noisy filesystem is no row of outliers.
    """
    size = np.abs(residuals)
    own = _low_median(size, axis=0)
    pooled = _low_median(size.reshape(-1, 1), axis=0)
    limit = _MADS * SCALED_MAD * np.maximum(own, pooled)
    return np.asarray((residuals > limit) & (residuals > _FACTOR_LOG))


def slope(figures: Array, rows: npt.NDArray[np.intp]) -> Slope:
    """Least squares of at least three figures on their rows; p is two-sided, by Student's t."""
    x = rows - rows.mean()
    y = figures - figures.mean()
    squares = float((x * x).sum())
    steepness = float((x * y).sum()) / squares
    change = steepness * float(rows.max() - rows.min())
    if abs(change) < _ROUNDING:
        return Slope(0.0, 1.0)
    freedom = figures.size - 2
    error = float(np.sqrt(np.square(y - steepness * x).sum() / freedom / squares))
    t = abs(steepness) / error if error > 0.0 else np.inf
    return Slope(change, float(2.0 * stdtr(freedom, -t)))


def _low_median(values: Array, axis: int) -> Array:
    """Along one axis, kept; NaN are passed over, and a row of nothing else gives NaN."""
    ordered = np.sort(values, axis=axis)  # NaN come last
    known = (~np.isnan(ordered)).sum(axis=axis, keepdims=True)
    median: Array = np.take_along_axis(ordered, np.maximum(known - 1, 0) // 2, axis=axis)
    return median
