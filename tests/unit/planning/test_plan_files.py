"""Plan files: what they say reaches the plan, and what is wrong in them is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from fakes.catalogues import catalogue
from fakes.records import environment
from fakes.strategies import plans
from fstrial.base.errors import DataError, UsageError
from fstrial.formats.plan import FORMAT
from fstrial.model.analysis import Analysis, Outlook
from fstrial.model.plan import FilesystemChoice, Plan, Setting
from fstrial.model.record import RunRecord, RunState
from fstrial.planning.contract import Catalogue, Configured, Request
from fstrial.planning.plans import plan_from
from fstrial.planning.toml import read_plan
from fstrial.planning.words import Assignment


def toml(plan: Plan) -> bytes:
    """As `fstrial report --plan` writes it."""
    record = RunRecord(1, "", 0.0, RunState.FINISHED, plan, environment(), ())
    return FORMAT.write(record, Analysis(0, 0, (), (), (), Outlook(sure=False)))


class AsGiven:
    def __init__(self, name: str, settings: Sequence[Setting]) -> None:
        self.settings = tuple(settings)


def everything(plan: Plan) -> Catalogue:
    """A catalogue in which whatever the plan names exists."""
    configure: type[Configured] = AsGiven
    return Catalogue(
        tuple(choice.type for choice in plan.filesystems),
        tuple(load.name for load in plan.workloads),
        configure,
        lambda word: "",
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plans())
def test_a_plan_written_as_toml_is_the_same_plan_again(tmp_path: Path, plan: Plan) -> None:
    rule = replace(plan.rule, max_runs=max(plan.rule.max_runs, plan.rule.runs or 0))
    plan = replace(plan, rule=rule)
    file = tmp_path / "plan.toml"
    file.write_bytes(toml(plan))
    assert plan_from(Request(plan_path=file), everything(plan)) == plan


def written(tmp_path: Path, content: str) -> Path:
    file = tmp_path / "plan.toml"
    file.write_text(content, encoding="utf-8")
    return file


def test_options_may_be_lists_or_words(tmp_path: Path) -> None:
    wish = read_plan(
        written(
            tmp_path,
            """
            [[filesystem]]
            type = "ext3"
            mkfs = "-J size=16 -L 'my disk'"
            mount = "noatime,data=writeback"
            [[filesystem]]
            type = "ext3"
            label = "big"
            mkfs = ["-J", "size=64"]
            mount = ["noatime"]
            """,
        )
    )
    mkfs, mount = ("-J", "size=16", "-L", "my disk"), ("noatime", "data=writeback")
    label = "ext3 mkfs=\"-J size=16 -L 'my disk'\" mount=noatime,data=writeback"
    assert wish.filesystems == (
        FilesystemChoice("ext3", label, mkfs, mount),
        FilesystemChoice("ext3", "big", ("-J", "size=64"), ("noatime",)),
    )


def test_numbers_and_switches_become_the_text_of_a_setting(tmp_path: Path) -> None:
    wish = read_plan(written(tmp_path, '[[workload]]\nname = "tree"\nsettings = {scale = 0.5, deep = true, n = 3}'))
    assert wish.settings == (
        Assignment("tree", "scale", "0.5"),
        Assignment("tree", "deep", "yes"),
        Assignment("tree", "n", "3"),
    )


def test_words_do_where_nothing_else_is_to_be_said(tmp_path: Path) -> None:
    file = written(tmp_path, 'filesystems = ["ext4", "xfs mount=noatime"]\nworkloads = ["bonnie"]\nmemory = "1G"')
    plan = plan_from(Request(plan_path=file), catalogue())
    assert [choice.label for choice in plan.filesystems] == ["ext4", "xfs mount=noatime"]
    assert [load.name for load in plan.workloads] == ["bonnie"]
    assert plan.memory_bytes == 1024**3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("filesystem = 3", "filesystem: expected list, got int"),
        ("sed = 3", "unknown key at the top: 'sed'", ),
        ("[rule]\nmax_run = 3", "unknown key in [rule]: 'max_run'"),
        ('[[filesystem]]\ntype = "xfs"\nmuont = "ro"', "did you mean 'mount'?"),
        ('[[filesystem]]\nlabel = "xfs"', "filesystem[0]: table missing required field type"),
        ("[rule]\nruns = 2.5", "rule.runs: expected int, got float"),
        ("[rule]\nuntil = true", "rule.until: expected int | float | str, got bool"),
        ('[rule]\nuntil = "much"', "rule.until: 'much' is not a share"),
        ('[rule]\nbudget = "soon"', "rule.budget: 'soon' is not a duration"),
        ('memory = "lots"', "memory: 'lots' is not a size"),
        ('sync = "ende"', "did you mean 'end'?"),
        ('fsck = "yes"', "fsck: expected bool, got str"),
        ('filesystems = ["ext4 mkfs=\'"]', "no closing quotation"),
        ('filesystems = ["ext4"]\n[[filesystem]]\ntype = "xfs"', "both there"),
        ('[[workload]]\nname = "tree"\nsettings = {scale = [1]}', "settings.scale is neither"),
        ('erase = "S3Z9NB0K"', "a plan carries no consent"),
        ("yes = true", "a plan carries no consent"),
        ("[rule]\nconsent = true", "rule.consent: a plan carries no consent"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_key_and_file(tmp_path: Path, content: str, said: str) -> None:
    file = written(tmp_path, content)
    with pytest.raises(UsageError) as caught:
        read_plan(file)
    assert said in f"{caught.value.message} → {caught.value.hint}"
    assert str(file) in caught.value.message


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('label = "x"\nseed = = 3', "line 2, column 8"),
        ('label = "x"\n[rule', "line 2"),
        ('label = "x', "line 1"),
    ],
)
def test_a_damaged_file_is_told_with_line_and_column(tmp_path: Path, content: str, where: str) -> None:
    with pytest.raises(DataError, match=where):
        read_plan(written(tmp_path, content))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_plan(tmp_path / "absent.toml")
    with pytest.raises(DataError, match="Is a directory"):
        read_plan(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"label = '\xff'")
    with pytest.raises(DataError, match="no text in UTF-8"):
        read_plan(binary)
