"""Median polish against a published example, slopes against SciPy, and what stands out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as reference

from fstrial.stats.trends import polish, slope, stand_out


def test_median_polish_of_the_example_in_rs_manual() -> None:
    # deaths from sport parachuting, as in help(medpolish) of R, from ABC of EDA (Velleman & Hoaglin 1981)
    deaths = np.array([[14, 15, 14], [7, 4, 7], [8, 2, 10], [15, 9, 10], [0, 2, 0]], dtype=float)
    residuals = [[0, 2, 0], [0, -2, 0], [0, -5, 2], [5, 0, 0], [0, 3, 0]]
    assert polish(deaths).tolist() == residuals


def test_polish_leaves_nothing_of_block_and_filesystem_effects() -> None:
    table = np.array([0.0, 0.3, -0.1, 0.5, 0.2])[:, None] + np.array([1.0, 2.0, 4.0])
    assert polish(table) == pytest.approx(np.zeros((5, 3)), abs=1e-12)


def test_a_stall_among_two_filesystems_is_the_stalled_ones_alone_and_whole() -> None:
    dice = np.random.default_rng(3)
    table = dice.normal(0.0, 0.02, (8, 2))
    table[5, 1] += np.log(2.0)
    residuals = polish(table)
    assert np.argwhere(stand_out(residuals)).tolist() == [[5, 1]]
    assert np.exp(residuals[5, 1]) == pytest.approx(2.0, rel=0.08)


def test_a_slow_block_is_no_outlier() -> None:
    table = np.random.default_rng(4).normal(0.0, 0.02, (8, 3))
    table[2] += np.log(2.0)
    assert not stand_out(polish(table)).any()


def test_missing_runs_leave_the_others_judged() -> None:
    table = np.random.default_rng(5).normal(0.0, 0.02, (8, 3))
    table[3, 0] = np.nan
    table[6] = np.nan
    table[1, 2] += np.log(1.8)
    assert np.argwhere(stand_out(polish(table))).tolist() == [[1, 2]]


def test_one_filesystem_alone_is_measured_from_its_median() -> None:
    table = np.array([[0.0], [0.01], [-0.01], [0.9], [0.0]])
    assert np.argwhere(stand_out(polish(table))).tolist() == [[3, 0]]


def test_ordinary_noise_is_seldom_flagged_even_where_one_filesystem_is_noisy() -> None:
    dice = np.random.default_rng(6)
    flagged = 0
    for _ in range(400):
        table = dice.normal(0.0, 0.03, (10, 4))
        table[:, 3] *= 4.0
        flagged += bool(stand_out(polish(table)).any())
    assert flagged <= 32


def test_slope_is_scipys_regression() -> None:
    dice = np.random.default_rng(7)
    rows = np.array([0, 1, 2, 4, 5, 9])
    figures = 0.02 * rows + dice.normal(0.0, 0.03, 6)
    answer = reference.linregress(rows, figures)
    line = slope(figures, rows)
    assert line.change == pytest.approx(9 * answer.slope)
    assert line.p == pytest.approx(answer.pvalue)


def test_a_level_line_has_no_slope_and_a_perfect_one_no_doubt() -> None:
    rows = np.arange(6)
    level = slope(np.full(6, 0.1 + 0.2), rows)
    assert (level.change, level.p) == (0.0, 1.0)
    perfect = slope(0.25 * rows, rows)
    assert perfect.change == pytest.approx(1.25)
    assert perfect.p == pytest.approx(0.0, abs=1e-12)
