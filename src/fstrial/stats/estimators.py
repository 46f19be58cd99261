"""The typical log ratio and how sure it is: Student's t on paired logarithms, a trimmed t for far-out runs.

Every function takes `d`, logarithms of the ratio to the baseline, with blocks along the last axis; axes before
it are replications of a simulation. What is simulated is therefore what is shipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

__all__ = ["Array", "Estimate", "Mask", "estimate", "paired_t", "stands_out", "trimmed_t"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SCALED_MAD = 1.4826
"""Median absolute deviation × this estimates the standard deviation of normal noise: 1 / Φ⁻¹(3/4)."""

_TRIMMED_FROM = 8
_OUTLIER_MADS = 10.0
"""At 6, ten blocks of plain noise trigger the trimmed t so often that Holm's 5 % over thirty comparisons become 8."""
_OUTLIER_LOG = np.log(1.15)
_TRIM = 0.2
_WIDENING = {8: 1.028, 9: 1.019, 10: 1.051, 11: 1.045, 12: 1.030, 13: 1.027, 14: 1.025, 15: 1.035, 16: 1.029}
_WIDENING_BEYOND = 1.02


@dataclass(frozen=True)
class Estimate:
    """A centre, its standard error and degrees of freedom, on the log scale; arrays without the block axis.

    `error` holds every widening already: that of the trimmed t, and the inflation of a run that stopped by
    itself.
    """

    centre: Array
    error: Array
    freedom: Array
    trimmed: Mask

    def half_width(self, alpha: float = 0.05) -> Array:
        """Of the two-sided interval at confidence 1 - alpha, in logarithms."""
        half: Array = np.asarray(stdtrit(self.freedom, 1.0 - alpha / 2.0) * self.error)
        return half

    def p(self) -> Array:
        """Two-sided p of "the typical ratio is 1". Without any scatter: 1 at the ratio 1, 0 elsewhere."""
        distance = np.abs(self.centre)
        still = np.where(distance > 0.0, np.inf, 0.0)
        t = np.divide(distance, self.error, out=still, where=self.error > 0.0)
        p: Array = np.asarray(2.0 * stdtr(self.freedom, -t))
        return p


def paired_t(d: Array, inflation: float = 1.0) -> Estimate:
    """Student's t on the log ratios of at least two blocks (Student 1908)."""
    blocks = d.shape[-1]
    centre = np.asarray(d.mean(axis=-1))
    error = np.asarray(d.std(axis=-1, ddof=1)) * (inflation / np.sqrt(blocks))
    return Estimate(centre, error, np.full(centre.shape, blocks - 1.0), np.zeros(centre.shape, dtype=bool))


def trimmed_t(d: Array, inflation: float = 1.0) -> Estimate:
    """One-sample t of the 20 % trimmed mean (Tukey & McLaughlin 1963) in the form of Yuen (1974).

    The standard error is the root of SSD / (h (h - 1)), where h values are left and SSD is the winsorised sum of
    squares; h - 1 degrees of freedom. That interval is a little short for normal noise; `_WIDENING` gives each
    number of blocks its 95 % back, as bench/prove_statistics.py shows. Needs at least five blocks.
    """
    blocks = d.shape[-1]
    cut = int(_TRIM * blocks)
    left = blocks - 2 * cut
    ordered = np.sort(d, axis=-1)
    centre = np.asarray(ordered[..., cut : blocks - cut].mean(axis=-1))
    pulled = np.clip(ordered, ordered[..., cut : cut + 1], ordered[..., blocks - cut - 1 : blocks - cut])
    squares = np.asarray(np.square(pulled - pulled.mean(axis=-1, keepdims=True)).sum(axis=-1))
    widening = _WIDENING.get(blocks, _WIDENING_BEYOND) * inflation
    error = np.sqrt(squares / (left * (left - 1))) * widening
    return Estimate(centre, error, np.full(centre.shape, left - 1.0), np.ones(centre.shape, dtype=bool))


def stands_out(d: Array) -> Mask:
    """Whether some block's log ratio is so far from the median that the trimmed t must be used."""
    distance = np.abs(d - np.median(d, axis=-1, keepdims=True))
    scatter = SCALED_MAD * np.median(distance, axis=-1)
    farthest = distance.max(axis=-1)
    return np.asarray((farthest > _OUTLIER_MADS * scatter) & (farthest > _OUTLIER_LOG))


def estimate(d: Array, inflation: float = 1.0) -> Estimate:
    """The shipped rule: Student's t, and from eight blocks on the trimmed t wherever a block stands out."""
    plain = paired_t(d, inflation)
    if d.shape[-1] < _TRIMMED_FROM:
        return plain
    out = stands_out(d)
    if not out.any():
        return plain
    trimmed = trimmed_t(d, inflation)
    return Estimate(
        np.where(out, trimmed.centre, plain.centre),
        np.where(out, trimmed.error, plain.error),
        np.where(out, trimmed.freedom, plain.freedom),
        out,
    )
