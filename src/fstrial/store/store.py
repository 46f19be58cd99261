"""The store: every run with every figure of it. A finished trial is there whatever happens next."""

from __future__ import annotations

import gc
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Engine, Row, delete, exc, func, insert, select, update

from fstrial.base.errors import DataError
from fstrial.base.registry import nearest
from fstrial.model.declaration import Declaration
from fstrial.model.metric import PHASE_METRICS, Metric
from fstrial.model.plan import Plan
from fstrial.model.record import Environment, RunRecord, RunState, TrialRecord
from fstrial.model.trial import Trial, TrialResult
from fstrial.store.place import WRITES, connected, url_of
from fstrial.store.rows import Book, insert_row, insert_trial, record_of
from fstrial.store.schema import figures, metrics, runs, samples, trials
from fstrial.store.upgrade import bring_up_to_date

__all__ = ["RunSummary", "Store"]

_encode = msgspec.json.Encoder().encode
_plan = msgspec.json.Decoder(Plan)
_environment = msgspec.json.Decoder(Environment)
_declarations = msgspec.json.Decoder(tuple[Declaration, ...])


class RunSummary(Struct, frozen=True):
    """A run without its trials. `created_at` is Unix seconds, `trials` how many are stored."""

    id: int
    created_at: float
    label: str
    state: RunState
    filesystems: tuple[str, ...]
    workloads: tuple[str, ...]
    trials: int


class Store:
    """Open it with `Store.open`. Every method raises DataError, naming the place, when the database fails."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._books: dict[int, Book] = {}

    @classmethod
    @contextmanager
    def open(cls, url: str | None = None) -> Iterator[Store]:
        """The store at a path or URL; without one at FSTRIAL_STORE, else in the user's data folder.

        Made when it is not there, upgraded when older. Raises UsageError, MissingRequirement, DataError.
        """
        with connected(url_of(url)) as engine:
            bring_up_to_date(engine)
            yield cls(engine)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction, synced to the disk when the block ends well."""
        with self._engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            yield connection

    def begin(self, plan: Plan, environment: Environment, declarations: Sequence[Declaration]) -> int:
        """A new run, with the metrics that its trials may have. Returns its number."""
        row = {
            "uid": uuid.uuid4().hex,
            "label": plan.label,
            "state": RunState.RUNNING.value,
            "created_at": time.time(),
            "stop_reason": "",
            "plan": _encode(plan).decode(),
            "environment": _encode(environment).decode(),
            "declarations": _encode(tuple(declarations)).decode(),
        }
        with self._writing() as connection:
            run_id = insert_row(connection, runs, row)
            connection.execute(insert(metrics), [_metric_row(run_id, one) for one in _registered(declarations)])
        return run_id

    def add(self, run_id: int, trial: Trial, result: TrialResult) -> None:
        """Keep a finished trial, whole or not at all.

        Raises ValueError when it has a metric that the run did not declare, DataError when the run has a trial
        of that number.
        """
        try:
            with self._writing() as connection:
                book = self._books.get(run_id) or Book(connection, run_id)
                insert_trial(connection, book, run_id, TrialRecord(trial, result))
        except exc.IntegrityError as error:
            self._books.pop(run_id, None)
            raise DataError(
                f"trial {trial.number} cannot be added to run {run_id}: {error.orig}",
                "is another fstrial adding to this run? `fstrial list runs` shows how many trials it has",
            ) from error
        except BaseException:
            self._books.pop(run_id, None)  # it may know figures that were never committed
            raise
        self._books[run_id] = book

    def finish(self, run_id: int, state: RunState, reason: str) -> None:
        """How the run ended, and when."""
        self._set(run_id, state=state.value, stop_reason=reason, finished_at=time.time())

    def reopen(self, run_id: int) -> None:
        """The run goes on: `load` gives the trials that are done."""
        self._set(run_id, state=RunState.RUNNING.value, stop_reason="", finished_at=None)

    def _set(self, run_id: int, **values: object) -> None:
        with self._writing() as connection:
            if connection.execute(update(runs).where(runs.c.id == run_id).values(**values)).rowcount == 0:
                raise _no_run(str(run_id))

    def load(self, run_id: int) -> RunRecord:
        """The run with its trials by number."""
        with self._engine.connect() as connection:
            row = connection.execute(select(runs).where(runs.c.id == run_id)).one_or_none()
            if row is None:
                raise _no_run(str(run_id))
            records = select(trials.c.number, trials.c.record).where(trials.c.run_id == run_id)
            kept = connection.execute(records.order_by(trials.c.number)).all()
        with _collector_at_rest():
            found = tuple(record_of(run_id, number, text) for number, text in kept)
        return msgspec.structs.replace(_run(row), trials=found)

    def runs(self) -> tuple[RunSummary, ...]:
        """Every run, the newest last."""
        with self._engine.connect() as connection:
            counted = connection.execute(select(trials.c.run_id, func.count()).group_by(trials.c.run_id))
            counts: dict[int, int] = {run_id: stored for run_id, stored in counted}
            rows = connection.execute(select(runs).order_by(runs.c.id)).all()
        return tuple(_summary(row, counts.get(row.id, 0)) for row in rows)

    def resolve(self, name: str) -> int:
        """The number of the run that people call `7`, `last` or by its label.

        Raises DataError when there is none, or when several have that label.
        """
        with self._engine.connect() as connection:
            labels: dict[int, str] = {
                number: label for number, label in connection.execute(select(runs.c.id, runs.c.label))
            }
        if name == "last" and labels:
            return max(labels)
        if name.isdecimal() and int(name) in labels:
            return int(name)
        called = sorted(number for number, label in labels.items() if label and label == name)
        if len(called) > 1:
            numbers = ", ".join(map(str, called))
            raise DataError(f"{len(called)} runs are labelled {name!r}: {numbers}", "say which by its number")
        if not called:
            raise _no_run(name, (*map(str, labels), *labels.values()))
        return called[0]

    def delete(self, run_id: int) -> None:
        """The run and everything of it."""
        of_run = select(trials.c.id).where(trials.c.run_id == run_id)
        of_metrics = select(metrics.c.id).where(metrics.c.run_id == run_id)
        with self._writing() as connection:
            for table, chosen in (
                (samples, samples.c.trial_id.in_(of_run)),
                (trials, trials.c.run_id == run_id),
                (figures, figures.c.metric_id.in_(of_metrics)),
                (metrics, metrics.c.run_id == run_id),
            ):
                connection.execute(delete(table).where(chosen))
            if connection.execute(delete(runs).where(runs.c.id == run_id)).rowcount == 0:
                raise _no_run(str(run_id))
        self._books.pop(run_id, None)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No search for cycles among a million new objects that have none, now or later: it takes a third of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if running:
            gc.enable()


