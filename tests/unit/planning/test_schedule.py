"""Blocks: complete, the same again, fair to every candidate."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fstrial.model.plan import FilesystemChoice, Plan, StoppingRule, SyncPolicy, WorkloadChoice
from fstrial.model.trial import TrialKind
from fstrial.planning.schedule import blocks, verification_trials


def make_plan(
    filesystems: int = 3, workloads: int = 2, targets: int = 1, *, aa: bool = False, verify: bool = True, seed: int = 5
) -> Plan:
    choices = tuple(FilesystemChoice("ext4", f"fs{number}") for number in range(filesystems))
    places = tuple(f"loop:{number}G" for number in range(1, targets + 1))
    return Plan(
        filesystems=choices,
        workloads=tuple(WorkloadChoice(f"load{number}") for number in range(workloads)),
        targets=places,
        baseline="fs0" if targets == 1 else f"fs0 on {places[0]}",
        rule=StoppingRule(None, 5),
        sync=SyncPolicy.END,
        fsck=True,
        aa=aa,
        verify=verify,
        seed=seed,
        deadline_s=60.0,
    )


PLANS = st.builds(
    make_plan,
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 2),
    aa=st.booleans(),
    verify=st.booleans(),
    seed=st.integers(0, 2**63 - 1),
)


@settings(deadline=None)
@given(PLANS)
def test_every_block_has_each_candidate_once_for_each_workload(plan: Plan) -> None:
    labels = [candidate.label for candidate in plan.candidates()]
    for number, block in enumerate(islice(blocks(plan, plan.seed), 4)):
        met = Counter((trial.workload.name, trial.candidate.label) for trial in block)
        assert met == {(load.name, label): 1 for load in plan.workloads for label in labels}
        assert [trial.position for trial in block] == list(range(len(block)))
        assert {trial.block for trial in block} == {number}
        assert [trial.workload.name for trial in block] == [load.name for load in plan.workloads for _ in labels]


@settings(deadline=None)
@given(PLANS)
def test_numbers_are_unique_and_count_on(plan: Plan) -> None:
    first = verification_trials(plan) if plan.verify else ()
    trials = [*first, *(trial for block in islice(blocks(plan, plan.seed), 4) for trial in block)]
    assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))


def test_a_trial_carries_what_the_plan_says() -> None:
    trial = next(blocks(make_plan(), 5))[0]
    assert (trial.sync, trial.fsck, trial.deadline_s, trial.kind) == (SyncPolicy.END, True, 60.0, TrialKind.MEASURED)


@settings(deadline=None)
@given(PLANS)
def test_the_same_seed_gives_the_same_order(plan: Plan) -> None:
    assert list(islice(blocks(plan, plan.seed), 5)) == list(islice(blocks(plan, plan.seed), 5))


def test_the_order_is_the_one_it_always_was() -> None:
    """A resumed run, a stored plan and another Python must meet the same orders: these are kept, not derived."""
    orders = [
        "".join(trial.candidate.label[-1] for trial in block)
        for block in islice(blocks(make_plan(4, 1, seed=42), 42), 6)
    ]
    assert orders == ["1230", "1302", "0321", "2130", "0231", "3021"]


def test_other_seeds_and_other_blocks_give_other_orders() -> None:
    plan = make_plan(5, 1)
    orders = {
        tuple(trial.candidate.label for trial in block)
        for seed in range(10)
        for block in islice(blocks(plan, seed), 10)
    }
    assert len(orders) > 50


def test_all_trials_of_a_block_do_the_same_work() -> None:
    seeds = [{trial.seed for trial in block} for block in islice(blocks(make_plan(), 5), 20)]
    assert all(len(seed) == 1 for seed in seeds)
    assert len(set.union(*seeds)) == 20


@pytest.mark.parametrize("count", [2, 3, 5])
def test_every_candidate_meets_every_place_equally_often(count: int) -> None:
    """Chi-square over candidate × place; its 99.99 % point is below 50 for up to 16 degrees of freedom."""
    plan, rounds = make_plan(count, 1), 3000
    seen = Counter(
        (trial.candidate.label, trial.position) for block in islice(blocks(plan, 5), rounds) for trial in block
    )
    expected = rounds / count
    chi_square = (
        sum((seen[f"fs{one}", place] - expected) ** 2 for one in range(count) for place in range(count)) / expected
    )
    assert chi_square < 50


@settings(deadline=None)
@given(PLANS)
def test_verification_meets_each_candidate_once_and_not_the_blind_one(plan: Plan) -> None:
    trials = verification_trials(plan)
    labels = [candidate.label for candidate in plan.candidates() if not candidate.aa]
    assert Counter((trial.workload.name, trial.candidate.label) for trial in trials) == {
        (load.name, label): 1 for load in plan.workloads for label in labels
    }
    assert {(trial.kind, trial.block) for trial in trials} == {(TrialKind.VERIFICATION, -1)}
