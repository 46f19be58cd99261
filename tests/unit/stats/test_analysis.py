"""The whole of `analyse` on records whose answers can be worked out by hand or must hold for any values."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fakes.records import Fault, make_record
from fakes.values import LOST, UNREACHED, Bound, Gone, fixed, run_of
from fstrial.base.errors import DataError
from fstrial.model.analysis import Analysis, Comparison, Method, Verdict
from fstrial.model.metric import Direction, Figure
from fstrial.model.plan import StoppingRule
from fstrial.model.record import RunRecord
from fstrial.model.trial import Outcome
from fstrial.stats.analysis import analyse

STEADY = [1.0, 1.02, 0.99, 1.01, 1.0, 0.98]
SLOWER = [1.31, 1.30, 1.29, 1.33, 1.30, 1.27]


def only(record: RunRecord, filesystem: str = "xfs") -> Comparison:
    """The main comparison of one filesystem."""
    return next(one for one in analyse(record).comparisons if one.main and one.filesystem == filesystem)


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from numbers(part)


def finite(analysis: Analysis) -> bool:
    return all(math.isfinite(number) for number in numbers(msgspec.to_builtins(analysis)))


def test_a_clear_difference_by_hand() -> None:
    # six log ratios; the printed t table has 2.5706 for five degrees of freedom
    one = only(run_of({"ext4": STEADY, "xfs": SLOWER}))
    logs = [math.log(y / x) for x, y in zip(STEADY, SLOWER, strict=True)]
    mean = sum(logs) / 6
    error = math.sqrt(sum((x - mean) ** 2 for x in logs) / 5 / 6)
    assert one.method is Method.PAIRED_T
    assert one.ratio == pytest.approx(math.exp(mean))
    assert one.interval is not None
    assert one.interval.low == pytest.approx(math.exp(mean - 2.570582 * error), rel=1e-6)
    assert one.interval.high == pytest.approx(math.exp(mean + 2.570582 * error), rel=1e-6)
    assert one.verdict is Verdict.SLOWER


@pytest.mark.parametrize(
    ("direction", "verdict"),
    [(Direction.LOWER, Verdict.SLOWER), (Direction.HIGHER, Verdict.FASTER), (Direction.NEITHER, None)],
)
def test_the_direction_of_the_metric_decides_what_more_means(direction: Direction, verdict: Verdict | None) -> None:
    one = only(run_of({"ext4": STEADY, "xfs": SLOWER}, direction=direction))
    assert one.verdict is verdict
    assert one.ratio is not None
    assert one.ratio > 1


def test_nearly_equal_filesystems_are_the_same() -> None:
    close = [value * factor for value, factor in zip(STEADY, (1.001, 0.999, 1.0, 1.002, 0.998, 1.0), strict=True)]
    assert only(run_of({"ext4": STEADY, "xfs": close})).verdict is Verdict.SAME


def test_a_difference_inside_the_margin_is_the_same_however_sure_it_is() -> None:
    one = only(run_of({"ext4": STEADY, "xfs": [1.01 * value for value in STEADY]}))
    assert one.p is not None
    assert one.p < 1e-9
    assert one.verdict is Verdict.SAME


def test_wide_scatter_cannot_tell() -> None:
    assert only(run_of({"ext4": STEADY, "xfs": [0.5, 2.0, 0.9, 1.4, 0.7, 1.1]})).verdict is Verdict.CANNOT_TELL


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 4, 5])
def test_how_much_is_said_at_each_number_of_blocks(blocks: int) -> None:
    record = run_of({"ext4": STEADY[:blocks], "xfs": SLOWER[:blocks]}, rule=fixed(5))
    analysis, one = analyse(record), only(record)
    assert analysis.blocks == blocks
    assert (one.ratio is None) == (blocks == 0)
    assert (one.interval is None) == (blocks < 3)
    assert one.verdict is (Verdict.SLOWER if blocks == 5 else Verdict.TOO_FEW)
    assert (one.method is Method.COUNTS) == (blocks == 0)
    assert bool(one.why) == (blocks < 5)
    assert finite(analysis)


def test_constant_ratios_give_a_point_and_a_verdict() -> None:
    one = only(run_of({"ext4": [1.0, 2.0, 3.0, 4.0, 5.0], "xfs": [2.0, 4.0, 6.0, 8.0, 10.0]}))
    assert one.interval is not None
    assert (one.interval.low, one.interval.high) == pytest.approx((2.0, 2.0))
    assert one.verdict is Verdict.SLOWER


def test_identical_values_are_the_same() -> None:
    one = only(run_of({"ext4": [3.0] * 9, "xfs": [3.0] * 9}))
    assert (one.ratio, one.p, one.verdict) == (1.0, 1.0, Verdict.SAME)


def test_a_stall_in_ten_blocks_brings_the_trimmed_t() -> None:
    dice = np.random.default_rng(1)
    base = (1.0 + 0.01 * dice.standard_normal(10)).tolist()
    stalled = [1.2 * value for value in base]
    stalled[4] *= 3.0
    one = only(run_of({"ext4": base, "xfs": stalled}))
    assert one.method is Method.TRIMMED_T
    assert one.ratio == pytest.approx(1.2)
    assert one.verdict is Verdict.SLOWER


def test_only_blocks_where_both_have_a_result_count() -> None:
    one = only(run_of({"ext4": [1.0, LOST, 1.0, 1.0, 1.1, 0.9], "xfs": [2.0, 2.0, LOST, 2.0, 2.2, 1.8]}))
    assert one.blocks == 4
    assert one.ratio == pytest.approx(2.0)
    assert one.verdict is Verdict.TOO_FEW


# failures


def test_one_failed_run_leaves_one_side_of_the_ratio() -> None:
    one = only(run_of({"ext4": STEADY, "xfs": [1.31, 1.30, Bound(1.25), 1.33, 1.30, 1.27]}))
    assert one.method is Method.ONE_SIDED
    assert one.failed == 1
    assert one.ratio is None
    assert one.interval is not None
    assert one.interval.low is not None
    assert one.interval.low > 1.0
    assert one.interval.high is None
    assert one.verdict is Verdict.SLOWER
    assert "failed 1 of 6" in one.why


def test_a_filesystem_that_fails_is_neither_faster_nor_the_same() -> None:
    half = [0.5 * value for value in STEADY]
    assert only(run_of({"ext4": STEADY, "xfs": [Bound(0.4), *half[1:]]})).verdict is Verdict.CANNOT_TELL
    assert only(run_of({"ext4": STEADY, "xfs": [*STEADY[:5], Bound(0.98)]})).verdict is Verdict.CANNOT_TELL


def test_a_baseline_that_fails_is_mirrored() -> None:
    bounds = [Bound(1.31), *SLOWER[1:]]
    faster = only(run_of({"ext4": bounds, "xfs": STEADY}))
    assert faster.verdict is Verdict.FASTER
    assert faster.interval is not None
    assert faster.interval.low is None
    assert faster.interval.high is not None
    assert faster.interval.high < 1.0
    assert faster.baseline_failed == 1
    slow = [3.0 * value for value in STEADY]
    assert only(run_of({"ext4": bounds, "xfs": slow})).verdict is Verdict.CANNOT_TELL


def test_a_bound_on_a_rate_flatters_nobody() -> None:
    record = run_of({"ext4": STEADY, "xfs": [Bound(1.3), *SLOWER[1:]]}, direction=Direction.HIGHER)
    assert only(record).verdict is Verdict.CANNOT_TELL


def test_when_both_fail_only_counts_are_given() -> None:
    one = only(run_of({"ext4": [Bound(1.0), *STEADY[1:]], "xfs": [*SLOWER[:5], Bound(1.3)]}))
    assert (one.method, one.ratio, one.interval) == (Method.COUNTS, None, None)
    assert (one.failed, one.baseline_failed) == (1, 1)
    assert one.verdict is Verdict.CANNOT_TELL


def test_all_runs_failed_after_the_same_long_time() -> None:
    record = run_of({"ext4": STEADY, "xfs": [Bound(194.0 + block) for block in range(6)]})
    one, cell = only(record), analyse(record).summaries[1]
    assert one.verdict is Verdict.SLOWER
    assert one.failed == 6
    assert (cell.values, cell.failed, cell.runs, len(cell.bounds)) == ((), 6, 6, 6)
    assert cell.geometric_mean is not None
    assert 194.0 < cell.geometric_mean < 199.0


def test_a_phase_never_reached_is_a_failure_too() -> None:
    one = only(run_of({"ext4": STEADY, "xfs": [UNREACHED, *(0.5 * value for value in STEADY[1:])]}))
    assert (one.blocks, one.failed, one.method) == (5, 1, Method.ONE_SIDED)
    assert one.verdict is Verdict.CANNOT_TELL


def test_a_failure_in_a_later_phase_leaves_the_earlier_ones_alone() -> None:
    record = make_record(blocks=6, faults=[Fault("btrfs", "delete_all", block=2)], rule=fixed(6))
    by_phase = {one.figure.phase: one for one in analyse(record).comparisons if one.main and one.filesystem == "btrfs"}
    assert by_phase["copy_in"].method is Method.PAIRED_T
    assert by_phase["delete_all"].method is Method.ONE_SIDED
    assert by_phase["total"].method is Method.ONE_SIDED


def test_a_trial_that_ended_wrong_after_its_work_is_never_flattered() -> None:
    record = make_record(("ntfs-3g", "ext4"), blocks=6, rule=fixed(6))
    trials = tuple(
        msgspec.structs.replace(
            one, result=msgspec.structs.replace(one.result, outcome=Outcome.FAILED, reason="fsck.ext4 says damaged")
        )
        if one.trial.candidate.label == "ext4" and one.trial.block == 3
        else one
        for one in record.trials
    )
    mains = [one for one in analyse(msgspec.structs.replace(record, trials=trials)).comparisons if one.main]
    assert {one.verdict for one in mains} == {Verdict.CANNOT_TELL}
    assert {one.failed for one in mains} == {1}


def test_all_lost_says_why_and_gives_no_verdict() -> None:
    record = run_of({"ext4": STEADY, "xfs": [LOST] * 6})
    one, cell = only(record), analyse(record).summaries[1]
    assert (one.method, one.ratio, one.verdict) == (Method.COUNTS, None, Verdict.TOO_FEW)
    assert "the worker vanished" in one.why
    assert (cell.geometric_mean, cell.missing, cell.runs) == (None, "the worker vanished", 6)


def test_a_zero_makes_no_ratio_and_says_so() -> None:
    record = run_of({"ext4": [0.0, 1.0, 1.0, 1.0, 1.0], "xfs": STEADY[:5]})
    one = only(record)
    assert (one.method, one.ratio, one.verdict) == (Method.COUNTS, None, Verdict.TOO_FEW)
    assert "not above 0" in one.why
    assert analyse(record).summaries[0].geometric_mean is None
    assert "not above 0" in analyse(record).summaries[0].missing


def test_the_mean_of_zeros_is_zero() -> None:
    assert analyse(run_of({"ext4": [0.0] * 5, "xfs": STEADY[:5]})).summaries[0].geometric_mean == 0.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_what_is_no_time_at_all_makes_no_ratio(value: float) -> None:
    analysis = analyse(run_of({"ext4": [1.0, 1.0, 1.0, 1.0, value], "xfs": STEADY[:5]}))
    assert finite(analysis)
    assert analysis.comparisons[0].verdict is Verdict.TOO_FEW


# the family


def test_the_family_is_every_workload_filesystem_and_main_figure_but_not_the_blind_baseline() -> None:
    analysis = analyse(make_record(("ext4", "xfs", "btrfs"), workloads=("tree", "copy"), aa=True))
    assert analysis.main_comparisons == 2 * 2 * 3
    blind = [one for one in analysis.comparisons if one.aa]
    assert {one.filesystem for one in blind} == {"blind"}
    assert sum(one.main for one in blind) == 2 * 3
    for one in blind:
        assert (one.verdict, one.adjusted, one.p_adjusted) == (None, None, None)
        assert one.interval is not None or one.why


def test_a_missing_comparison_still_counts_in_the_family() -> None:
    two = run_of({"ext4": STEADY, "xfs": SLOWER, "btrfs": [LOST] * 6})
    alone = only(run_of({"ext4": STEADY, "xfs": SLOWER}))
    assert alone.p is not None
    assert only(two).p_adjusted == pytest.approx(2 * alone.p)


def test_other_figures_carry_no_verdict_but_say_whether_one_is_excluded() -> None:
    others = [one for one in analyse(make_record(blocks=8, rule=fixed(8))).comparisons if not one.main]
    assert others
    assert all(one.verdict is None and one.adjusted is None for one in others)
    excluding = [one for one in others if one.interval and one.interval.low and one.interval.low > 1]
    assert excluding
    assert all(one.uncorrected for one in excluding)


def test_summaries_hold_every_standard_figure_of_every_phase_once() -> None:
    analysis = analyse(make_record(("ext4", "xfs")))
    keys = [(one.filesystem, one.figure) for one in analysis.summaries]
    assert len(keys) == len(set(keys))
    for phase in ("mkfs", "mount", "copy_in", "delete_all", "unmount", "total"):
        assert ("xfs", Figure(phase, "device_write_bytes")) in keys
    assert ("ext4", Figure("disk_usage", "used_bytes")) in keys


def test_a_single_filesystem_has_summaries_and_nothing_to_compare() -> None:
    analysis = analyse(make_record(("ext4",)))
    assert analysis.summaries
    assert (analysis.comparisons, analysis.main_comparisons) == ((), 0)
    assert analysis.outlook.sure


def test_a_run_without_any_trial_is_empty_not_wrong() -> None:
    analysis = analyse(make_record(blocks=0))
    assert analysis.blocks == 0
    assert finite(analysis)
    assert all(one.geometric_mean is None and one.missing for one in analysis.summaries)


def test_a_baseline_that_is_no_filesystem_of_the_run_is_damaged_data() -> None:
    record = run_of({"ext4": STEADY, "xfs": SLOWER})
    strange = msgspec.structs.replace(record, plan=msgspec.structs.replace(record.plan, baseline="zfs"))
    with pytest.raises(DataError, match="zfs"):
        analyse(strange)


def test_a_filesystem_that_is_skipped_is_not_waited_for() -> None:
    skipped = Gone(Outcome.SKIPPED, "no symlinks")
    assert analyse(run_of({"ext4": STEADY, "xfs": SLOWER, "vfat": [skipped]})).blocks == 6


def test_blocks_count_when_every_filesystem_had_its_trial() -> None:
    record = run_of({"ext4": STEADY, "xfs": SLOWER[:4]}, rule=fixed(6))
    assert analyse(record).blocks == 4


def test_intervals_of_an_until_run_are_wider() -> None:
    values = {"ext4": STEADY, "xfs": SLOWER}
    plain, until = only(run_of(values)), only(run_of(values, rule=StoppingRule()))
    assert plain.interval is not None
    assert until.interval is not None
    assert plain.interval.high is not None
    assert until.interval.high is not None
    assert plain.ratio is not None
    widening = math.log(until.interval.high / plain.ratio) / math.log(plain.interval.high / plain.ratio)
    assert widening == pytest.approx(1.15)


# what must hold for any values

times = st.lists(
    st.tuples(st.floats(2**-10, 2**17, width=32), st.floats(2**-10, 2**17, width=32)), min_size=3, max_size=14
)
fates = st.sampled_from(["passed", "bound", "unreached", "lost"])


def logs(one: Comparison) -> tuple[float, float, float]:
    assert one.ratio is not None
    assert one.interval is not None
    assert one.interval.low is not None
    assert one.interval.high is not None
    return math.log(one.ratio), math.log(one.interval.low), math.log(one.interval.high)


@given(times, st.floats(1e-3, 1e3))
def test_another_unit_changes_nothing(pairs: list[tuple[float, float]], factor: float) -> None:
    base, other = zip(*pairs, strict=True)
    one = only(run_of({"ext4": base, "xfs": other}))
    scaled = only(run_of({"ext4": [factor * value for value in base], "xfs": [factor * value for value in other]}))
    assume(one.method is scaled.method)  # a block exactly at the limit may fall on either side of it
    assert logs(scaled) == pytest.approx(logs(one), rel=1e-6, abs=1e-9)


@given(times)
def test_exchanging_the_two_inverts_ratio_and_interval(pairs: list[tuple[float, float]]) -> None:
    base, other = zip(*pairs, strict=True)
    there, back = only(run_of({"a": base, "xfs": other})), only(run_of({"a": other, "xfs": base}))
    ratio, low, high = logs(there)
    assert logs(back) == pytest.approx((-ratio, -high, -low), rel=1e-9, abs=1e-9)
    opposite = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    assert there.verdict is not None
    assert back.verdict is opposite.get(there.verdict, there.verdict)


@given(times, st.randoms(use_true_random=False))
def test_the_order_of_blocks_changes_nothing(pairs: list[tuple[float, float]], dice: st.DrawFn) -> None:
    shuffled = list(pairs)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (
        only(run_of(dict(zip(("ext4", "xfs"), zip(*some, strict=True), strict=True)))) for some in (pairs, shuffled)
    )
    assert logs(other) == pytest.approx(logs(one), rel=1e-9, abs=1e-9)
    assert other.verdict is one.verdict


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(0.1, 1.0), fates, fates), min_size=0, max_size=9))
def test_a_filesystem_that_failed_is_never_called_faster_or_the_same(
    rows: list[tuple[float, float, str, str]],
) -> None:
    def value(time_s: float, fate: str) -> object:
        return {"passed": time_s, "bound": Bound(time_s), "unreached": UNREACHED, "lost": LOST}[fate]

    record = run_of(
        {
            "ext4": [value(base, fate) for base, _, fate, _ in rows],  # type: ignore[misc]
            "xfs": [value(other, fate) for _, other, _, fate in rows],  # type: ignore[misc]
        },
        rule=fixed(9),
    )
    analysis, one = analyse(record), only(record)
    assert finite(analysis)
    assert one.failed == sum(fate in ("bound", "unreached") for *_, fate in rows)
    if one.failed:
        assert one.verdict in (Verdict.SLOWER, Verdict.CANNOT_TELL, Verdict.TOO_FEW)
    if one.baseline_failed:
        assert one.verdict in (Verdict.FASTER, Verdict.CANNOT_TELL, Verdict.TOO_FEW)
    if one.failed and one.baseline_failed:
        assert one.verdict in (Verdict.CANNOT_TELL, Verdict.TOO_FEW)


@given(st.lists(st.lists(st.floats(0.9, 1.2), min_size=4, max_size=4), min_size=5, max_size=12))
def test_adjusted_intervals_agree_with_the_verdicts(blocks: list[list[float]]) -> None:
    values = dict(zip(("ext4", "a", "b", "c"), (list(row) for row in zip(*blocks, strict=True)), strict=True))
    for one in analyse(run_of(values)).comparisons:
        if not one.main or one.verdict is Verdict.SAME:
            continue
        assert one.adjusted is not None
        assert one.adjusted.low is not None
        assert one.adjusted.high is not None
        assert one.p_adjusted is not None
        if abs(one.p_adjusted - 0.05) > 1e-9:
            excludes = one.adjusted.low > 1.0 or one.adjusted.high < 1.0
            assert excludes == (one.verdict is not Verdict.CANNOT_TELL)


def test_ten_thousand_trials_take_well_under_a_second() -> None:
    record = make_record(("ext4", "ext3", "ext2", "xfs", "btrfs"), blocks=2000)
    took_s = []
    for _ in range(2):
        begin = time.process_time()
        assert analyse(record).blocks == 2000
        took_s.append(time.process_time() - begin)
    assert min(took_s) < 1.5  # 0.4 s on an idle machine
