"""What a reader is told beside the verdicts, and that an ordinary run raises no alarm."""

from __future__ import annotations

import math

import numpy as np

from fakes.records import Fault, make_record
from fakes.values import fixed, run_of
from fstrial.model.analysis import Flag, FlagKind
from fstrial.model.plan import StoppingRule
from fstrial.model.record import RunRecord
from fstrial.model.trial import Outcome
from fstrial.stats.analysis import analyse


def flags(record: RunRecord, kind: FlagKind) -> list[Flag]:
    return [flag for flag in analyse(record).flags if flag.kind is kind]


def noise(blocks: int, filesystems: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, 0.01, (filesystems, blocks))


def run_from(logs: np.ndarray, **rest: object) -> RunRecord:
    names = ("ext4", "xfs", "btrfs", "ext2")
    values = {name: np.exp(row).tolist() for name, row in zip(names, logs, strict=False)}
    return run_of(values, **rest)  # type: ignore[arg-type]


def test_an_ordinary_run_with_a_fixed_number_of_blocks_has_no_flag() -> None:
    assert analyse(run_from(noise(8, 3))).flags == ()


def test_a_stalled_run_is_named_with_its_block_and_kept() -> None:
    logs = noise(8, 3)
    logs[1, 4] += math.log(1.8)
    record = run_from(logs)
    (flag,) = flags(record, FlagKind.OUTLIER)
    assert (flag.filesystem, flag.block) == ("xfs", 4)
    assert "block 5" in flag.text
    assert "×1.77" in flag.text
    assert all(one.blocks == 8 for one in analyse(record).comparisons if one.main)


def test_a_run_that_stands_out_in_three_figures_is_one_flag() -> None:
    record = make_record(blocks=8, noise=0.01)
    assert len(record.declarations[0].main) == 3
    assert not flags(record, FlagKind.OUTLIER)


def test_drift_is_told_once_a_workload_with_its_size() -> None:
    logs = noise(10, 3) + np.linspace(0.0, math.log(1.2), 10)
    (flag,) = flags(run_from(logs), FlagKind.DRIFT)
    assert flag.workload == "load"
    assert "slower over 10 blocks" in flag.text
    assert not flags(run_from(logs), FlagKind.AGEING)


def test_a_machine_that_became_faster_drifted_too() -> None:
    (flag,) = flags(run_from(noise(10, 3) - np.linspace(0.0, 0.2, 10)), FlagKind.DRIFT)
    assert "faster over" in flag.text


def test_less_than_three_percent_is_no_drift() -> None:
    assert not flags(run_from(noise(10, 3) / 100 + np.linspace(0.0, 0.02, 10)), FlagKind.DRIFT)


def test_a_ratio_that_changes_over_the_run_is_an_average() -> None:
    logs = noise(10, 2)
    logs[1] += np.linspace(0.0, 0.3, 10)
    (flag,) = flags(run_from(logs), FlagKind.AGEING)
    assert flag.filesystem == "xfs"
    assert "average" in flag.text


def test_a_phase_below_a_tenth_of_a_second_is_told_once() -> None:
    record = make_record(("ext4", "xfs"), blocks=5)
    assert not flags(record, FlagKind.TOO_SHORT)  # mkfs and mount are short too, but no workload's phase
    short = [one for one in analyse(record).summaries if one.too_short]
    assert {one.figure.phase for one in short} == {"mkfs", "mount", "unmount"}
    assert all(one.figure.metric.endswith("_s") for one in short)


def test_failures_lost_and_skipped_trials_are_told_with_their_reason() -> None:
    faults = [
        Fault("btrfs", block=1),
        Fault("xfs", block=2, outcome=Outcome.LOST, reason="the worker vanished"),
        Fault("ext4", block=0, outcome=Outcome.SKIPPED, reason="no symlinks"),
    ]
    texts = [flag.text for flag in flags(make_record(blocks=5, faults=faults), FlagKind.FAILED)]
    assert texts == [
        "1 of 5 runs of tree on ext4 were skipped: no symlinks.",
        "1 of 5 runs of tree on xfs were lost: the worker vanished.",
        "1 of 5 runs of tree on btrfs failed: delete_all: rm: cannot remove 'copy/linux': Operation not permitted "
        "(exit status 1).",
    ]


def test_ten_comparisons_want_ten_blocks() -> None:
    five = ("ext4", "xfs", "btrfs", "ext3", "ext2")
    (flag,) = flags(make_record(five, blocks=6), FlagKind.FEW_BLOCKS)
    assert "12 main comparisons" in flag.text
    assert not flags(make_record(five, blocks=10), FlagKind.FEW_BLOCKS)
    assert not flags(make_record(five[:4], blocks=6), FlagKind.FEW_BLOCKS)


def test_a_target_too_wide_for_same_is_told_once_and_only_where_it_matters() -> None:
    undecided = np.random.default_rng(3).normal(0.0, 0.1, (3, 6))
    assert len(flags(run_from(undecided, rule=StoppingRule()), FlagKind.WIDE_FOR_SAME)) == 1
    assert not flags(run_from(undecided, rule=StoppingRule(until=0.02)), FlagKind.WIDE_FOR_SAME)
    assert not flags(run_from(undecided, rule=fixed(6)), FlagKind.WIDE_FOR_SAME)
    decided = noise(6, 2) + np.array([[0.0], [0.5]])
    assert not flags(run_from(decided, rule=StoppingRule()), FlagKind.WIDE_FOR_SAME)
