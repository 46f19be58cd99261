"""What goes into a store comes out of it, and what is not there is said so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from fakes.records import Fault, declaration, environment, make_plan, make_record, make_trial
from fakes.strategies import run_records
from fstrial.base.errors import DataError
from fstrial.model.declaration import Declaration
from fstrial.model.metric import Direction, Metric, Sample, Unit
from fstrial.model.record import RunRecord, RunState
from fstrial.model.trial import Outcome, PhaseKind, PhaseResult
from fstrial.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "results.sqlite")) as opened:
        yield opened


def keep(store: Store, record: RunRecord) -> int:
    run_id = store.begin(record.plan, record.environment, record.declarations)
    for one in record.trials:
        store.add(run_id, one.trial, one.result)
    return run_id


def test_a_run_with_failed_and_lost_trials_comes_back_whole(store: Store) -> None:
    faults = (Fault("xfs", block=1), Fault("btrfs", block=0, outcome=Outcome.LOST, reason="the worker fell silent"))
    record = make_record(blocks=3, faults=faults, aa=True, pressure=False)
    run_id = keep(store, record)
    store.finish(run_id, RunState.FINISHED, "3 blocks, as asked")
    loaded = store.load(run_id)
    assert loaded.trials == record.trials
    assert (loaded.plan, loaded.environment) == (record.plan, record.environment)
    assert loaded.declarations == record.declarations
    assert (loaded.state, loaded.stop_reason) == (RunState.FINISHED, "3 blocks, as asked")
    assert loaded.finished_at is not None
    assert loaded.finished_at >= loaded.created_at


@settings(max_examples=25, deadline=None)
@given(run_records())
def test_any_run_comes_back_as_it_went_in(record: RunRecord) -> None:
    with Store.open("sqlite://") as store:
        loaded = store.load(keep(store, record))
    assert (loaded.plan, loaded.declarations, loaded.trials) == (record.plan, record.declarations, record.trials)


def test_trials_come_back_by_number_whatever_order_they_came_in(store: Store) -> None:
    run_id = store.begin(make_plan(), environment(), (declaration(),))
    for number in (3, 1, 2):
        one = make_trial(number=number)
        store.add(run_id, one.trial, one.result)
    assert [one.trial.number for one in store.load(run_id).trials] == [1, 2, 3]


def test_every_sample_is_a_row_with_its_phase_metric_unit_and_reason(store: Store, tmp_path: Path) -> None:
    record = make_record(blocks=1, verify=False, pressure=False, faults=(Fault("ext4"),))
    keep(store, record)
    rows = sqlite3.connect(tmp_path / "results.sqlite").execute(
        """SELECT t.number, f.phase, m.name, m.unit, s.value, s.missing, s.lower_bound
             FROM samples s JOIN trials t ON t.id = s.trial_id
             JOIN figures f ON f.id = s.figure_id JOIN metrics m ON m.id = f.metric_id"""
    )
    units = {"s": Unit.SECONDS, "B": Unit.BYTES, "1": Unit.COUNT}
    found = {(number, phase, metric): rest for number, phase, metric, *rest in rows}
    wanted = {
        (one.trial.number, phase.name, sample.metric): [sample.value, sample.missing or None, sample.lower_bound]
        for one in record.trials
        for phase in one.result.phases
        for sample in phase.samples
    }
    assert {key: rest[1:] for key, rest in found.items()} == wanted
    assert all(unit in units for unit, *_ in found.values())
    assert found[1, "mkfs", "pressure_io_s"] == ["s", None, "this kernel has no pressure files", 0]


def test_a_metric_that_nobody_declared_is_refused_and_nothing_of_its_trial_is_kept(store: Store) -> None:
    run_id = store.begin(make_plan(), environment(), (declaration(),))
    one = make_trial()
    odd = PhaseResult("copy_in", PhaseKind.WORKLOAD, Outcome.PASSED, (Sample("durable_s", 1.0), Sample("speed", 3.0)))
    with pytest.raises(ValueError, match="copy_in: the metric speed is not registered"):
        store.add(run_id, one.trial, replace(one.result, phases=(odd,)))
    assert store.load(run_id).trials == ()
    store.add(run_id, one.trial, one.result)
    assert store.load(run_id).trials == (one,)


def test_one_name_for_two_different_metrics_is_refused(store: Store) -> None:
    def declares(unit: Unit) -> Declaration:
        return replace(declaration(), metrics=(Metric("tree_depth", unit, Direction.NEITHER, "depth"),))

    with pytest.raises(ValueError, match="tree_depth is declared twice"):
        store.begin(make_plan(), environment(), (declares(Unit.COUNT), declares(Unit.BYTES)))


def test_a_second_trial_of_the_same_number_is_refused_in_words(store: Store) -> None:
    record = make_record(blocks=1, verify=False)
    run_id = keep(store, record)
    with pytest.raises(DataError, match=rf"trial 1 cannot be added to run {run_id}") as caught:
        store.add(run_id, record.trials[0].trial, record.trials[0].result)
    assert "another fstrial" in caught.value.hint
    assert store.load(run_id).trials == record.trials


def test_a_run_reopened_is_running_and_still_has_its_trials(store: Store) -> None:
    record = make_record(blocks=2)
    run_id = keep(store, record)
    store.finish(run_id, RunState.INTERRUPTED, "interrupted")
    store.reopen(run_id)
    again = store.load(run_id)
    assert (again.state, again.stop_reason, again.finished_at) == (RunState.RUNNING, "", None)
    assert again.trials == record.trials


def test_the_summary_of_runs_is_in_order_and_counts_trials(store: Store) -> None:
    first = keep(store, make_record(blocks=2, verify=False, label="first"))
    second = store.begin(make_plan(("ext4", "ext2"), workloads=("tree", "bonnie")), environment(), (declaration(),))
    one, two = store.runs()
    assert (one.id, one.label, one.trials, one.filesystems) == (first, "first", 6, ("ext4", "xfs", "btrfs"))
    assert (two.id, two.trials, two.filesystems, two.workloads) == (second, 0, ("ext4", "ext2"), ("tree", "bonnie"))
    assert two.state is RunState.RUNNING


def test_a_run_is_found_by_number_by_label_and_as_the_last(store: Store) -> None:
    first, second = (store.begin(make_plan(label=label), environment(), ()) for label in ("night", "day"))
    assert [store.resolve(name) for name in (str(first), "night", "day", "last")] == [first, first, second, second]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("nigth", "no run 'nigth'", "did you mean 'night'? `fstrial list runs`"),
        ("77", "no run '77'", "`fstrial list runs`"),
        ("", "no run ''", "`fstrial list runs`"),
        ("twice", "2 runs are labelled 'twice': 2, 3", "number"),
    ],
)
def test_a_name_that_means_no_run_or_two_is_an_error_that_helps(
    store: Store, name: str, message: str, hint: str
) -> None:
    for label in ("night", "twice", "twice"):
        store.begin(make_plan(label=label), environment(), ())
    with pytest.raises(DataError) as caught:
        store.resolve(name)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_an_empty_store_has_no_last_run(store: Store) -> None:
    with pytest.raises(DataError, match="no run 'last'"):
        store.resolve("last")


def test_a_deleted_run_is_gone_with_every_row_and_its_number_is_not_given_again(store: Store, tmp_path: Path) -> None:
    kept, gone = (keep(store, make_record(blocks=1)) for _ in range(2))
    store.delete(gone)
    assert [run.id for run in store.runs()] == [kept]
    database = sqlite3.connect(tmp_path / "results.sqlite")
    (foreign,) = database.execute(f"SELECT count(*) FROM trials WHERE run_id = {gone}").fetchone()
    assert foreign == 0
    for query in (
        "SELECT count(*) FROM samples WHERE trial_id NOT IN (SELECT id FROM trials)",
        "SELECT count(*) FROM samples WHERE figure_id NOT IN (SELECT id FROM figures)",
        "SELECT count(*) FROM figures WHERE metric_id NOT IN (SELECT id FROM metrics)",
        "SELECT count(*) FROM metrics WHERE run_id NOT IN (SELECT id FROM runs)",
    ):
        assert database.execute(query).fetchone() == (0,)
    assert keep(store, make_record(blocks=1)) == gone + 1


@pytest.mark.parametrize("verb", ["load", "delete", "reopen"])
def test_what_is_asked_of_a_run_that_is_not_there_is_an_error(store: Store, verb: str) -> None:
    with pytest.raises(DataError, match="no run '9'"):
        getattr(store, verb)(9)
