"""What a run will cost: bytes to each device and time, known from earlier runs or said to be a guess."""

from __future__ import annotations

from dataclasses import dataclass

from fstrial.base.units import MIB
from fstrial.model.plan import Plan
from fstrial.model.trial import Outcome, TrialKind
from fstrial.run.preflight import Ready
from fstrial.store.store import Store

__all__ = ["Cost", "expected_cost"]

_GUESSED_BYTES_PER_S = 60 * MIB
"""Without history: tar and gzip included, a laptop of today moves about that much through a filesystem."""
_GUESSED_FILES_PER_S = 8000.0
_FEWEST_BLOCKS = 5


@dataclass(frozen=True)
class Cost:
    """Bytes written by the workloads to devices, and seconds, for the fewest and the most blocks.

    `known` tells whether the time comes from earlier runs in the store.
    """

    trial_s: float
    trials_least: int
    trials_most: int
    write_bytes_least: int
    write_bytes_most: int
    least_s: float
    most_s: float
    known: bool


def expected_cost(plan: Plan, ready: Ready, store: Store) -> Cost:
    """What the plan will cost on this machine."""
    candidates = len(plan.candidates())
    checks = sum(not one.aa for one in plan.candidates()) if plan.verify else 0
    rule = plan.rule
    least, most = (rule.runs, rule.runs) if rule.runs else (min(_FEWEST_BLOCKS, rule.max_runs), rule.max_runs)
    trial_bytes = sum(need.write_bytes for need in ready.needs)
    known_s = _known_s(plan, store)
    guessed_s = sum(need.write_bytes / _GUESSED_BYTES_PER_S + need.files / _GUESSED_FILES_PER_S for need in ready.needs)
    round_s = known_s if known_s is not None else guessed_s
    trials_least = checks + least * candidates
    trials_most = checks + most * candidates
    most_s = trials_most * round_s
    if rule.budget_s is not None:
        most_s = max(min(most_s, rule.budget_s), 0.0)
    return Cost(
        trial_s=round_s,
        trials_least=trials_least * len(plan.workloads),
        trials_most=trials_most * len(plan.workloads),
        write_bytes_least=trials_least * trial_bytes,
        write_bytes_most=trials_most * trial_bytes,
        least_s=min(trials_least * round_s, most_s),
        most_s=most_s,
        known=known_s is not None,
    )


def _known_s(plan: Plan, store: Store) -> float | None:
    """Seconds of one round of the plan's workloads, from the newest stored run that had them all, set alike."""
    for run in reversed(store.runs()):
        if not set(choice.name for choice in plan.workloads) <= set(run.workloads):
            continue
        record = store.load(run.id)
        took: dict[str, list[float]] = {}
        for kept in record.trials:
            trial, result = kept.trial, kept.result
            measured = result.outcome is Outcome.PASSED and trial.kind is TrialKind.MEASURED
            if measured and trial.workload in plan.workloads:
                took.setdefault(trial.workload.name, []).append(result.elapsed_s)
        if len(took) == len(plan.workloads):
            return sum(sum(times) / len(times) for times in took.values())
    return None
