"""A plan written as TOML is the same plan when it is read."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from fakes.records import make_plan, make_record
from fakes.strategies import plans
from fstrial.formats.plan import FORMAT
from fstrial.model.analysis import Analysis, Outlook
from fstrial.model.plan import FilesystemChoice, Plan, StoppingRule
from fstrial.planning.toml import read_plan
from fstrial.planning.wish import Wish
from fstrial.planning.words import Assignment

NOTHING = Analysis(0, 0, (), (), (), Outlook(False))


def written(plan: Plan) -> bytes:
    return FORMAT.write(replace(make_record(blocks=0), plan=plan), NOTHING)


def wish_of(plan: Plan) -> Wish:
    """What reading that plan should ask for, field by field."""
    rule = plan.rule
    return Wish(
        filesystems=plan.filesystems,
        workloads=tuple(choice.name for choice in plan.workloads),
        settings=tuple(Assignment(one.name, kept.key, kept.value) for one in plan.workloads for kept in one.settings),
        targets=plan.targets,
        baseline=plan.baseline,
        until=rule.until if rule.runs is None else None,
        runs=rule.runs,
        max_runs=rule.max_runs,
        budget_s=math.inf if rule.budget_s is None else rule.budget_s,
        sync=plan.sync,
        fsck=plan.fsck,
        verify=plan.verify,
        deadline_s=plan.deadline_s,
        aa=plan.aa,
        memory_bytes=plan.memory_bytes,
        seed=plan.seed,
        label=plan.label,
    )


@settings(max_examples=50, deadline=None)
@given(plans())
def test_any_plan_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> None:
    path = tmp_path_factory.getbasetemp() / "plan.toml"
    path.write_bytes(written(plan))
    assert read_plan(path) == wish_of(plan)


def test_it_reads_as_a_person_would_write_it() -> None:
    choice = FilesystemChoice("ext3", "ext3 big journal", ("-J", "size=16"), ("noatime",))
    plan = replace(make_plan(), filesystems=(*make_plan().filesystems, choice))
    tree = tomllib.loads(written(plan).decode())
    assert tree["rule"] == {"until": "5%", "max_runs": 20, "budget": "10m"}
    assert tree["memory"] == "512M"
    assert tree["targets"] == ["loop:2G"]
    assert tree["filesystem"][-1] == {
        "type": "ext3", "label": "ext3 big journal", "mkfs": ["-J", "size=16"], "mount": ["noatime"]
    }  # fmt: skip
    assert tree["workload"] == [{"name": "tree", "settings": {"source": "generated", "scale": "0.1"}}]


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (StoppingRule(None, 3, 20, None), {"runs": 3, "max_runs": 20, "budget": "none"}),
        (StoppingRule(0.025, None, 8, 90.0), {"until": "2.5%", "max_runs": 8, "budget": "90s"}),
        (StoppingRule(1 / 3, None, 8, 0.5), {"until": 1 / 3, "max_runs": 8, "budget": 0.5}),
    ],
)
def test_every_rule_has_words(rule: StoppingRule, kept: dict[str, object]) -> None:
    tree = tomllib.loads(written(replace(make_plan(), rule=rule)).decode())
    assert tree["rule"] == kept


def test_a_plan_carries_no_consent(tmp_path: Path) -> None:
    text = written(make_plan()).decode()
    assert "erase" not in text
    assert "yes" not in text
