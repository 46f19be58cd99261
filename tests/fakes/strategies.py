"""Hypothesis strategies: plans, results and run records with every field in play."""

from __future__ import annotations

from hypothesis import strategies as st

from fakes.records import declaration, environment
from fstrial.model.metric import PHASE_METRICS, Sample
from fstrial.model.plan import FilesystemChoice, Plan, Setting, StoppingRule, SyncPolicy, WorkloadChoice
from fstrial.model.record import RunRecord, RunState, TrialRecord
from fstrial.model.trial import (
    CacheState,
    Command,
    DeviceFacts,
    Note,
    NoteKind,
    Outcome,
    PhaseKind,
    PhaseResult,
    SpaceReading,
    Trial,
    TrialKind,
    TrialResult,
)

__all__ = ["plans", "run_records", "trial_results"]

words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
names = st.text("abcdefgh-_0123456789", min_size=1, max_size=10)
sizes = st.none() | st.integers(0, 2**53)
seconds = st.floats(0, 1e9)

_metrics = st.sampled_from([metric.name for metric in PHASE_METRICS])


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    metric = draw(_metrics)
    if draw(st.booleans()):
        return Sample(metric, None, draw(words))
    return Sample(metric, draw(st.floats(allow_nan=False, allow_infinity=False)), "", draw(st.booleans()))


def _several_samples() -> st.SearchStrategy[tuple[Sample, ...]]:
    return st.lists(samples(), max_size=4, unique_by=lambda sample: sample.metric).map(tuple)


def phase_results() -> st.SearchStrategy[tuple[PhaseResult, ...]]:
    one = st.builds(
        PhaseResult,
        name=names,
        kind=st.sampled_from(PhaseKind),
        outcome=st.sampled_from(Outcome),
        samples=_several_samples(),
        reason=words,
        cache=st.sampled_from(CacheState),
    )
    return st.lists(one, max_size=3, unique_by=lambda phase: phase.name).map(tuple)


def trial_results() -> st.SearchStrategy[TrialResult]:
    commands = st.builds(
        Command, names, st.lists(words, min_size=1, max_size=3).map(tuple), st.integers(-64, 255), seconds, words
    )
    return st.builds(
        TrialResult,
        outcome=st.sampled_from(Outcome),
        host=names,
        started_at=seconds,
        elapsed_s=seconds,
        reason=words,
        phases=phase_results(),
        space=st.lists(st.builds(SpaceReading, words, sizes, sizes, sizes, sizes, sizes, sizes), max_size=2).map(tuple),
        commands=st.lists(commands, max_size=2).map(tuple),
        notes=st.lists(st.builds(Note, st.sampled_from(NoteKind), words), max_size=2).map(tuple),
        context=_several_samples(),
        device=st.none() | st.builds(DeviceFacts, target=words, kind=words, size_bytes=sizes, direct_io=st.booleans()),
        wrong_content=words,
    )


def _rules() -> st.SearchStrategy[StoppingRule]:
    budgets = st.none() | st.integers(1, 10**6).map(float)
    until = st.builds(StoppingRule, st.sampled_from([0.01, 0.025, 0.05, 0.5]), st.none(), st.integers(1, 99), budgets)
    runs = st.builds(StoppingRule, st.none(), st.integers(1, 99), st.integers(1, 99), budgets)
    return until | runs


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    option_words = st.lists(words.filter(bool), max_size=2).map(tuple)
    choices = draw(
        st.lists(
            st.builds(FilesystemChoice, names, words.filter(bool), option_words, option_words),
            min_size=1,
            max_size=3,
            unique_by=lambda choice: choice.label,
        )
    )
    settings = st.lists(st.builds(Setting, names, words), max_size=2, unique_by=lambda setting: setting.key).map(tuple)
    workloads = draw(
        st.lists(st.builds(WorkloadChoice, names, settings), min_size=1, max_size=2, unique_by=lambda one: one.name)
    )
    plan = Plan(
        filesystems=tuple(choices),
        workloads=tuple(workloads),
        targets=tuple(draw(st.lists(words.filter(bool), min_size=1, max_size=2, unique=True))),
        baseline="",
        rule=draw(_rules()),
        sync=draw(st.sampled_from(SyncPolicy)),
        fsck=draw(st.booleans()),
        verify=draw(st.booleans()),
        memory_bytes=draw(st.none() | st.integers(1, 2**50)),
        seed=draw(st.integers(0, 2**62)),
        label=draw(words),
        deadline_s=float(draw(st.integers(1, 10**6))),
    )
    baseline = draw(st.sampled_from([candidate.label for candidate in plan.candidates()]))
    return _with(plan, baseline, draw(st.booleans()))


def _with(plan: Plan, baseline: str, aa: bool) -> Plan:
    from msgspec.structs import replace

    return replace(plan, baseline=baseline, aa=aa)


@st.composite
def run_records(draw: st.DrawFn) -> RunRecord:
    plan = draw(plans())
    candidates = plan.candidates()
    kept = []
    for number in range(draw(st.integers(0, 3))):
        trial = Trial(
            number=number + 1,
            block=draw(st.integers(-1, 20)),
            position=draw(st.integers(0, 9)),
            candidate=draw(st.sampled_from(candidates)),
            workload=draw(st.sampled_from(plan.workloads)),
            kind=draw(st.sampled_from(TrialKind)),
            sync=draw(st.sampled_from(SyncPolicy)),
            fsck=draw(st.booleans()),
            seed=draw(st.integers(0, 2**62)),
            deadline_s=plan.deadline_s,
        )
        kept.append(TrialRecord(trial, draw(trial_results())))
    return RunRecord(
        id=draw(st.integers(1, 9)),
        uid=f"{draw(st.integers(0, 2**128 - 1)):032x}",
        created_at=draw(seconds),
        state=draw(st.sampled_from(RunState)),
        plan=plan,
        environment=environment(),
        declarations=tuple(declaration(one.name) for one in plan.workloads),
        trials=tuple(kept),
        stop_reason=draw(words),
        finished_at=draw(st.none() | seconds),
    )
