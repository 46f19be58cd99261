"""A trial as rows, and back."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, Table, insert, select

from fstrial.base.errors import DataError
from fstrial.model.record import TrialRecord
from fstrial.store.schema import figures, metrics, samples, trials

__all__ = ["Book", "insert_row", "insert_trial", "record_of"]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TrialRecord).decode


class Book:
    """The figures of one run by phase and metric, and the numbers of their rows."""

    def __init__(self, connection: Connection, run_id: int) -> None:
        found = connection.execute(select(metrics.c.name, metrics.c.id).where(metrics.c.run_id == run_id))
        self._metrics: dict[str, int] = {name: number for name, number in found}
        known = connection.execute(
            select(figures.c.id, figures.c.phase, metrics.c.name).join(metrics).where(metrics.c.run_id == run_id)
        )
        self._numbers: dict[tuple[str, str], int] = {(phase, metric): number for number, phase, metric in known}

    def number(self, connection: Connection, phase: str, metric: str) -> int:
        """The row of that figure, made when it is new. Raises ValueError for a metric nobody declared."""
        known = self._numbers.get((phase, metric))
        if known is not None:
            return known
        if metric not in self._metrics:
            raise ValueError(f"{phase}: the metric {metric} is not registered; its workload must declare it")
        number = insert_row(connection, figures, {"metric_id": self._metrics[metric], "phase": phase})
        self._numbers[phase, metric] = number
        return number


def insert_row(connection: Connection, table: Table, row: dict[str, Any]) -> int:
    """Insert one row and return its number."""
    made = connection.execute(insert(table), row).inserted_primary_key
    assert made is not None  # an insert of a single row always has one
    number: int = made[0]
    return number


def insert_trial(connection: Connection, book: Book, run_id: int, record: TrialRecord) -> None:
    """The trial's row, and one for each of its samples."""
    trial_id = insert_row(connection, trials, _trial_row(run_id, record))
    rows = [
        {
            "trial_id": trial_id,
            "figure_id": book.number(connection, phase.name, sample.metric),
            "value": sample.value,
            "missing": sample.missing or None,
            "lower_bound": sample.lower_bound,
        }
        for phase in record.result.phases
        for sample in phase.samples
    ]
    if rows:
        connection.execute(insert(samples), rows)


def _trial_row(run_id: int, record: TrialRecord) -> dict[str, Any]:
    trial, result = record.trial, record.result
    return {
        "run_id": run_id,
        "number": trial.number,
        "kind": trial.kind.value,
        "block": trial.block,
        "position": trial.position,
        "filesystem": trial.candidate.label,
        "type": trial.candidate.filesystem.type,
        "target": trial.candidate.target,
        "workload": trial.workload.name,
        "host": result.host,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "wrong_content": result.wrong_content,
        "started_at": result.started_at,
        "elapsed_s": result.elapsed_s,
        "record": _encode(record).decode(),
    }


def record_of(run_id: int, number: int, text: str) -> TrialRecord:
    """The whole trial. Raises DataError when its record is damaged."""
    try:
        return _decode(text)
    except msgspec.MsgspecError as error:
        raise DataError(
            f"run {run_id}: trial {number} is damaged in the store: {error}",
            "`fstrial delete` removes the run; a copy of the store from before may still have it",
        ) from error
