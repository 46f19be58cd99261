"""A whole plan through the session with a fake host and clock: order, stopping, budget, losses, resuming."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import pytest

from fakes.host import FakeHost, lost
from fstrial.base.errors import MachineError
from fstrial.model.declaration import Column, Declaration, PhaseTitle
from fstrial.model.metric import Figure
from fstrial.model.plan import FilesystemChoice, Plan, StoppingRule, WorkloadChoice
from fstrial.model.record import Environment, RunRecord, RunState, TrialRecord
from fstrial.model.trial import Outcome, PhaseKind, PhaseResult, Trial, TrialKind, TrialResult
from fstrial.model.wire import Start
from fstrial.planning.schedule import blocks
from fstrial.run.session import Ending, Silent, run_session

TOTAL = Figure("total", "durable_s")
DECLARATION = Declaration("tree", "", (PhaseTitle("copy_in", "Copy in"),), (), (Column("Total", TOTAL),), (TOTAL,))


def _plan(*names: str, **changes: object) -> Plan:
    plan = Plan(
        tuple(FilesystemChoice(name, name) for name in names),
        (WorkloadChoice("tree"),),
        ("loop:1G",),
        names[0],
        StoppingRule(until=None, runs=5),
        seed=7,
    )
    return msgspec.structs.replace(plan, **changes)


@dataclass
class Kept:
    """A store in memory."""

    record: RunRecord
    finished: list[tuple[RunState, str]] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan) -> Kept:
        return cls(RunRecord(1, "u", 0.0, RunState.RUNNING, plan, Environment("0"), (DECLARATION,)))

    def add(self, run_id: int, trial: Trial, result: TrialResult) -> None:
        self.record = msgspec.structs.replace(self.record, trials=(*self.record.trials, TrialRecord(trial, result)))

    def load(self, run_id: int) -> RunRecord:
        return self.record

    def finish(self, run_id: int, state: RunState, reason: str) -> None:
        self.finished.append((state, reason))


def _run(plan: Plan, host: FakeHost, kept: Kept | None = None) -> tuple[Ending, Kept]:
    kept = kept or Kept.of(plan)
    start = Start(plan, (1 << 30,), (), "/nowhere")
    return run_session(1, start, host, kept, Silent(), clock=host.now), kept


def test_content_is_verified_once_a_filesystem_before_anything_is_measured() -> None:
    host = FakeHost()
    _run(_plan("ext4", "xfs"), host)
    assert host.log[:3] == ["worker begins", "verification ext4", "verification xfs"]
    assert all(line.startswith("measured") for line in host.log[3:-1])
    assert len(host.log) == 1 + 2 + 10 + 1


def test_blocks_run_in_the_order_that_the_seed_gives() -> None:
    plan = _plan("ext4", "xfs", "btrfs", verify=False)
    host = FakeHost()
    _run(plan, host)
    wanted = [
        f"measured {trial.candidate.label}"
        for _, block in zip(range(5), blocks(plan, 7), strict=False)
        for trial in block
    ]
    assert host.log[1:-1] == wanted


def test_a_quiet_difference_stops_as_soon_as_it_is_sure() -> None:
    plan = _plan("ext4", "xfs", rule=StoppingRule(until=0.05, max_runs=20, budget_s=None))
    ending, kept = _run(plan, FakeHost({"xfs": 1.3}, noise=0.005))
    assert ending.state is RunState.FINISHED
    assert "sure" in ending.reason
    assert len(kept.record.measured()) == 2 * 5


def test_a_noisy_one_goes_on_to_the_last_block_allowed() -> None:
    plan = _plan("ext4", "xfs", rule=StoppingRule(until=0.01, max_runs=8, budget_s=None))
    ending, kept = _run(plan, FakeHost(noise=0.3))
    assert "--max-runs" in ending.reason
    assert len(kept.record.measured()) == 2 * 8


def test_no_block_begins_that_the_budget_does_not_cover() -> None:
    plan = _plan("ext4", "xfs", verify=False, rule=StoppingRule(until=0.01, max_runs=20, budget_s=7.0))
    host = FakeHost(noise=0.3)
    ending, kept = _run(plan, host)
    assert "budget" in ending.reason
    assert host.clock_s <= 7.0
    assert len(kept.record.measured()) == 2 * 3


def test_wrong_content_stops_the_run_before_it_is_measured() -> None:
    def corrupt(trial: Trial) -> TrialResult:
        return TrialResult(Outcome.FAILED, "fake", 0, 1, reason="wrong", wrong_content="a/b: byte 7")

    ending, kept = _run(_plan("ext4", "xfs"), FakeHost(answers={2: corrupt}))
    assert ending.state is RunState.FAILED
    assert ending.content == "a/b: byte 7"
    assert kept.record.measured() == ()
    assert kept.finished[-1][0] is RunState.FAILED


def test_a_lost_worker_loses_its_trial_alone() -> None:
    host = FakeHost(answers={5: lost})
    _, kept = _run(_plan("ext4", "xfs"), host)
    outcomes = [one.result.outcome for one in kept.record.trials]
    assert outcomes.count(Outcome.LOST) == 1
    assert len(outcomes) == 12
    assert host.log.count("worker begins") == 2


def test_three_workers_lost_in_a_row_end_the_run() -> None:
    with pytest.raises(MachineError, match="3 workers in a row"):
        _run(_plan("ext4", "xfs"), FakeHost(answers={5: lost, 6: lost, 7: lost}))


def test_a_filesystem_that_cannot_be_mounted_ends_the_run_at_once() -> None:
    def refuse(trial: Trial) -> TrialResult:
        phase = PhaseResult("mount", PhaseKind.HARNESS, Outcome.FAILED, (), "EINVAL: Invalid argument")
        return TrialResult(Outcome.FAILED, "fake", 0, 1, reason="mount: EINVAL", phases=(phase,))

    kept = Kept.of(_plan("ext4", "xfs"))
    with pytest.raises(MachineError, match="mount failed"):
        _run(_plan("ext4", "xfs"), FakeHost(answers={1: refuse}), kept)
    assert kept.finished[-1][0] is RunState.FAILED


def test_a_resumed_run_does_exactly_what_was_missing() -> None:
    plan = _plan("ext4", "xfs")
    whole = FakeHost()
    _, complete = _run(plan, whole)
    kept = Kept.of(plan)
    kept.record = msgspec.structs.replace(kept.record, trials=complete.record.trials[:6])
    rest = FakeHost()
    _run(plan, rest, kept)
    assert rest.log[1:-1] == whole.log[7:-1]
    assert [one.trial.number for one in kept.record.trials] == list(range(1, 13))


def test_ctrl_c_marks_the_run_as_interrupted_and_ends_the_worker() -> None:
    def interrupt(trial: Trial) -> TrialResult:
        raise KeyboardInterrupt

    host, kept = FakeHost(answers={4: interrupt}), Kept.of(_plan("ext4", "xfs"))
    with pytest.raises(KeyboardInterrupt):
        _run(_plan("ext4", "xfs"), host, kept)
    assert kept.finished == [(RunState.INTERRUPTED, "interrupted")]
    assert len(kept.record.trials) == 3
    assert host.log[-1] == "worker ends"


def test_what_the_worker_said_when_ready_stands_in_each_result() -> None:
    _, kept = _run(_plan("ext4", "xfs"), FakeHost())
    assert all("staged by a fake" in one.result.notes[0].text for one in kept.record.trials)
    assert {one.trial.kind for one in kept.record.trials} == {TrialKind.VERIFICATION, TrialKind.MEASURED}
