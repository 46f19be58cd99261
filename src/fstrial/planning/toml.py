"""Plan files: TOML that says the same as a command line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fstrial.base.errors import DataError, UsageError
from fstrial.base.registry import unknown
from fstrial.base.units import parse_duration, parse_share, parse_size
from fstrial.model.plan import FilesystemChoice
from fstrial.planning.wish import Wish, budget_seconds, sync_policy
from fstrial.planning.words import Assignment, comma_list, filesystem_choice, label_for, split_words

__all__ = ["read_plan"]

Number = int | float


class _Rule(Struct, frozen=True, forbid_unknown_fields=True):
    until: str | Number | None = None
    runs: int | None = None
    max_runs: int | None = None
    budget: str | Number | None = None


class _Filesystem(Struct, frozen=True, forbid_unknown_fields=True):
    type: str
    label: str | None = None
    mkfs: str | tuple[str, ...] = ()
    mount: str | tuple[str, ...] = ()


class _Workload(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    settings: dict[str, Any] = {}


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """A plan file's keys, by the names they have there."""

    label: str | None = None
    baseline: str | None = None
    targets: tuple[str, ...] | None = None
    seed: int | None = None
    sync: str | None = None
    fsck: bool | None = None
    verify: bool | None = None
    deadline: str | Number | None = None
    aa: bool | None = None
    memory: str | int | None = None
    rule: _Rule = _Rule()
    filesystem: tuple[_Filesystem, ...] = ()
    filesystems: tuple[str, ...] = ()
    workload: tuple[_Workload, ...] = ()
    workloads: tuple[str, ...] = ()


_TABLES: Mapping[str, type[Struct]] = {"rule": _Rule, "filesystem": _Filesystem, "workload": _Workload}


def read_plan(path: Path) -> Wish:
    """What a plan file asks for.

    Raises DataError when it cannot be read or is no TOML (with line and column), UsageError naming the key
    for an unknown key (with the nearest), a wrong type or a value that is none.
    """
    tree = _load(path)
    try:
        _check_keys(tree, _File, "")
        return _wish(msgspec.convert(tree, _File))
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {_with_key(str(error))}") from None
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", error.hint) from None


def _load(path: Path) -> dict[str, Any]:
    text = _read(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = str(error).replace("at end of document", f"at its end, line {len(text.splitlines())}")
        raise DataError(f"the plan {path} is no TOML: {where}", "mend that place, or export the plan again") from error


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot read the plan {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"the plan {path} is no text in UTF-8: byte {error.start} is not") from error


def _check_keys(table: Mapping[str, object], kind: type[Struct], where: str) -> None:
    """Unknown keys before types, since msgspec names no nearest key; those of consent before all."""
    known = [field.name for field in msgspec.structs.fields(kind)]
    for key, value in table.items():
        if key in ("erase", "yes") or "consent" in key:
            raise UsageError(
                f"{where}{key}: a plan carries no consent",
                "take the key out; what may be erased or spent is said on the command line, each time anew",
            )
        if key not in known:
            raise unknown(f"key {f'in [{where[:-1]}]' if where else 'at the top'}:", key, known)
        for inner in value if isinstance(value, list) else [value]:
            if key in _TABLES and isinstance(inner, dict):
                _check_keys(inner, _TABLES[key], f"{where}{key}.")


def _with_key(complaint: str) -> str:
    """msgspec's "Expected `int`, got `str` - at `$.rule.runs`" with the key in front."""
    what, _, where = complaint.partition(" - at `$")
    what = (
        what.replace("`", "")
        .replace(" | null", "")
        .replace("Object", "table")
        .replace("object", "table")
        .replace("array", "list")
    )
    key = where.strip(".`")
    return f"{key}: {what[:1].lower()}{what[1:]}" if key else what


def _wish(file: _File) -> Wish:
    _one_of("filesystems", "filesystem", file.filesystems, file.filesystem)
    _one_of("workloads", "workload", file.workloads, file.workload)
    rule = file.rule
    choices = (
        *(filesystem_choice(word) for word in file.filesystems),
        *(_choice(table) for table in file.filesystem),
    )
    return Wish(
        filesystems=choices or None,
        workloads=(*file.workloads, *(table.name for table in file.workload)) or None,
        settings=tuple(one for table in file.workload for one in _settings(table)),
        targets=file.targets or None,
        baseline=file.baseline,
        until=None if rule.until is None else parse_share(str(rule.until), "rule.until"),
        runs=rule.runs,
        max_runs=rule.max_runs,
        budget_s=None if rule.budget is None else budget_seconds(str(rule.budget), "rule.budget"),
        sync=None if file.sync is None else sync_policy(file.sync, "sync"),
        fsck=file.fsck,
        verify=file.verify,
        deadline_s=None if file.deadline is None else parse_duration(str(file.deadline), "deadline"),
        aa=file.aa,
        memory_bytes=None if file.memory is None else parse_size(str(file.memory), "memory"),
        seed=file.seed,
        label=file.label,
    )


def _one_of(words: str, tables: str, *given: tuple[object, ...]) -> None:
    if all(given):
        raise UsageError(f"{words} and [[{tables}]] are both there", "say it in one of the two ways")


def _choice(table: _Filesystem) -> FilesystemChoice:
    where = f"filesystem {table.type}: mkfs"
    mkfs = split_words(table.mkfs, where) if isinstance(table.mkfs, str) else table.mkfs
    mount = comma_list(table.mount) if isinstance(table.mount, str) else table.mount
    return FilesystemChoice(table.type, table.label or label_for(table.type, mkfs, mount), mkfs, mount)


def _settings(table: _Workload) -> list[Assignment]:
    return [Assignment(table.name, key, _text(table.name, key, value)) for key, value in table.settings.items()]


def _text(workload: str, key: str, value: object) -> str:
    """A setting as the text that `--set` would have given."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return str(value)
    raise UsageError(f"workload {workload}: settings.{key} is neither text, number nor true or false")
