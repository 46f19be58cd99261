"""Who runs when: randomised complete blocks, the same again for the same plan and seed.

In a block every candidate meets every workload once, so whatever drifts, drifts under all of them alike.
Within a workload the candidates' order is shuffled and they run one after the other, since their figures
are compared as pairs. Workloads come in the order named: figures of two workloads are never compared.

The order of a block depends on the seed and the block's number alone: a resumed run goes on with the orders
it would have had. It rests on `random.Random(integer).random()`, the one part of Python's generator that is
promised never to change (docs.python.org, "random", notes on reproducibility); `shuffle` is not, so each
candidate draws a number and the draws are sorted.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from fstrial.model.plan import Candidate, Plan, WorkloadChoice
from fstrial.model.trial import Trial, TrialKind

__all__ = ["blocks", "verification_trials"]

_VERIFICATION_BLOCK = -1


def blocks(plan: Plan, seed: int) -> Iterator[tuple[Trial, ...]]:
    """The measured trials, block after block without end: the stopping rule says when to leave off."""
    candidates = plan.candidates()
    first = 1 + (len(verification_trials(plan)) if plan.verify else 0)
    for block in itertools.count():
        dice = _dice(seed, block)
        trial_seed = _whole(dice)
        order = [
            (workload, candidate)
            for workload in plan.workloads
            for candidate in sorted(candidates, key=lambda candidate: dice.random())
        ]
        yield tuple(
            _trial(plan, first + block * len(order) + position, block, position, workload, candidate, trial_seed)
            for position, (workload, candidate) in enumerate(order)
        )


def verification_trials(plan: Plan) -> tuple[Trial, ...]:
    """One unmeasured trial for each candidate and workload; the blind baseline needs no second one."""
    seed = _whole(_dice(plan.seed, _VERIFICATION_BLOCK))
    pairs = [(load, candidate) for load in plan.workloads for candidate in plan.candidates() if not candidate.aa]
    return tuple(
        _trial(plan, 1 + place, _VERIFICATION_BLOCK, place, load, candidate, seed, TrialKind.VERIFICATION)
        for place, (load, candidate) in enumerate(pairs)
    )


def _trial(
    plan: Plan,
    number: int,
    block: int,
    position: int,
    workload: WorkloadChoice,
    candidate: Candidate,
    seed: int,
    kind: TrialKind = TrialKind.MEASURED,
) -> Trial:
    return Trial(
        number=number,
        block=block,
        position=position,
        candidate=candidate,
        workload=workload,
        kind=kind,
        sync=plan.sync,
        fsck=plan.fsck,
        seed=seed,
        deadline_s=plan.deadline_s,
    )


def _dice(seed: int, block: int) -> random.Random:
    """A generator of its own for each block (the verification is number -1)."""
    return random.Random((seed << 32) + block + 1)


def _whole(dice: random.Random) -> int:
    """A seed for what trials of one block make up: the same for all of them, so that all do the same work."""
    return int(dice.random() * 2**53)
