"""What is written as JSON can be read again, keeps its published shape, and damage is said with its key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings

from fakes.records import Fault, make_record
from fakes.strategies import run_records
from fstrial.base.errors import DataError
from fstrial.formats import _document as document
from fstrial.formats.json import FORMAT, read
from fstrial.model.analysis import Analysis, Comparison, Flag, FlagKind, Interval, Method, Outlook, Summary, Verdict
from fstrial.model.metric import Figure
from fstrial.model.record import RunRecord
from fstrial.model.trial import Outcome
from fstrial.stats.analysis import analyse

DOCS = Path(__file__).parents[3] / "docs"
SCHEMA = DOCS / "fstrial-json-1.schema.json"
VERSIONS = Path(__file__).parent / "versions"
"""One synthetic run a version, each written by the fstrial of its time and never changed."""

NOTHING = Analysis(0, 0, (), (), (), Outlook(False))

TOTAL = Figure("total", "durable_s")


def written(record: RunRecord, analysis: Analysis = NOTHING) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(FORMAT.write(record, analysis))
    return whole


def faulty() -> RunRecord:
    lost = Fault("btrfs", block=0, outcome=Outcome.LOST, reason="the worker fell silent")
    return make_record(blocks=2, faults=(Fault("xfs", block=1), lost), aa=True, pressure=False)


@settings(max_examples=40, deadline=None)
@given(run_records())
def test_any_run_is_read_as_it_was_written(record: RunRecord) -> None:
    assert read(FORMAT.write(record, NOTHING)) == record


def test_a_run_with_its_statistics_follows_the_published_schema() -> None:
    record = faulty()
    jsonschema.validate(written(record, analyse(record)), json.loads(SCHEMA.read_text()))


def test_trials_have_the_documented_shape() -> None:
    whole = written(faulty())
    assert (whole["format"], whole["version"]) == ("fstrial", 1)
    assert len(whole["trials"]) == 8
    assert len(whole["verifications"]) == 3
    good = next(one for one in whole["trials"] if one["filesystem"] == "ext4" and one["block"] == 0)
    assert (good["workload"], good["host"], good["outcome"], good["type"]) == ("tree", "native", "passed", "ext4")
    phases = {phase["name"]: phase for phase in good["phases"]}
    assert list(phases) == [
        "mkfs", "mount", "copy_in", "disk_usage", "copy_within", "tar_gz", "untar_gz", "delete_all", "total", "unmount",
    ]  # fmt: skip
    assert phases["copy_in"]["metrics"]["durable_s"] > phases["copy_in"]["metrics"]["elapsed_s"] > 0
    assert phases["copy_in"]["metrics"]["pressure_io_s"] is None
    assert phases["copy_in"]["missing"]["pressure_io_s"] == "this kernel has no pressure files"
    assert (phases["copy_in"]["kind"], phases["copy_in"]["cache"]) == ("workload", "cold")
    assert [reading["when"] for reading in good["space"]] == ["after mkfs", "after copy_in"]
    assert good["context"]["missing"] == {"cpu_mhz": "no frequency files in this guest"}


def test_commands_can_be_pasted_into_a_shell() -> None:
    commands = written(make_record(blocks=1))["trials"][0]["commands"]
    copy = next(command for command in commands if command["phase"] == "copy_in")
    assert copy["shell"] == "cp -r --reflink=never --sparse=never source '/mnt/trial/copy one'"
    assert copy["argv"][-1] == "/mnt/trial/copy one"


def test_a_failed_phase_has_lower_bounds_and_a_lost_trial_its_reason() -> None:
    trials = written(faulty())["trials"]
    failed = next(one for one in trials if one["outcome"] == "failed")
    delete = next(phase for phase in failed["phases"] if phase["name"] == "delete_all")
    assert delete["outcome"] == "failed"
    assert "Operation not permitted" in delete["reason"]
    assert {"elapsed_s", "durable_s"} <= set(delete["lower_bounds"])
    lost = next(one for one in trials if one["outcome"] == "lost")
    assert (lost["reason"], lost["phases"]) == ("the worker fell silent", [])


def test_comparisons_say_ratio_intervals_and_verdict() -> None:
    slower = Comparison(
        "tree", TOTAL, "xfs", "ext4", True, 8, Method.PAIRED_T, 1.14, Interval(1.10, 1.18), Interval(1.08, 1.20),
        0.001, 0.006, Verdict.SLOWER,
    )  # fmt: skip
    bound = Comparison(
        "tree", TOTAL, "ntfs-3g", "ext4", False, 8, Method.ONE_SIDED, None, Interval(3.0, None), failed=2
    )  # fmt: skip
    cell = Summary("tree", TOTAL, "xfs", 12.5, (12.0, 13.0), (0, 1), runs=2)
    flag = Flag(FlagKind.DRIFT, "The machine drifted.", "tree")
    analysis = Analysis(8, 6, (cell,), (slower, bound), (flag,), Outlook(True, 0.04, 0, True, "Sure."))
    whole = written(make_record(blocks=1), analysis)
    one, other = whole["comparisons"]
    assert (one["filesystem"], one["baseline"], one["phase"], one["metric"]) == ("xfs", "ext4", "total", "durable_s")
    assert (one["ratio"], one["interval"], one["adjusted_interval"]) == (1.14, [1.10, 1.18], [1.08, 1.20])
    assert (one["verdict"], one["p_adjusted"], one["method"]) == ("slower", 0.006, "paired t on logarithms")
    assert (other["ratio"], other["interval"], other["verdict"], other["failed"]) == (None, [3.0, None], None, 2)
    assert whole["summaries"][0]["geometric_mean"] == 12.5
    assert whole["flags"][0] == {
        "kind": "drift", "text": "The machine drifted.", "workload": "tree", "filesystem": "", "block": None
    }  # fmt: skip
    assert whole["outlook"]["text"] == "Sure."


def test_the_published_schema_is_that_of_the_code() -> None:
    """When this fails, old readers may too: a new version, or, for an addition, the schema written again:
    `json.dumps(msgspec.json.schema(Document), indent=1)`. Descriptions are docstrings and may differ.
    """
    published = json.loads(SCHEMA.read_text())
    actual = json.loads(json.dumps(msgspec.json.schema(document.Document)))
    assert without_descriptions(published) == without_descriptions(actual)


def without_descriptions(tree: object) -> object:
    if isinstance(tree, dict):
        return {
            key: without_descriptions(value)
            for key, value in tree.items()
            if key != "description" or not isinstance(value, str)
        }
    return [without_descriptions(value) for value in tree] if isinstance(tree, list) else tree


def test_every_field_is_in_the_reference() -> None:
    reference = (DOCS / "reference-json.md").read_text()
    shapes = (document.Document, document.Run, document.Trial, document.Phase, document.Command,
              document.Samples, document.Summary, document.Comparison)  # fmt: skip
    absent = [
        f"{shape.__name__}.{field.encode_name}"
        for shape in shapes
        for field in msgspec.structs.fields(shape)
        if f"`{field.encode_name}`" not in reference
    ]
    assert absent == []


@pytest.mark.parametrize("version", range(1, document.VERSION + 1))
def test_a_file_of_every_past_version_is_read(version: int) -> None:
    record = read((VERSIONS / f"{version}.json").read_bytes())
    assert (record.plan.label, len(record.trials)) == ("synthetic", 4)


Damage = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda it: it.update(version=2), "`version` is 2, and this fstrial reads up to 1"),
        (lambda it: it.update(version=0), "`version` is 0"),
        (lambda it: it.update(version="1"), "`version`: expected `int`, got `str`"),
        (lambda it: it.update(format="fio"), "`format` is 'fio'"),
        (lambda it: it.pop("format"), "`format` is ''"),
        (lambda it: it.pop("trials"), "missing required field `trials`"),
        (lambda it: it["run"].update(uid=7), "`run.uid`: expected `str`, got `int`"),
        (lambda it: it["trials"][1].update(outcome="maybe"), "`trials[1].outcome`: invalid enum value 'maybe'"),
        (lambda it: it["trials"][1].update(filesystem="zfs"), "`trials[1].filesystem`: 'zfs' is not in the plan"),
        (lambda it: it["verifications"][0].update(workload="x"), "`verifications[0].workload`: 'x' is not in the plan"),
        (lambda it: it["trials"][0]["phases"][0]["metrics"].update(elapsed_s="fast"), "`trials[0].phases[0].metrics"),
        (lambda it: it["plan"].update(baseline="zfs", aa=True), "`plan.baseline`: 'zfs' is none of its filesystems"),
    ],
)
def test_damage_is_an_error_that_names_the_key(damage: Damage, says: str) -> None:
    whole = written(make_record(blocks=1))
    damage(whole)
    with pytest.raises(DataError) as caught:
        read(json.dumps(whole).encode(), "out.json")
    assert "out.json" in caught.value.message
    assert says in caught.value.message


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_file_cut_off_is_an_error(share: float) -> None:
    data = FORMAT.write(make_record(blocks=1), NOTHING)
    with pytest.raises(DataError, match="no whole JSON") as caught:
        read(data[: int(len(data) * share)], "out.json")
    assert "whole" in caught.value.hint


@pytest.mark.parametrize("data", [b"\xff\xfe", b"[]", b"null", b"<html>", b'{"format": "fstrial", "version": 1}'])
def test_what_is_no_result_is_an_error(data: bytes) -> None:
    with pytest.raises(DataError):
        read(data)
