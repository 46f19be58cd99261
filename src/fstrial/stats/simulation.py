"""The noise of a benchmark machine, made up, and what the shipped procedure makes of it.

Every study draws log ratios whose truth is known, gives them to the functions that a report uses, and counts how
often the answer is right. docs/statistics.md shows the table, bench/prove_statistics.py prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from fstrial.stats import holm
from fstrial.stats.compare import one_sided_p
from fstrial.stats.estimators import Array, Estimate, Mask, estimate, paired_t
from fstrial.stats.stopping import FIRST_LOOK, narrow_enough
from fstrial.stats.verdict import ALPHA, BLOCKS_FOR_INTERVAL, calls_different, calls_same

__all__ = [
    "Bounded",
    "Coverage",
    "Family",
    "Measured",
    "Noise",
    "Stopped",
    "bounded",
    "coverage",
    "family",
    "peeked",
    "stopped",
]

Estimator = Callable[[Array, float], Estimate]

_PART = 4000
"""Replications drawn at once: a few tens of MiB."""


@dataclass(frozen=True)
class Measured:
    """A simulated figure with its standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class Noise:
    """How the times of a run scatter.

    Each run is log-normal with coefficient of variation `cv`; a share `outliers` of runs takes 1.3 to 3 times as
    long (uniform); the last filesystem scatters `noisiest` times as much. The machine wanders from block to block
    by steps of `drift` (standard deviation of the logarithm) and slows down by `trend` over the run: pairing must
    remove both.
    """

    cv: float
    outliers: float = 0.0
    noisiest: float = 1.0
    drift: float = 0.035
    trend: float = 0.02

    def log_times(self, dice: np.random.Generator, replications: int, filesystems: int, blocks: int) -> Array:
        """Logarithms of times, (replications, filesystems, blocks). All filesystems are equally fast."""
        shape = (replications, filesystems, blocks)
        times: Array = dice.standard_normal(shape) * np.sqrt(np.log1p(self.cv**2))
        times[:, -1] *= self.noisiest
        if self.outliers:
            hit = dice.random(shape) < self.outliers
            times[hit] += np.log(dice.uniform(1.3, 3.0, int(hit.sum())))
        wander = dice.standard_normal((replications, 1, blocks)).cumsum(axis=-1) * self.drift
        times += wander + np.log1p(self.trend) * np.linspace(0.0, 1.0, blocks)
        return times

    def log_ratios(self, dice: np.random.Generator, replications: int, filesystems: int, blocks: int) -> Array:
        """Of every filesystem to the first one, (replications, filesystems - 1, blocks); the truth is 0."""
        times = self.log_times(dice, replications, filesystems, blocks)
        return times[:, 1:] - times[:, :1]


@dataclass(frozen=True)
class Coverage:
    """How often the 95 % interval holds the truth, and the median of its half-width, as a share.

    `last` is the coverage of the last filesystem, which may be the noisy one.
    """

    covered: Measured
    half_width: Measured
    last: Measured


def coverage(
    noise: Noise,
    blocks: int,
    replications: int,
    dice: np.random.Generator,
    *,
    filesystems: int = 4,
    estimator: Estimator = estimate,
) -> Coverage:
    """A fixed number of blocks."""
    hit, halves = [], []
    for part in _parts(replications):
        found = estimator(noise.log_ratios(dice, part, filesystems, blocks), 1.0)
        half = found.half_width(ALPHA)
        hit.append(np.abs(found.centre) <= half)
        halves.append(half)
    covered = np.concatenate(hit)
    return Coverage(_share(covered.mean(axis=-1)), _median(np.concatenate(halves)), _share(covered[:, -1]))


@dataclass(frozen=True)
class Family:
    """Verdicts over many comparisons: `any_unadjusted` and `any_called`: some comparison is called different, by
    its own p or by the verdict; `first_called`: the first comparison is."""

    any_unadjusted: Measured
    any_called: Measured
    first_called: Measured


def family(
    noise: Noise,
    blocks: int,
    replications: int,
    dice: np.random.Generator,
    *,
    figures: int,
    filesystems: int = 2,
    effect: float = 0.0,
    inflation: float = 1.0,
    estimator: Estimator = estimate,
) -> Family:
    """`figures` independent figures of each filesystem; the first comparison is truly `effect` slower."""
    unadjusted: list[Mask] = []
    called: list[Mask] = []
    for part in _parts(replications):
        drawn = [noise.log_ratios(dice, part, filesystems, blocks) for _ in range(figures)]
        ratios = np.concatenate(drawn, axis=1)
        ratios[:, 0] += np.log1p(effect)
        found = estimator(ratios, inflation)
        p = found.p()
        unadjusted.append(np.asarray(p <= ALPHA))
        called.append(calls_different(found, holm.adjust(p)))
    verdicts = np.concatenate(called)
    some_p = np.asarray(np.concatenate(unadjusted).any(axis=-1))
    return Family(_share(some_p), _share(np.asarray(verdicts.any(axis=-1))), _share(verdicts[:, 0]))


