"""Holm's correction: a worked example, a naive second implementation, and agreement of intervals with verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fstrial.stats import holm
from fstrial.stats.estimators import paired_t

ps = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12).map(np.array)


def naive(p: list[float], alpha: float) -> list[bool]:
    """Step down as the paper words it: reject while the smallest left is small enough, stop at the first that
    is not."""
    rejected = [False] * len(p)
    for step, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[index] > alpha / (len(p) - step):
            break
        rejected[index] = True
    return rejected


def test_a_worked_example() -> None:
    # .005 × 4, .01 × 3, .03 × 2, .04 × 1 and never less than the one before
    assert holm.adjust(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_levels_of_the_worked_example() -> None:
    levels = holm.levels(np.array([0.01, 0.04, 0.03, 0.005]), 0.05)
    assert levels == pytest.approx([0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4])


def test_when_all_are_rejected_the_last_has_the_whole_alpha() -> None:
    assert holm.levels(np.array([0.001, 0.002]), 0.05) == pytest.approx([0.025, 0.05])


def test_nothing_to_correct() -> None:
    assert holm.adjust(np.array([])).size == 0
    assert holm.levels(np.array([]), 0.05).size == 0


@given(ps, st.floats(0.001, 0.2))
def test_adjusted_p_reject_what_the_step_down_procedure_rejects(p: np.ndarray, alpha: float) -> None:
    adjusted = holm.adjust(p)
    if np.isclose(adjusted, alpha, rtol=1e-9).any():
        return
    assert (adjusted <= alpha).tolist() == naive(p.tolist(), alpha)


@given(ps)
def test_adjusted_p_lie_between_the_raw_and_bonferronis(p: np.ndarray) -> None:
    adjusted = holm.adjust(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(p * p.size, 1.0) + 1e-15).all()


@given(ps, st.randoms(use_true_random=False))
def test_the_order_of_comparisons_does_not_matter(p: np.ndarray, dice: object) -> None:
    order = np.random.default_rng(p.size).permutation(p.size)
    assert holm.adjust(p[order]) == pytest.approx(holm.adjust(p)[order])


def test_replications_are_corrected_each_for_itself() -> None:
    p = np.random.default_rng(1).random((7, 5))
    assert holm.adjust(p) == pytest.approx(np.array([holm.adjust(row) for row in p]))
    assert holm.levels(p, 0.3) == pytest.approx(np.array([holm.levels(row, 0.3) for row in p]))


def test_adjusted_intervals_exclude_one_exactly_when_holm_rejects() -> None:
    dice = np.random.default_rng(2)
    for _ in range(300):
        ratios = dice.standard_normal((6, 5)) * 0.03 + dice.choice([0.0, 0.05, 0.1], (6, 1))
        found = paired_t(ratios)
        rejected = holm.adjust(found.p()) <= 0.05
        levels = holm.levels(found.p(), 0.05)
        halves = np.array([paired_t(row).half_width(level) for row, level in zip(ratios, levels, strict=True)])
        assert (np.abs(found.centre) > halves).tolist() == rejected.tolist()