def _registered(declarations: Sequence[Declaration]) -> tuple[Metric, ...]:
    """Raises ValueError when two workloads mean different things by one name."""
    known = {metric.name: metric for metric in PHASE_METRICS}
    for metric in (metric for one in declarations for metric in one.metrics):
        if known.setdefault(metric.name, metric) != metric:
            raise ValueError(f"the metric {metric.name} is declared twice, differently")
    return tuple(known.values())


def _metric_row(run_id: int, metric: Metric) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "name": metric.name,
        "unit": metric.unit.value,
        "direction": metric.direction.value,
        "summary": metric.summary,
    }


def _run(row: Row[Any]) -> RunRecord:
    try:
        return RunRecord(
            id=row.id,
            uid=row.uid,
            created_at=row.created_at,
            state=RunState(row.state),
            plan=_plan.decode(row.plan),
            environment=_environment.decode(row.environment),
            declarations=_declarations.decode(row.declarations),
            stop_reason=row.stop_reason,
            finished_at=row.finished_at,
        )
    except (msgspec.MsgspecError, ValueError) as error:
        raise DataError(f"run {row.id} is damaged in the store: {error}", "`fstrial delete` removes it") from error


def _summary(row: Row[Any], stored: int) -> RunSummary:
    record = _run(row)
    plan = record.plan
    return RunSummary(
        id=record.id,
        created_at=record.created_at,
        label=plan.label,
        state=record.state,
        filesystems=tuple(choice.label for choice in plan.filesystems),
        workloads=tuple(choice.name for choice in plan.workloads),
        trials=stored,
    )


def _no_run(name: str, known: Sequence[str] = ()) -> DataError:
    close = nearest(name, [one for one in known if one])
    suggestion = f"did you mean {close!r}? " if close else ""
    return DataError(f"there is no run {name!r} in the store", f"{suggestion}`fstrial list runs` shows those there are")
