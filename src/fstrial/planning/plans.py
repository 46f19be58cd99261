"""A plan from the words of a command line and a plan file, checked against what there is."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from fstrial.base.errors import UsageError
from fstrial.base.registry import unknown
from fstrial.model.plan import AA_LABEL, FilesystemChoice, Plan, Setting, StoppingRule, WorkloadChoice
from fstrial.planning.contract import Catalogue, Request
from fstrial.planning.toml import read_plan
from fstrial.planning.wish import Wish, over, wish_of
from fstrial.planning.words import Assignment, label_for

__all__ = ["EXISTING", "plan_from"]

EXISTING = "existing"
"""Type of a filesystem that somebody else made and mounted, where nothing more is known of it."""

_DEFAULT = Plan(filesystems=(), workloads=(), targets=(), baseline="")
_DEFAULT_TARGET = "loop"
_DEFAULT_WORKLOAD = "tree"
_FOLDER = "dir:"
_SEEDS = 2**32
_LARGEST_SEED = 2**63 - 1  # what SQLite holds

Value = TypeVar("Value")


def plan_from(request: Request, catalogue: Catalogue) -> Plan:
    """The plan that a command line asks for, alone or laid over the plan file it names.

    The plan is whole: every setting of every workload is in it, defaults included, and so is the seed.
    Defaults: the target `loop`, the workload `tree`, the first candidate as baseline. A fixed number of
    runs has no budget unless one is given. Where every target is a `dir:`, naming a filesystem is optional:
    it is the one mounted there.

    Raises UsageError for whatever cannot hold, DataError for a plan file that cannot be read.
    """
    wish = wish_of(request)
    if request.plan_path is not None:
        wish = over(read_plan(request.plan_path), wish)
    targets = _each_once("target", wish.targets or (_DEFAULT_TARGET,))
    plan = Plan(
        filesystems=_filesystems(wish.filesystems or (), targets, catalogue),
        workloads=_workloads(wish, catalogue),
        targets=targets,
        baseline="",
        rule=_rule(wish),
        sync=_or(wish.sync, _DEFAULT.sync),
        fsck=_or(wish.fsck, _DEFAULT.fsck),
        verify=_or(wish.verify, _DEFAULT.verify),
        memory_bytes=wish.memory_bytes,
        seed=_seed(wish.seed),
        label=_or(wish.label, _DEFAULT.label),
        deadline_s=_or(wish.deadline_s, _DEFAULT.deadline_s),
    )
    aa = _or(wish.aa, _DEFAULT.aa)
    return msgspec.structs.replace(plan, baseline=_baseline(wish.baseline, plan, aa), aa=aa)


def _or(value: Value | None, default: Value) -> Value:
    return default if value is None else value


def _seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbelow(_SEEDS)
    if not 0 <= seed <= _LARGEST_SEED:
        raise UsageError(f"seed {seed} is not between 0 and 2^63 - 1")
    return seed


def _each_once(what: str, names: tuple[str, ...]) -> tuple[str, ...]:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UsageError(f"the {what} {name!r} is named twice", "name it once")
    return names


def _filesystems(
    choices: tuple[FilesystemChoice, ...], targets: tuple[str, ...], catalogue: Catalogue
) -> tuple[FilesystemChoice, ...]:
    held = {word: catalogue.detected(word) for word in targets}
    folders = {word: kind or EXISTING for word, kind in held.items() if word.startswith(_FOLDER)}
    if not choices:
        return (_mounted_there(folders, targets, catalogue),)
    for choice in choices:
        if len(folders) < len(targets) and choice.type not in catalogue.filesystems:
            raise unknown("filesystem", choice.type, catalogue.filesystems)
        for word, kind in folders.items():
            _must_be_as_it_is(choice, word, kind)
    _unlike_labels(choices)
    return choices


def _mounted_there(folders: dict[str, str], targets: tuple[str, ...], catalogue: Catalogue) -> FilesystemChoice:
    """What stands for the filesystems that the folders are on."""
    if len(folders) < len(targets):
        raise UsageError(
            "no filesystem is named",
            f"name at least one, such as ext4; known: {', '.join(catalogue.filesystems)}",
        )
    kinds = set(folders.values())
    kind = kinds.pop() if len(kinds) == 1 else EXISTING
    return FilesystemChoice(kind, kind)


def _must_be_as_it_is(choice: FilesystemChoice, target: str, kind: str) -> None:
    """Nothing is made or mounted in a folder: no other type and no options can be had there."""
    if choice.type not in (kind, EXISTING):
        raise UsageError(
            f"{target} is on {kind}, not on {choice.type}",
            "leave the filesystem out: no filesystem is made in a folder",
        )
    if choice.mkfs or choice.mount:
        raise UsageError(
            f"{choice.label}: mkfs and mount options have no effect on {target}",
            "leave them out: nothing is made or mounted in a folder",
        )


def _unlike_labels(choices: Sequence[FilesystemChoice]) -> None:
    seen: dict[str, FilesystemChoice] = {}
    for choice in choices:
        first = seen.setdefault(choice.label, choice)
        if first is not choice:
            one, other = (label_for(either.type, either.mkfs, either.mount) for either in (first, choice))
            raise UsageError(
                f"two filesystems have the label {choice.label!r}: {one!r} and {other!r}",
                "give one of them another with label=…; --aa adds the baseline a second time",
            )


def _workloads(wish: Wish, catalogue: Catalogue) -> tuple[WorkloadChoice, ...]:
    names = _each_once("workload", wish.workloads or (_DEFAULT_WORKLOAD,))
    for name in names:
        if name not in catalogue.workloads:
            raise unknown("workload", name, catalogue.workloads)
    for setting in wish.settings:
        _belongs(setting, names, catalogue)
    chosen = []
    for name in names:
        settings = [Setting(one.key, one.value) for one in wish.settings if one.owner == name]
        chosen.append(WorkloadChoice(name, catalogue.configure(name, settings).settings))
    return tuple(chosen)


def _belongs(setting: Assignment, names: tuple[str, ...], catalogue: Catalogue) -> None:
    if setting.owner in names:
        return
    if setting.owner not in catalogue.workloads:
        raise unknown("workload", setting.owner, catalogue.workloads)
    raise UsageError(
        f"{setting.owner}.{setting.key} is set, but the workload {setting.owner} is not asked for",
        f"add -w {setting.owner}, or leave the setting out",
    )


def _rule(wish: Wish) -> StoppingRule:
    if wish.until is not None and wish.runs is not None:
        raise UsageError("until and runs exclude each other", "give the precision to reach or the number of runs")
    for name, count in (("runs", wish.runs), ("max-runs", wish.max_runs)):
        if count is not None and count < 1:
            raise UsageError(f"{name}: {count} is less than one")
    if wish.runs is not None and wish.max_runs is not None and wish.runs > wish.max_runs:
        raise UsageError(f"runs: {wish.runs} is more than max-runs, {wish.max_runs}", "leave max-runs out")
    default = _DEFAULT.rule
    fixed = wish.runs is not None
    budget_s = _or(wish.budget_s, math.inf if fixed else _or(default.budget_s, math.inf))
    return StoppingRule(
        until=None if fixed else _or(wish.until, _or(default.until, 0.0)),
        runs=wish.runs,
        max_runs=max(_or(wish.max_runs, default.max_runs), wish.runs or 0),
        budget_s=None if math.isinf(budget_s) else budget_s,
    )


def _baseline(wanted: str | None, plan: Plan, aa: bool) -> str:
    labels = [candidate.label for candidate in plan.candidates()]
    if aa and AA_LABEL in labels:
        raise UsageError(f"the label {AA_LABEL!r} is the one --aa gives", "choose another with label=…")
    if wanted is not None and wanted not in labels:
        raise unknown("baseline", wanted, labels)
    return labels[0] if wanted is None else wanted
