"""Tidy CSV: one row a sample, so that pandas, R and spreadsheets can group and plot without parsing anything."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import ClassVar

from fstrial.formats.contract import Format
from fstrial.model.analysis import Analysis
from fstrial.model.metric import PHASE_METRICS, Unit
from fstrial.model.record import RunRecord, TrialRecord

__all__ = ["COLUMNS", "FORMAT"]

COLUMNS = (
    "run",
    "filesystem",
    "target",
    "workload",
    "block",
    "position",
    "host",
    "outcome",
    "phase",
    "metric",
    "unit",
    "value",
    "missing",
    "lower_bound",
)

Row = tuple[str | int | float | None, ...]


class _Csv(Format):
    """Measured trials only. A missing sample has an empty value and its reason; a trial without any sample (lost,
    skipped) is one row with an empty phase and metric, so that it does not vanish."""

    name: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    about: ClassVar[str] = "tidy CSV: one row a sample"

    def write(self, record: RunRecord, analysis: Analysis) -> bytes:
        units = {
            metric.name: metric.unit
            for metric in (*PHASE_METRICS, *(own for one in record.declarations for own in one.metrics))
        }
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for trial in record.measured():
            writer.writerows(_rows(record.id, trial, units))
        return text.getvalue().encode()


def _rows(run: int, kept: TrialRecord, units: dict[str, Unit]) -> Iterator[Row]:
    trial, result = kept.trial, kept.result
    common = (
        run,
        trial.candidate.label,
        trial.candidate.target,
        trial.workload.name,
        trial.block,
        trial.position,
        result.host,
        result.outcome.value,
    )
    bare = True
    for phase in result.phases:
        for sample in phase.samples:
            bare = False
            unit = units[sample.metric].value
            bound = "true" if sample.lower_bound else "false"
            yield (*common, phase.name, sample.metric, unit, _number(sample.value), sample.missing, bound)
    if bare:
        yield (*common, "", "", "", None, result.reason, "false")


def _number(value: float | None) -> float | int | None:
    """Whole numbers without a fraction: bytes and counts are stored as floats."""
    return int(value) if value is not None and value.is_integer() else value


FORMAT = _Csv()
