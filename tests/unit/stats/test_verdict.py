"""The order in which a verdict is reached, and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fstrial.model.analysis import Verdict
from fstrial.model.metric import Direction
from fstrial.stats.estimators import Estimate
from fstrial.stats.verdict import calls_different, calls_same, decide


def found(centre: float, half_width: float) -> Estimate:
    """With so many degrees of freedom that t(0.975) is 1.96."""
    return Estimate(np.asarray(centre), np.asarray(half_width / 1.959964), np.asarray(1e9), np.asarray(False))


@pytest.mark.parametrize(
    ("low", "high", "same"),
    [(1 / 1.0299, 1.0299, True), (1 / 1.0301, 1.01, False), (0.99, 1.0301, False), (1.001, 1.029, True)],
)
def test_same_is_an_interval_inside_three_percent(low: float, high: float, same: bool) -> None:
    centre, half = math.log(low * high) / 2, math.log(high / low) / 2
    assert bool(calls_same(found(centre, half))) is same


def test_below_five_blocks_nothing_is_said() -> None:
    assert decide(found(1.0, 0.01), 0.0, Direction.LOWER, 4, failures=False) is Verdict.TOO_FEW
    assert decide(None, 1.0, Direction.LOWER, 4, failures=True) is Verdict.TOO_FEW


def test_same_comes_before_a_difference() -> None:
    tiny = found(0.01, 0.001)
    assert decide(tiny, 0.0001, Direction.LOWER, 5, failures=False) is Verdict.SAME
    assert decide(tiny, 0.0001, Direction.LOWER, 5, failures=True) is Verdict.SLOWER
    assert not calls_different(tiny, np.asarray(0.0001))


def test_a_difference_needs_the_adjusted_p() -> None:
    wide = found(0.2, 0.1)
    assert decide(wide, 0.05, Direction.LOWER, 5, failures=False) is Verdict.SLOWER
    assert decide(wide, 0.0501, Direction.LOWER, 5, failures=False) is Verdict.CANNOT_TELL
    assert decide(found(-0.2, 0.1), 0.05, Direction.LOWER, 5, failures=False) is Verdict.FASTER
    assert decide(found(-0.2, 0.1), 0.05, Direction.HIGHER, 5, failures=False) is Verdict.SLOWER


def test_no_estimate_is_no_verdict() -> None:
    assert decide(None, 1.0, Direction.LOWER, 9, failures=False) is Verdict.CANNOT_TELL
