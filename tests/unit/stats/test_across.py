"""Two runs against each other: Welch's t from outside, and what may be compared at all."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
import scipy.stats

from fakes.records import Fault, make_record
from fstrial.model.analysis import Method, Verdict
from fstrial.model.metric import Figure
from fstrial.model.record import RunRecord
from fstrial.stats.across import compare_runs, differences, welch


def test_welch_agrees_with_scipy_on_logarithms() -> None:
    first, second = np.array([4.1, 4.4, 3.9, 4.0, 4.2]), np.array([4.9, 5.4, 4.8, 6.0, 5.1, 5.5, 4.7])
    found = welch(first, second)
    wanted = scipy.stats.ttest_ind(np.log(second), np.log(first), equal_var=False)
    assert float(found.p()) == pytest.approx(wanted.pvalue)
    low, high = wanted.confidence_interval(0.95)
    assert float(found.centre - found.half_width()) == pytest.approx(low)
    assert float(found.centre + found.half_width()) == pytest.approx(high)


def test_welch_of_constant_samples_is_the_point() -> None:
    found = welch(np.array([2.0, 2.0]), np.array([4.0, 4.0]))
    assert float(found.half_width()) == 0.0
    assert np.exp(float(found.centre)) == pytest.approx(2.0)


def _total(record: RunRecord, other: RunRecord, filesystem: str) -> Verdict | None:
    return next(
        one.verdict
        for one in compare_runs(record, other).comparisons
        if one.filesystem == filesystem and one.figure == Figure("total", "durable_s")
    )


def test_a_run_against_itself_is_the_same_or_cannot_be_told() -> None:
    record = make_record(blocks=20, seed=3)
    assert _total(record, record, "ext4") in (Verdict.SAME, Verdict.CANNOT_TELL)


def test_failed_trials_give_counts_and_no_verdict_of_speed() -> None:
    sound = make_record(blocks=6, seed=1)
    broken = make_record(blocks=6, seed=2, faults=(Fault("xfs", "copy_in"),))
    across = compare_runs(sound, broken)
    one = next(one for one in across.comparisons if one.filesystem == "xfs" and one.figure.phase == "copy_in")
    assert one.method is Method.COUNTS
    assert one.verdict is Verdict.CANNOT_TELL
    assert "now" in one.why


def test_what_only_one_run_has_is_named_not_compared() -> None:
    across = compare_runs(make_record(("ext4", "xfs"), 5), make_record(("ext4", "btrfs"), 5))
    assert across.only_first == ("xfs, tree",)
    assert across.only_second == ("btrfs, tree",)
    assert {one.filesystem for one in across.comparisons} == {"ext4"}


def test_facts_that_change_what_figures_mean_are_found() -> None:
    record = make_record(blocks=5)
    assert differences(record, record) == {}
    other = msgspec.structs.replace(
        record,
        environment=msgspec.structs.replace(record.environment, kernel="2.6.13"),
        plan=msgspec.structs.replace(record.plan, memory_bytes=1 << 30),
    )
    assert set(differences(record, other)) == {"kernel", "memory"}
    assert differences(record, other)["memory"] == (str(record.plan.memory_bytes), str(1 << 30))
