"""Tidy CSV: one row a sample, nothing vanishes, and any name survives quoting."""

from __future__ import annotations

import csv
import io

from fakes.records import Fault, make_record
from fstrial.formats.csv import COLUMNS, FORMAT
from fstrial.model.analysis import Analysis, Outlook
from fstrial.model.record import RunRecord
from fstrial.model.trial import Outcome

NOTHING = Analysis(0, 0, (), (), (), Outlook(False))


def rows(record: RunRecord) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(FORMAT.write(record, NOTHING).decode())))


def test_there_is_one_row_a_sample_of_the_measured_trials() -> None:
    record = make_record(blocks=2, run_id=7)
    found = rows(record)
    assert len(found) == sum(len(phase.samples) for one in record.measured() for phase in one.result.phases)
    assert tuple(found[0]) == COLUMNS
    assert {row["run"] for row in found} == {"7"}
    assert {row["block"] for row in found} == {"0", "1"}


def test_values_are_exact_whole_numbers_have_no_fraction_and_units_are_given() -> None:
    record = make_record(blocks=1, verify=False)
    (kept,) = (one for one in record.trials if one.trial.candidate.label == "xfs")
    copy = kept.result.phase("copy_in")
    assert copy is not None
    mine = {row["metric"]: row for row in rows(record) if row["filesystem"] == "xfs" and row["phase"] == "copy_in"}
    for metric, unit in (("durable_s", "s"), ("device_write_bytes", "B"), ("device_flushes", "1")):
        sample = copy.sample(metric)
        assert sample is not None
        assert float(mine[metric]["value"]) == sample.value
        assert mine[metric]["unit"] == unit
    assert mine["device_flushes"]["value"] == "6"


def test_a_missing_sample_has_an_empty_value_and_its_reason() -> None:
    found = rows(make_record(blocks=1, pressure=False))
    missing = [row for row in found if row["metric"] == "pressure_io_s"]
    assert missing
    assert all((row["value"], row["missing"]) == ("", "this kernel has no pressure files") for row in missing)


def test_a_failed_phase_is_marked_as_a_lower_bound() -> None:
    found = rows(make_record(blocks=1, faults=(Fault("xfs"),)))
    bounds = {(row["filesystem"], row["phase"]) for row in found if row["lower_bound"] == "true"}
    assert bounds == {("xfs", "delete_all"), ("xfs", "total")}


def test_a_lost_trial_keeps_a_row_with_its_reason() -> None:
    fault = Fault("xfs", outcome=Outcome.LOST, reason='the worker, alas, said "nothing"\nfor 60 s')
    (lost,) = (row for row in rows(make_record(blocks=1, faults=(fault,))) if row["filesystem"] == "xfs")
    assert (lost["outcome"], lost["phase"], lost["metric"], lost["value"]) == ("lost", "", "", "")
    assert lost["missing"] == fault.reason


def test_a_label_with_commas_quotes_and_line_breaks_survives() -> None:
    label = 'ext4, the "old"\nway'
    assert {row["filesystem"] for row in rows(make_record((label,), blocks=1))} == {label}
