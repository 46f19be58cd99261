"""From words to a plan that holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.catalogues import catalogue
from fstrial.base.errors import UsageError
from fstrial.model.plan import FilesystemChoice, Plan, Setting, StoppingRule, SyncPolicy, WorkloadChoice
from fstrial.planning.contract import Request
from fstrial.planning.plans import plan_from


def plan(*filesystems: str, mounted: dict[str, str] | None = None, **words: Any) -> Plan:
    return plan_from(Request(filesystems, **words), catalogue(mounted))


def refusal(*filesystems: str, mounted: dict[str, str] | None = None, **words: Any) -> str:
    with pytest.raises(UsageError) as caught:
        plan(*filesystems, mounted=mounted, **words)
    return f"{caught.value.message} → {caught.value.hint}"


def test_names_alone_give_the_whole_default_plan() -> None:
    made = plan("ext4", "xfs", seed=1)
    assert made == Plan(
        filesystems=(FilesystemChoice("ext4", "ext4"), FilesystemChoice("xfs", "xfs")),
        workloads=(WorkloadChoice("tree", (Setting("source", "system"), Setting("scale", "1"))),),
        targets=("loop",),
        baseline="ext4",
        rule=StoppingRule(0.05, None, 20, 600.0),
        seed=1,
    )


def test_every_word_reaches_the_plan() -> None:
    made = plan(
        "ext4",
        workloads=("bonnie", "tree"),
        targets=("loop:1G", "ram:1G"),
        sets=("tree.scale=0.1", "tree.scale=0.2", "sync=end", "fsck=yes", "verify=no", "deadline=30m"),
        baseline="ext4 on ram:1G",
        until="2%",
        max_runs=30,
        budget="2h",
        aa=True,
        memory="512M",
        seed=7,
        label="night",
    )
    assert made.workloads[1].settings == (Setting("source", "system"), Setting("scale", "0.2"))
    assert (made.sync, made.fsck, made.verify, made.deadline_s) == (SyncPolicy.END, True, False, 1800.0)
    assert made.rule == StoppingRule(0.02, None, 30, 7200.0)
    assert (made.baseline, made.aa, made.memory_bytes, made.seed, made.label) == (
        "ext4 on ram:1G", True, 512 * 1024**2, 7, "night",
    )  # fmt: skip


def test_the_seed_is_drawn_when_nobody_gives_one() -> None:
    assert len({plan("ext4").seed for _ in range(8)}) > 1


def test_a_fixed_number_of_runs_has_no_budget_unless_given() -> None:
    assert plan("ext4", runs=30).rule == StoppingRule(None, 30, 30, None)
    assert plan("ext4", runs=3, budget="1m").rule == StoppingRule(None, 3, 20, 60.0)
    assert plan("ext4", budget="none").rule == StoppingRule(0.05, None, 20, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"workloads": ("tre",)}, "did you mean 'tree'?"),
        ({"workloads": ("tree", "tree")}, "named twice"),
        ({"targets": ("loop:1G", "loop:1G")}, "named twice"),
        ({"sets": ("tree.scal=1",)}, "did you mean 'scale'?"),
        ({"sets": ("tre.scale=1",)}, "did you mean 'tree'?"),
        ({"sets": ("bonnie.scale=1",)}, "add -w bonnie"),
        ({"sets": ("snyc=end",)}, "did you mean 'sync'?"),
        ({"sets": ("sync=ende",)}, "did you mean 'end'?"),
        ({"sets": ("fsck=maybe",)}, "neither yes nor no"),
        ({"baseline": "ext"}, "did you mean 'ext4'?"),
        ({"until": "5%", "runs": 3}, "exclude each other"),
        ({"until": "much"}, "--until"),
        ({"runs": 0}, "less than one"),
        ({"runs": 9, "max_runs": 8}, "more than max-runs"),
        ({"budget": "soon"}, "--budget"),
        ({"memory": "lots"}, "--memory"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**63}, "seed"),
    ],
)
def test_what_cannot_hold_is_refused_with_the_way_out(words: dict[str, Any], said: str) -> None:
    assert said in refusal("ext4", **words)


def test_an_unknown_filesystem_suggests_the_nearest() -> None:
    assert "unknown filesystem 'brtfs' → did you mean 'btrfs'?" in refusal("brtfs")


def test_no_filesystem_at_all_is_refused() -> None:
    assert "no filesystem is named" in refusal()


def test_two_filesystems_of_one_label_are_both_named() -> None:
    said = refusal("ext4 mount=noatime label=a", "xfs label=a")
    assert "'ext4 mount=noatime' and 'xfs'" in said
    assert "'ext4' and 'ext4'" in refusal("ext4", "ext4")


def test_one_type_with_other_options_is_another_candidate() -> None:
    made = plan("ext4", "ext4 mount=data=writeback")
    assert [candidate.label for candidate in made.candidates()] == ["ext4", "ext4 mount=data=writeback"]


def test_the_blind_label_is_kept_for_the_baselines_second_appearance() -> None:
    assert "blind" in refusal("ext4", "xfs label=blind", aa=True)
    assert plan("ext4", "xfs label=blind").candidates()[1].label == "blind"


def test_folders_need_no_filesystem_named() -> None:
    mounted = {"dir:/a": "nfs4", "dir:/b": "xfs", "dir:/c": "xfs"}
    assert plan(targets=("dir:/a",), mounted=mounted).filesystems == (FilesystemChoice("nfs4", "nfs4"),)
    assert plan(targets=("dir:/b", "dir:/c"), mounted=mounted).filesystems == (FilesystemChoice("xfs", "xfs"),)
    both = plan(targets=("dir:/a", "dir:/b"), mounted=mounted)
    assert [candidate.label for candidate in both.candidates()] == ["existing on dir:/a", "existing on dir:/b"]
    assert plan(targets=("dir:/unknown",)).filesystems[0].type == "existing"


def test_a_folder_takes_no_other_filesystem_and_no_options() -> None:
    mounted = {"dir:/b": "xfs"}
    assert plan("xfs label=mine", targets=("dir:/b",), mounted=mounted).filesystems[0].label == "mine"
    assert "dir:/b is on xfs, not on ext4" in refusal("ext4", targets=("dir:/b",), mounted=mounted)
    assert "no effect on dir:/b" in refusal("xfs mount=noatime", targets=("dir:/b",), mounted=mounted)
    assert "no filesystem is named" in refusal(targets=("dir:/b", "loop:1G"), mounted=mounted)


def test_the_command_line_is_laid_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(
        """
        label = "from the file"
        filesystems = ["ext4", "xfs"]
        seed = 3
        sync = "end"
        [rule]
        until = "2%"
        budget = "1h"
        [[workload]]
        name = "tree"
        settings = { scale = 0.5, source = "linux" }
        [[workload]]
        name = "bonnie"
        settings = { scale = 9 }
        """
    )
    bare = plan(plan_path=file)
    assert (bare.label, bare.seed, bare.rule) == ("from the file", 3, StoppingRule(0.02, None, 20, 3600.0))
    over = plan(
        "btrfs", plan_path=file, workloads=("tree",), sets=("tree.scale=0.1", "sync=phase"), runs=3, label="mine"
    )
    assert over.filesystems == (FilesystemChoice("btrfs", "btrfs"),)
    assert over.workloads == (WorkloadChoice("tree", (Setting("source", "linux"), Setting("scale", "0.1"))),)
    assert (over.label, over.seed, over.sync) == ("mine", 3, SyncPolicy.PHASE)
    assert over.rule == StoppingRule(None, 3, 20, 3600.0)
