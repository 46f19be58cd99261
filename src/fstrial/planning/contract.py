"""What planning is given: the words a person said, and the catalogue of what there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fstrial.model.plan import Setting

__all__ = ["Catalogue", "Configured", "Request"]


@dataclass(frozen=True)
class Request:
    """The words of a command line; None or empty: not given, so the plan file or the default has it.

    `filesystems` are words such as `'ext3 mount=noatime label=old'`, `sets` the `KEY=VALUE` of `--set`.
    Durations, shares and sizes are words too (`10m`, `5%`, `512M`); `budget` may be `none`.
    """

    filesystems: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    baseline: str | None = None
    until: str | None = None
    runs: int | None = None
    max_runs: int | None = None
    budget: str | None = None
    aa: bool | None = None
    memory: str | None = None
    seed: int | None = None
    label: str | None = None
    plan_path: Path | None = None


class Configured(Protocol):
    """A workload with its settings understood."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting there is, defaults included."""


@dataclass(frozen=True)
class Catalogue:
    """What exists, told by the caller so that planning needs no other room.

    `configure(name, settings)` makes a workload of that name and raises UsageError for a setting it does
    not know. `detected(target)` is the type of the filesystem already mounted there (`dir:`), or an empty
    text where a fresh one is made; it raises UsageError for a word that is no target.
    """

    filesystems: tuple[str, ...]
    workloads: tuple[str, ...]
    configure: Callable[[str, Sequence[Setting]], Configured]
    detected: Callable[[str], str]
