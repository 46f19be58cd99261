"""What every bench prints: a flushed line a figure, ratios with their 95 % interval from interleaved pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fstrial.stats.estimators import paired_t

__all__ = ["pairs", "say", "say_ratio"]


def say(name: str, text: str) -> None:
    print(f"{name}: {text}", flush=True)


def say_ratio(name: str, ratios: Sequence[float], aim: str = "") -> None:
    """`name: 1.12 [1.05, 1.20]`: the geometric mean of paired ratios, with Student's t on their logarithms."""
    found = paired_t(np.log(np.asarray(ratios, dtype=float)))
    centre, half = float(found.centre), float(found.half_width())
    tail = f"  (aim {aim})" if aim else ""
    say(name, f"{math.exp(centre):.3g} [{math.exp(centre - half):.3g}, {math.exp(centre + half):.3g}]{tail}")


def pairs(count: int, ours: Callable[[], float], theirs: Callable[[], float]) -> list[float]:
    """Ratios ours / theirs of `count` pairs, in turn A B B A, after one pair that does not count."""
    ours(), theirs()
    ratios = []
    for index in range(count):
        if index % 2:
            second, first = theirs(), ours()
        else:
            first, second = ours(), theirs()
        ratios.append(first / second)
    return ratios
