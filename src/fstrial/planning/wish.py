"""What one source asks for: a command line or a plan file. Whatever it leaves open is None."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from fstrial.base.errors import UsageError
from fstrial.base.registry import unknown
from fstrial.base.units import parse_duration, parse_share, parse_size
from fstrial.model.plan import FilesystemChoice, SyncPolicy
from fstrial.planning.contract import Request
from fstrial.planning.words import Assignment, assignment, filesystem_choice, switch

__all__ = ["Wish", "budget_seconds", "over", "sync_policy", "wish_of"]

_PLAN_KEYS = ("sync", "fsck", "verify", "deadline")


@dataclass(frozen=True)
class Wish:
    """A Plan in the making. `budget_s` is infinite where no budget is asked for by name."""

    filesystems: tuple[FilesystemChoice, ...] | None = None
    workloads: tuple[str, ...] | None = None
    settings: tuple[Assignment, ...] = ()
    targets: tuple[str, ...] | None = None
    baseline: str | None = None
    until: float | None = None
    runs: int | None = None
    max_runs: int | None = None
    budget_s: float | None = None
    sync: SyncPolicy | None = None
    fsck: bool | None = None
    verify: bool | None = None
    deadline_s: float | None = None
    aa: bool | None = None
    memory_bytes: int | None = None
    seed: int | None = None
    label: str | None = None


def over(file: Wish, words: Wish) -> Wish:
    """The file's wish with the command line's laid over it.

    `--until` and `--runs` are one choice: either replaces both of the file's. Settings add up, the later
    one wins; `-w` drops the file's settings of workloads it does not name.
    """
    given = {
        field.name: value
        for field in dataclasses.fields(words)
        if (value := getattr(words, field.name)) is not None and field.name != "settings"
    }
    if words.until is not None or words.runs is not None:
        given |= {"until": words.until, "runs": words.runs}
    named = file.workloads if words.workloads is None else words.workloads
    kept = tuple(setting for setting in file.settings if named is None or setting.owner in named)
    return dataclasses.replace(file, **given, settings=(*kept, *words.settings))


def _must_be_text(request: Request) -> None:
    """A plan is stored and sent as UTF-8; a name that is none could never be found again by it."""
    words = (*request.filesystems, *request.workloads, *request.targets, *request.sets)
    for word in (*words, request.baseline or "", request.label or ""):
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                f"{word!a} has bytes that are no UTF-8",
                "a plan is kept as text: name it through a symbolic link with another name",
            ) from error


def wish_of(request: Request) -> Wish:
    """What the words of a command line ask for. Raises UsageError."""
    _must_be_text(request)
    sets = [assignment(word) for word in request.sets]
    own = {one.key: one.value for one in sets if not one.owner}
    for key in own:
        if key not in _PLAN_KEYS:
            error = unknown("plan setting", key, _PLAN_KEYS)
            raise UsageError(error.message, f"{error.hint}; a workload's own settings are WORKLOAD.KEY=VALUE")
    return Wish(
        filesystems=tuple(filesystem_choice(word) for word in request.filesystems) or None,
        workloads=request.workloads or None,
        settings=tuple(one for one in sets if one.owner),
        targets=request.targets or None,
        baseline=request.baseline,
        until=None if request.until is None else parse_share(request.until, "--until"),
        runs=request.runs,
        max_runs=request.max_runs,
        budget_s=None if request.budget is None else budget_seconds(request.budget, "--budget"),
        sync=sync_policy(own["sync"], "--set sync") if "sync" in own else None,
        fsck=switch(own["fsck"], "--set fsck") if "fsck" in own else None,
        verify=switch(own["verify"], "--set verify") if "verify" in own else None,
        deadline_s=parse_duration(own["deadline"], "--set deadline") if "deadline" in own else None,
        aa=request.aa,
        memory_bytes=None if request.memory is None else parse_size(request.memory, "--memory"),
        seed=request.seed,
        label=request.label,
    )


def budget_seconds(text: str, what: str) -> float:
    """Seconds of a duration; infinite for `none`."""
    return math.inf if text.strip() == "none" else parse_duration(text, what)


def sync_policy(text: str, what: str) -> SyncPolicy:
    known = {policy.value: policy for policy in SyncPolicy}
    if text not in known:
        raise unknown(f"value of {what}:", text, known)
    return known[text]
