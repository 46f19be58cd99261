"""Repeat the simulations behind docs/statistics.md through the shipped functions, and check every claim.

    python bench/prove_statistics.py [--replications 20000] [--seed 1]

Prints one claim a line as it is done; ends with exit status 1 when one does not hold within the tolerance of two
simulations. The last group are the methods that fstrial does not use, and why.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import stdtrit

from fstrial.stats.claims import GROUPS, N5, NOISY, O5, Claim, Expected
from fstrial.stats.estimators import Array
from fstrial.stats.simulation import Measured

_RESAMPLES = 1000
_REJECTED_REPLICATIONS = 4000

Interval = tuple[Array, Array]


def welch(times: Array, dice: np.random.Generator) -> Interval:
    """Two samples, blocks ignored (Welch 1947)."""
    blocks = times.shape[-1]
    errors = times[:, [0, -1]].var(axis=-1, ddof=1) / blocks
    freedom = errors.sum(axis=-1) ** 2 / (np.square(errors).sum(axis=-1) / (blocks - 1))
    half = stdtrit(freedom, 0.975) * np.sqrt(errors.sum(axis=-1))
    centre = times[:, -1].mean(axis=-1) - times[:, 0].mean(axis=-1)
    return centre - half, centre + half


def bootstrap(times: Array, dice: np.random.Generator) -> Interval:
    """Percentile bootstrap of the mean log ratio (Efron 1979)."""
    ratios = times[:, -1] - times[:, 0]
    blocks = ratios.shape[-1]
    picks = dice.integers(0, blocks, (_RESAMPLES, blocks))
    means = ratios[:, picks].mean(axis=-1)
    low, high = np.quantile(means, (0.025, 0.975), axis=-1)
    return low, high


def pooled(times: Array, dice: np.random.Generator) -> Interval:
    """One residual variance of the two-way layout for all filesystems."""
    _, filesystems, blocks = times.shape
    left = times - times.mean(axis=-1, keepdims=True)
    left = left - left.mean(axis=1, keepdims=True)
    freedom = (filesystems - 1) * (blocks - 1)
    error = np.sqrt(np.square(left).sum(axis=(1, 2)) / freedom * 2.0 / blocks)
    centre = times[:, -1].mean(axis=-1) - times[:, 0].mean(axis=-1)
    half = stdtrit(freedom, 0.975) * error
    return centre - half, centre + half


def rejected_claims(replications: int, dice: np.random.Generator) -> Iterator[Claim]:
    """Coverage of the last of four filesystems against the first."""
    methods: tuple[tuple[Callable[[Array, np.random.Generator], Interval], tuple[float, ...]], ...] = (
        (welch, (97.6, 97.8, 98.6, 95.5, 99.8)),
        (bootstrap, (74.9, 84.9, 90.0, 83.8, 88.9)),
        (pooled, (95.0, 95.1, 95.0, 84.1, 96.2)),
    )
    scenarios = (
        ("N@5 n=3", N5, 3),
        ("N@5 n=5", N5, 5),
        ("N@5 n=10", N5, 10),
        ("four times as noisy, n=5", NOISY, 5),
        ("O5@3 n=10", O5, 10),
    )
    replications = min(replications, _REJECTED_REPLICATIONS)
    for method, coverages in methods:
        for (label, noise, blocks), covered in zip(scenarios, coverages, strict=True):
            low, high = method(noise.log_times(dice, replications, 4, blocks), dice)
            share = float(((low <= 0.0) & (high >= 0.0)).mean())
            error = float(np.sqrt(share * (1.0 - share) / replications))
            name = f"not used: {method.__name__}, {label}, coverage"
            yield Claim(name, Measured(100 * share, 100 * error), Expected(covered, covered), replications)


def main() -> int:
    parser = argparse.ArgumentParser(description="simulate the statistics of fstrial and check every claim")
    parser.add_argument("--replications", type=int, default=20_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    chosen = parser.parse_args()
    failed = 0
    for group in (*GROUPS, rejected_claims):
        for claim in group(chosen.replications, np.random.default_rng(chosen.seed)):
            print(claim, flush=True)
            failed += not claim.holds
    print(f"{failed} claims failed" if failed else "every claim holds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
