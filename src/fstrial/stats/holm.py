"""Holm's step-down correction (Holm 1979): no false verdict among m comparisons, but for 5 % of runs.

Comparisons lie along the last axis; axes before it are replications.
"""

from __future__ import annotations

import numpy as np

from fstrial.stats.estimators import Array

__all__ = ["adjust", "levels"]


def adjust(p: Array) -> Array:
    """Adjusted p: a comparison is rejected at family level alpha when its adjusted p is at most alpha."""
    count = p.shape[-1]
    order = np.argsort(p, axis=-1, kind="stable")
    stepped = np.take_along_axis(p, order, axis=-1) * np.arange(count, 0, -1)
    capped = np.minimum(np.maximum.accumulate(stepped, axis=-1), 1.0)
    adjusted = np.empty_like(capped)
    np.put_along_axis(adjusted, order, capped, axis=-1)
    return adjusted


def levels(p: Array, alpha: float) -> Array:
    """The alpha of each comparison's adjusted interval: it excludes 1 exactly when Holm rejects.

    The i-th smallest rejected p has alpha / (m - i + 1); all that are not rejected have the level at which
    the first of them failed. Such intervals agree with the verdicts; they do not cover simultaneously.
    """
    count = p.shape[-1]
    rejected = (adjust(p) <= alpha).sum(axis=-1, keepdims=True)
    rank = np.argsort(np.argsort(p, axis=-1, kind="stable"), axis=-1)
    level: Array = alpha / (count - np.minimum(rank, rejected))
    return level