@dataclass(frozen=True)
class Stopped:
    """Runs that ended by the stopping rule: coverage, blocks used (mean), and the share called the same."""

    covered: Measured
    blocks: Measured
    same: Measured


def stopped(
    noise: Noise,
    until: float,
    replications: int,
    dice: np.random.Generator,
    *,
    inflation: float,
    cap: int,
    estimator: Estimator = estimate,
) -> Stopped:
    """One main comparison, looked at after each block from the first look on, until narrow enough or at the cap."""
    parts = [
        _stop_all(noise.log_ratios(dice, part, 2, cap)[:, 0], until, inflation, estimator)
        for part in _parts(replications)
    ]
    covered, used, same = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Stopped(_share(covered), _mean(used), _share(same))


def _stop_all(ratios: Array, until: float, inflation: float, estimator: Estimator) -> tuple[Mask, Array, Mask]:
    replications, cap = ratios.shape
    covered, same = np.zeros(replications, dtype=bool), np.zeros(replications, dtype=bool)
    used = np.full(replications, float(cap))
    going = np.arange(replications)
    for blocks in range(FIRST_LOOK, cap + 1):
        found = estimator(ratios[going, :blocks], inflation)
        half = found.half_width(ALPHA)
        ends = narrow_enough(half, until) | (blocks == cap)
        ended = going[ends]
        covered[ended] = (np.abs(found.centre) <= half)[ends]
        same[ended] = calls_same(found)[ends]
        used[ended] = blocks
        going = going[~ends]
    return covered, used, same


def peeked(noise: Noise, replications: int, dice: np.random.Generator, *, cap: int) -> Measured:
    """The share of runs called different by who stops at the first significant look, two equal filesystems."""
    called = []
    for part in _parts(replications):
        ratios = noise.log_ratios(dice, part, 2, cap)[:, 0]
        looks = [estimate(ratios[:, :blocks]).p() <= ALPHA for blocks in range(FIRST_LOOK, cap + 1)]
        called.append(np.logical_or.reduce(looks))
    return _share(np.concatenate(called))


@dataclass(frozen=True)
class Bounded:
    """Runs with failures: `holds`: the one-sided limit is on the right side of the truth; `slower`: the share in
    which the filesystem that fails is called slower though it is not; `faster_if_dropped`: in which it would be
    called faster if its failed runs were left out."""

    holds: Measured
    slower: Measured
    faster_if_dropped: Measured


def bounded(noise: Noise, blocks: int, replications: int, dice: np.random.Generator, *, fails_above: float) -> Bounded:
    """Two equally fast filesystems; runs of the second that would take more than `fails_above` times the typical
    time fail there, so that the bound is what they had reached."""
    holds, slower, faster = [], [], []
    steady = replace(noise, drift=0.0, trend=0.0)
    for part in _parts(replications):
        times = steady.log_times(dice, part, 2, blocks)
        limit = np.log(fails_above)
        failed = times[:, 1] > limit
        reached = np.minimum(times[:, 1], limit) - times[:, 0]
        found = paired_t(reached)
        low = found.centre - found.half_width(ALPHA)
        holds.append(low <= 0.0)
        slower.append(one_sided_p(found, side=1) <= ALPHA)
        faster.append(_faster_without(reached, failed))
    return Bounded(*(_share(np.concatenate(one)) for one in (holds, slower, faster)))


def _faster_without(ratios: Array, failed: Mask) -> Mask:
    """The verdict of those who leave failures out."""
    called = np.zeros(len(ratios), dtype=bool)
    left = (~failed).sum(axis=-1)
    for count in range(BLOCKS_FOR_INTERVAL, ratios.shape[-1]):
        rows = left == count
        if rows.any():
            kept = ratios[rows][~failed[rows]].reshape(-1, count)
            found = estimate(kept)
            called[rows] = (found.p() <= ALPHA) & (found.centre < 0.0)
    return called


def _parts(replications: int) -> Iterator[int]:
    while replications > 0:
        yield min(replications, _PART)
        replications -= _PART


def _share(hits: Array | Mask) -> Measured:
    """Of per-replication hits, or of per-replication shares, whose error is at most that of one hit each."""
    value = float(hits.mean())
    return Measured(value, float(np.sqrt(value * (1.0 - value) / len(hits))))


def _mean(values: Array) -> Measured:
    return Measured(float(values.mean()), float(values.std() / np.sqrt(len(values))))


def _median(half_widths: Array) -> Measured:
    """As a share; the error from the order statistics one standard error of a share beside the middle."""
    beside = 0.5 / np.sqrt(len(half_widths))
    low, middle, high = np.expm1(np.quantile(half_widths, (0.5 - beside, 0.5, 0.5 + beside)))
    return Measured(float(middle), float(high - low) / 2.0)
