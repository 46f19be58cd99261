"""Student's t and the trimmed t against published tables, a published data set, and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats as reference

from fstrial.stats.estimators import estimate, paired_t, stands_out, trimmed_t

# Hours of sleep gained, the difference of two drugs in ten patients: Student (1908), section IX
SLEEP = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
STEADY = np.array([0.01, -0.02, 0.015, 0.0, -0.01, 0.02, -0.015, 0.005])

some_ratios = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(5, 24)), elements=st.floats(-2.0, 2.0, width=32)
)


def test_students_own_data_give_the_t_and_interval_that_textbooks_print() -> None:
    found = paired_t(SLEEP)
    assert float(found.centre / found.error) == pytest.approx(4.0621, abs=5e-5)
    assert float(found.p()) == pytest.approx(0.002833, abs=5e-7)
    half = float(found.half_width())
    assert (1.58 - half, 1.58 + half) == pytest.approx((0.7001142, 2.4598858), abs=5e-7)


@pytest.mark.parametrize(("blocks", "quantile"), [(3, 4.303), (5, 2.776), (10, 2.262), (20, 2.093)])
def test_half_widths_use_the_quantiles_of_the_printed_t_table(blocks: int, quantile: float) -> None:
    found = paired_t(np.linspace(0.0, 1.0, blocks))
    assert float(found.half_width() / found.error) == pytest.approx(quantile, abs=5e-4)


def test_trimming_ten_values_by_hand() -> None:
    # sorted: 0 .8 | 1 1.2 1.3 1.3 1.4 1.8 | 2.4 4.6; six are left, and their sum is 8.
    # With the ends pulled in: three of 1, 1.2, two of 1.3, 1.4, three of 1.8; mean 1.36, sum of squares about it
    # 3 × .1296 + .0256 + 2 × .0036 + .0016 + 3 × .1936 = 1.004
    found = trimmed_t(SLEEP)
    assert float(found.centre) == pytest.approx(8.0 / 6.0)
    assert float(found.error) == pytest.approx(np.sqrt(1.004 / (6 * 5)) * 1.051)
    assert float(found.freedom) == 5.0


@given(some_ratios)
def test_paired_t_is_scipys_one_sample_t(ratios: np.ndarray) -> None:
    if (ratios.std(axis=-1) < 1e-6).any():
        return
    found = paired_t(ratios)
    answer = reference.ttest_1samp(ratios, 0.0, axis=-1)
    assert found.p() == pytest.approx(answer.pvalue, rel=1e-9)
    low = answer.confidence_interval(0.95).low
    assert found.centre - found.half_width() == pytest.approx(low, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("blocks", "widening"), [(8, 1.028), (10, 1.051), (15, 1.035), (17, 1.02), (30, 1.02), (40, 1.02)]
)
def test_trimmed_t_is_scipys_trimmed_test_against_a_constant_but_for_the_widening(blocks: int, widening: float) -> None:
    ratios = np.random.default_rng(blocks).standard_t(3, blocks)
    answer = reference.ttest_ind(ratios, np.zeros(blocks), equal_var=False, trim=0.2)
    found = trimmed_t(ratios)
    assert float(found.centre / found.error) * widening == pytest.approx(float(answer.statistic))
    assert float(found.freedom) == pytest.approx(float(answer.df))


@given(some_ratios)
def test_many_at_once_are_what_each_is_alone(ratios: np.ndarray) -> None:
    together = estimate(ratios)
    for row, alone in enumerate(map(estimate, ratios)):
        assert float(together.centre[row]) == pytest.approx(float(alone.centre), abs=1e-12)
        assert float(together.error[row]) == pytest.approx(float(alone.error), abs=1e-12)
        assert bool(together.trimmed[row]) == bool(alone.trimmed)


def test_a_far_out_block_brings_the_trimmed_t_from_eight_blocks_on() -> None:
    stalled = np.append(STEADY[:7], np.log(2.0))
    assert estimate(stalled).trimmed
    assert not estimate(stalled[1:]).trimmed
    assert not estimate(STEADY).trimmed
    assert float(estimate(stalled).half_width()) < float(paired_t(stalled).half_width()) / 3


def test_a_block_within_fifteen_percent_is_never_far_out_however_still_the_others() -> None:
    still = np.append(np.zeros(7), np.log(1.149))
    assert not stands_out(still)
    assert stands_out(np.append(np.zeros(7), np.log(1.151)))


def test_inflation_widens_error_and_p_alike() -> None:
    plain, wide = estimate(SLEEP), estimate(SLEEP, 1.15)
    assert float(wide.error / plain.error) == pytest.approx(1.15)
    assert float(wide.p()) > float(plain.p())


def test_without_scatter_the_interval_is_the_point_and_p_is_zero_or_one() -> None:
    assert float(paired_t(np.zeros(5)).p()) == 1.0
    half = paired_t(np.full(5, 0.25))
    assert float(half.half_width()) == 0.0
    assert float(half.p()) == 0.0
