"""When a run may stop, what it says about the blocks still needed, and that it never waits for the impossible."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from fakes.values import LOST, Bound, fixed, run_of
from fstrial.model.analysis import Outlook
from fstrial.model.plan import StoppingRule
from fstrial.stats.analysis import analyse
from fstrial.stats.stopping import blocks_needed, inflation, narrow_enough

UNTIL_5 = StoppingRule()
ONES = [1.0] * 12


def scattered(blocks: int, sigma: float) -> list[float]:
    """Values whose logarithms are `sigma` above and below 0 in turn."""
    return [math.exp(sigma if block % 2 else -sigma) for block in range(blocks)]


def outlook(other: Sequence[object], rule: StoppingRule = UNTIL_5) -> Outlook:
    return analyse(run_of({"ext4": ONES[: len(other)], "xfs": other}, rule=rule)).outlook  # type: ignore[dict-item]


def test_only_a_run_that_stops_by_itself_is_inflated() -> None:
    assert inflation(StoppingRule(until=0.05)) == 1.15
    assert inflation(StoppingRule(until=None, runs=7)) == 1.0
    assert inflation(StoppingRule(until=0.05, runs=7)) == 1.0


def test_the_target_is_a_ratio_not_a_logarithm() -> None:
    assert narrow_enough(np.asarray(math.log(1.0499)), 0.05)
    assert not narrow_enough(np.asarray(0.05), 0.05)


def test_blocks_needed_by_hand() -> None:
    # ln 1.05 = .0488, and with a scatter of .0707 at 10 blocks 2.262 × .0707 / √10 = .0506, at 11 blocks
    # 2.228 × .0707 / √11 = .0475
    assert blocks_needed(0.0707, 0.05, 5, 20) == 11
    assert blocks_needed(0.0707, 0.05, 5, 10) is None
    assert blocks_needed(0.0707, 0.05, 15, 20) == 15
    assert blocks_needed(0.0, 0.05, 2, 20) == 2


@pytest.mark.parametrize("blocks", [0, 1, 4])
def test_before_five_blocks_nothing_is_sure(blocks: int) -> None:
    answer = outlook(ONES[:blocks])
    assert not answer.sure
    assert answer.more_blocks == 5 - blocks
    assert "first look at block 5" in answer.text


def test_sure_as_soon_as_the_interval_is_narrow_from_five_blocks_on() -> None:
    answer = outlook(scattered(6, 0.01))
    assert answer.sure
    assert answer.more_blocks == 0
    assert answer.half_width is not None
    # deviation .01 √(6/5), t(0.975, 5) = 2.5706
    expected = math.expm1(1.15 * 2.5706 * 0.01 * math.sqrt(6 / 5) / math.sqrt(6))
    assert answer.half_width == pytest.approx(expected, rel=1e-4)


def test_about_so_many_more_with_their_range() -> None:
    # scatter .05 √(6/5) × 1.15 = .0630: 2.306 × .0630 / 3 = .0484 at 9, 2.365 × .0630 / √8 = .0527 at 8
    answer = outlook(scattered(6, 0.05))
    assert not answer.sure
    assert answer.more_blocks == 3
    assert answer.text.startswith("About 3 more (1 to 6)")


def test_beyond_the_cap_it_says_what_to_expect_there() -> None:
    # scatter .2 √(6/5) × 1.15 = .2520; t(0.975, 19) = 2.0930; at 20 blocks .1179, which is 12.5 %
    answer = outlook(scattered(6, 0.2))
    assert not answer.reachable
    assert answer.more_blocks is None
    assert answer.text == "±5 % is not reachable in 20 runs; expect ±13 %."


def test_the_widest_comparison_decides() -> None:
    values = {"ext4": ONES[:6], "xfs": scattered(6, 0.001), "btrfs": scattered(6, 0.05)}
    answer = analyse(run_of(values, rule=UNTIL_5)).outlook
    assert answer.more_blocks == 3


def test_the_blind_baseline_is_not_waited_for() -> None:
    values = {"ext4": ONES[:6], "xfs": scattered(6, 0.001), "blind": scattered(6, 0.5)}
    assert analyse(run_of(values, rule=UNTIL_5, aa=True)).outlook.sure


def test_what_can_have_no_interval_is_not_waited_for() -> None:
    assert outlook([LOST] * 6).sure
    both = {"ext4": [Bound(1.0), *ONES[:5]], "xfs": [*ONES[:5], Bound(1.0)]}
    answer = analyse(run_of(both, rule=UNTIL_5)).outlook
    assert answer.sure
    assert "No main comparison" in answer.text


def test_lost_trials_must_be_made_up_for() -> None:
    answer = outlook([1.0, LOST, 1.0, LOST, 1.0, 1.0])
    assert not answer.sure
    assert answer.more_blocks == 1
    assert "xfs has a ratio in 4 blocks" in answer.text


def test_a_fixed_number_of_blocks_ends_there_and_nowhere_else() -> None:
    wide = scattered(6, 0.5)
    assert outlook(wide, fixed(6)).sure
    answer = outlook(wide, fixed(8))
    assert (answer.sure, answer.more_blocks, answer.text) == (False, 2, "2 more of 8.")


def test_a_cap_below_five_is_not_reachable() -> None:
    answer = outlook(ONES[:2], StoppingRule(max_runs=3))
    assert not answer.reachable
    assert "beyond the cap of 3" in answer.text


def test_at_the_cap_the_run_is_not_called_sure() -> None:
    answer = outlook(scattered(6, 0.05), StoppingRule(max_runs=6))
    assert not answer.sure
    assert not answer.reachable
    assert "not reachable in 6 runs; expect ±6.8 %" in answer.text
