"""Where an axis has ticks, and what they say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

__all__ = ["Ticks", "amount_ticks", "block_ticks", "ratio_ticks"]

Ticks = tuple[tuple[float, str], ...]


def ratio_ticks(low: float, high: float, most: int) -> Ticks:
    """On a logarithmic axis: the finest usual series of which `most` evenly placed labels would not touch."""
    least_gap = math.log(high / low) / most
    found: list[float] = []
    for series in _series(low, high):
        found = [tick for tick in series if low <= tick <= high]
        gaps = [math.log(right / left) for left, right in pairwise(found)]
        if gaps and min(gaps) >= least_gap:
            break
    return tuple((tick, f"{tick:g}") for tick in found)


def _series(low: float, high: float) -> Iterator[list[float]]:
    if high / low < 20:
        for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
            first, last = math.ceil(low / step), math.floor(high / step)
            yield [round(number * step, 2) for number in range(first, last + 1)]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    yield [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    for every in (1, 2, 4, 8, 16, 32):
        yield [10.0**decade for decade in decades if decade % every == 0]


def amount_ticks(high: float) -> Ticks:
    """Four or five from 0."""
    step = _round_up(high / 5) if high > 0 else 1.0
    return tuple((number * step, f"{number * step:g}") for number in range(int(high / step * (1 + 1e-9)) + 1))


def block_ticks(blocks: int) -> Ticks:
    step = max(1, round(_round_up(max(1, blocks) / 8)))
    return tuple((block, str(block)) for block in range(step, blocks + 1, step))


def _round_up(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is at least that."""
    decade = 10.0 ** math.floor(math.log10(least))
    return next(digit * decade for digit in (1, 2, 5, 10) if digit * decade >= least * (1 - 1e-9))
