"""Run records from a handful of values: one workload, one phase, one main figure. Synthetic, for known answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fstrial.model.declaration import Column, Declaration, PhaseTitle
from fstrial.model.metric import Direction, Figure, Metric, Sample, Unit
from fstrial.model.plan import Candidate, FilesystemChoice, Plan, StoppingRule, WorkloadChoice
from fstrial.model.record import Environment, RunRecord, RunState, TrialRecord
from fstrial.model.trial import Outcome, PhaseKind, PhaseResult, Trial, TrialResult

__all__ = ["FIGURE", "LOST", "UNREACHED", "Bound", "Gone", "fixed", "run_of"]

FIGURE = Figure("work", "figure")


@dataclass(frozen=True)
class Bound:
    """A run that failed after so long."""

    value: float


@dataclass(frozen=True)
class Gone:
    """A run without a value."""

    outcome: Outcome
    reason: str


LOST = Gone(Outcome.LOST, "the worker vanished")
UNREACHED = Gone(Outcome.FAILED, "a phase before it failed")

Value = float | Bound | Gone


def fixed(blocks: int) -> StoppingRule:
    return StoppingRule(until=None, runs=blocks)


def run_of(
    values: Mapping[str, Sequence[Value]],
    *,
    direction: Direction = Direction.LOWER,
    rule: StoppingRule | None = None,
    aa: bool = False,
    workloads: Sequence[str] = ("load",),
) -> RunRecord:
    """The first name is the baseline; with `aa` the name `blind` is its second appearance. Every workload gets the
    same values. A fixed number of blocks unless a rule is given."""
    blocks = max(map(len, values.values()))
    choices = tuple(FilesystemChoice("ext4", name) for name in values if not (aa and name == "blind"))
    plan = Plan(
        filesystems=choices,
        workloads=tuple(WorkloadChoice(name) for name in workloads),
        targets=("loop:1G",),
        baseline=next(iter(values)),
        rule=fixed(blocks) if rule is None else rule,
        aa=aa,
    )
    candidates = {candidate.label: candidate for candidate in plan.candidates()}
    trials = [
        _trial(candidates[name], WorkloadChoice(workload), block, row[block])
        for block in range(blocks)
        for workload in workloads
        for name, row in values.items()
        if block < len(row)
    ]
    metric = Metric(FIGURE.metric, Unit.SECONDS, direction, "what is compared")
    declared = tuple(
        Declaration(name, "made up", (PhaseTitle("work", "Work"),), (metric,), (Column("Work", FIGURE),), (FIGURE,))
        for name in workloads
    )
    return RunRecord(1, "0" * 32, 0.0, RunState.FINISHED, plan, Environment("0"), declared, tuple(trials))


def _trial(candidate: Candidate, workload: WorkloadChoice, block: int, value: Value) -> TrialRecord:
    trial = Trial(block, block, 0, candidate, workload)
    if isinstance(value, Gone):
        return TrialRecord(trial, TrialResult(value.outcome, "native", 0.0, 1.0, value.reason))
    failed = isinstance(value, Bound)
    outcome = Outcome.FAILED if failed else Outcome.PASSED
    number = value.value if isinstance(value, Bound) else value
    reason = "no space left on device" if failed else ""
    sample = Sample(FIGURE.metric, number, lower_bound=failed)
    phase = PhaseResult("work", PhaseKind.WORKLOAD, outcome, (sample,), reason)
    return TrialRecord(trial, TrialResult(outcome, "native", 0.0, 1.0, reason, (phase,)))
