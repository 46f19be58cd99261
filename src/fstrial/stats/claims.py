"""What docs/statistics.md says of the procedure, each claim beside what a simulation of the shipped code gives.

The expected figures come from a simulation made apart from this code, before it was written, with 10 000
replications or more; only what the trimmed rule does to many comparisons was first found with this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fstrial.stats.estimators import Array, Estimate, estimate, paired_t
from fstrial.stats.simulation import Measured, Noise, bounded, coverage, family, peeked, stopped
from fstrial.stats.stopping import INFLATION

__all__ = ["GROUPS", "Claim", "Expected"]

_REFERENCE_REPLICATIONS = 10_000
_STANDARD_ERRORS = 4.0
"""Of the difference between two simulations; there are some eighty claims."""

N5 = Noise(cv=0.05)
O5 = Noise(cv=0.03, outliers=0.05)
NOISY = Noise(cv=0.05, noisiest=4.0)

_CAP = 30

_METHODS: dict[str, Callable[[Array, float], Estimate]] = {
    "paired t": paired_t,
    "t with the trimmed rule": estimate,
}


@dataclass(frozen=True)
class Expected:
    """A figure or a range, in the unit that is printed, and how far it was rounded."""

    low: float
    high: float
    rounding: float = 0.05

    def __str__(self) -> str:
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Claim:
    """One line of the table. `measured` is in `unit`, with its standard error over `replications`."""

    name: str
    measured: Measured
    expected: Expected
    replications: int
    unit: str = "%"

    @property
    def tolerance(self) -> float:
        """How far two simulations of one truth may lie apart: the error of ours and of the reference, and its
        rounding."""
        both = np.sqrt(1.0 + self.replications / _REFERENCE_REPLICATIONS)
        return float(_STANDARD_ERRORS * self.measured.error * both) + self.expected.rounding

    @property
    def holds(self) -> bool:
        low, high = self.expected.low - self.tolerance, self.expected.high + self.tolerance
        return low <= self.measured.value <= high

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.measured.value:.1f} {self.unit} "
            f"(expected {self.expected}, tolerance {self.tolerance:.1f}) {'ok' if self.holds else 'FAILED'}"
        )


def coverage_claims(replications: int, dice: np.random.Generator) -> Iterator[Claim]:
    """Coverage and median half-width of the 95 % interval at fixed numbers of blocks, four filesystems."""
    about = Expected(94.5, 95.5)
    for method, noise, blocks, label, covered, half in (
        ("paired t", N5, 3, "N@5 n=3", _at(95.3), _at(16.0)),
        ("paired t", N5, 5, "N@5 n=5", _at(95.3), _at(8.4)),
        ("paired t", N5, 10, "N@5 n=10", _at(94.8), _at(5.0)),
        ("paired t", N5, 20, "N@5 n=20", _at(94.7), _at(3.3)),
        ("paired t", O5, 10, "O5@3 n=10", _at(98.0), _at(15.1)),
        ("t with the trimmed rule", N5, 3, "N@5 n=3", _at(95.3), _at(16.0)),
        ("t with the trimmed rule", N5, 5, "N@5 n=5", _at(95.3), _at(8.4)),
        ("t with the trimmed rule", N5, 10, "N@5 n=10", about, _at(5.0)),
        ("t with the trimmed rule", N5, 20, "N@5 n=20", Expected(94.4, 95.3), _at(3.3)),
        ("t with the trimmed rule", O5, 10, "O5@3 n=10", about, _at(3.7)),
    ):
        found = coverage(noise, blocks, replications, dice, estimator=_METHODS[method])
        yield Claim(f"{method}, {label}, coverage", _percent(found.covered), covered, replications)
        yield Claim(f"{method}, {label}, half-width", _percent(found.half_width), half, replications)
    for method, expected in (("paired t", _at(95.2)), ("t with the trimmed rule", about)):
        found = coverage(NOISY, 5, replications, dice, estimator=_METHODS[method])
        name = f"{method}, n=5, coverage of the filesystem four times as noisy"
        yield Claim(name, _percent(found.last), expected, replications)


def false_difference_claims(replications: int, dice: np.random.Generator) -> Iterator[Claim]:
    """All filesystems equal, a fixed number of blocks: how often some comparison is called different."""
    holm = Expected(4.0, 5.5)
    for method, blocks, corrected in (
        ("paired t", 5, holm),
        ("paired t", 10, holm),
        ("t with the trimmed rule", 10, holm),
        ("t with the trimmed rule", 20, holm),
    ):
        estimator = _METHODS[method]
        one = family(N5, blocks, replications, dice, figures=1, estimator=estimator)
        name = f"A/A, {method}, n={blocks}"
        yield Claim(f"{name}, 1 comparison, called", _percent(one.any_called), Expected(5.0, 5.5), replications)
        for figures, filesystems, unadjusted in ((5, 3, Expected(34, 39, 0.5)), (10, 4, Expected(72, 76, 0.5))):
            several = family(
                N5, blocks, replications, dice, figures=figures, filesystems=filesystems, estimator=estimator
            )
            many = f"{name}, {figures * (filesystems - 1)} comparisons"
            yield Claim(f"{many}, unadjusted p", _percent(several.any_unadjusted), unadjusted, replications)
            yield Claim(f"{many}, called (Holm)", _percent(several.any_called), corrected, replications)
    # where the trimmed rule is at its worst: much noise, few blocks, many comparisons
    for inflation, expected in ((1.0, Expected(4.5, 6.0)), (INFLATION, Expected(2.5, 4.5))):
        worst = family(Noise(0.10), 10, replications, dice, figures=10, filesystems=4, inflation=inflation)
        name = f"A/A, 30 comparisons, cv 10 %, n=10, c = {inflation:.2f}, called (Holm)"
        yield Claim(name, _percent(worst.any_called), expected, replications)


def power_claims(replications: int, dice: np.random.Generator) -> Iterator[Claim]:
    """One comparison truly 5 % apart among m: how often that one is called different."""
    for cv, blocks, expected in (
        (0.02, 5, {1: 82, 10: 27, 30: 12}),
        (0.02, 10, {1: 100, 10: 92, 30: 79}),
        (0.05, 10, {1: 50, 10: 14, 30: 7}),
        (0.05, 20, {1: 83, 10: 50, 30: 33}),
        (0.10, 20, {1: 31, 10: 8, 30: 4}),
    ):
        for comparisons, share in expected.items():
            found = family(Noise(cv), blocks, replications, dice, figures=comparisons, effect=0.05)
            name = f"5 % told, cv {100 * cv:.0f} %, n={blocks}, 1 of {comparisons}"
            yield Claim(name, _percent(found.first_called), _at(share, 0.5), replications)


def stopping_claims(replications: int, dice: np.random.Generator) -> Iterator[Claim]:
    """Runs that end by the stopping rule: blocks used, coverage at the worst scatter for a target of 5 %, "same"."""
    for cv, used in ((0.03, 6.6), (0.05, 12.2), (0.08, 25.5)):
        run = stopped(Noise(cv), 0.05, replications, dice, inflation=INFLATION, cap=_CAP)
        yield Claim(f"--until 5%, cv {100 * cv:.0f} %, blocks used", run.blocks, _at(used), replications, "blocks")
    for method, inflation, expected in (
        ("paired t", 1.0, Expected(90, 92, 0.5)),
        ("paired t", INFLATION, _at(95.0)),
        ("t with the trimmed rule", INFLATION, _at(94.3)),
        ("t with the trimmed rule", 1.20, _at(95.0)),
    ):
        worst, estimator = Noise(0.06), _METHODS[method]
        run = stopped(worst, 0.05, replications, dice, inflation=inflation, cap=_CAP, estimator=estimator)
        name = f"--until 5%, cv 6 %, {method}, c = {inflation:.2f}, coverage"
        yield Claim(name, _percent(run.covered), expected, replications)
    run = stopped(Noise(0.02), 0.02, replications, dice, inflation=INFLATION, cap=_CAP)
    yield Claim("--until 2%, cv 2 %, truly equal: called same", _percent(run.same), _at(80, 0.5), replications)
    yield Claim("--until 2%, cv 2 %, blocks used", run.blocks, _at(12, 0.5), replications, "blocks")
    first = peeked(N5, replications, dice, cap=_CAP)
    name = f"not done: stop at the first significant look, up to {_CAP} blocks, called different"
    yield Claim(name, _percent(first), Expected(20, 27, 0.5), replications)


def failure_claims(replications: int, dice: np.random.Generator) -> Iterator[Claim]:
    """One of two equal filesystems fails whenever it would take more than 2 % above its typical time."""
    found = bounded(N5, 10, replications, dice, fails_above=1.02)
    name = "a third of the runs fail, n=10"
    yield Claim(f"{name}, limit holds", _percent(found.holds), Expected(97.5, 100.0), replications)
    yield Claim(f"{name}, called slower", _percent(found.slower), Expected(0.0, 2.5), replications)
    dropped = _percent(found.faster_if_dropped)
    yield Claim(f"{name}, called faster if failures were dropped", dropped, Expected(5, 25, 0.5), replications)


GROUPS = (coverage_claims, false_difference_claims, power_claims, stopping_claims, failure_claims)
"""Each takes a number of replications and a generator, and yields its claims as they are simulated."""


def _at(value: float, rounding: float = 0.05) -> Expected:
    return Expected(value, value, rounding)


def _percent(share: Measured) -> Measured:
    return Measured(100.0 * share.value, 100.0 * share.error)
