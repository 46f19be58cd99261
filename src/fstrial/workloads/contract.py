"""What a workload is: settings, a declaration of its figures, sources staged once, and phases run on a bench."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from fstrial.base.proc import Completed
from fstrial.base.registry import Registry, unknown
from fstrial.model.declaration import Declaration
from fstrial.model.plan import Setting, SyncPolicy

__all__ = [
    "Bench",
    "Key",
    "Needs",
    "Phase",
    "PhaseFailed",
    "Stage",
    "Workload",
    "WrongContent",
    "workloads",
    "yes_or_no",
]


class PhaseFailed(Exception):
    """The phase could not be done: its times so far are lower bounds, and this says why."""


class WrongContent(Exception):
    """The filesystem gave back other bytes than were written. Fails the whole run, loudly."""


@dataclass(frozen=True)
class Key:
    """A setting's name, its default as text, what it means, and the check that turns text into a value.

    `parse(text, what)` raises UsageError naming `what`.
    """

    name: str
    default: str
    about: str
    parse: Callable[[str, str], object] = field(default=lambda text, what: text)


def yes_or_no(text: str, what: str) -> bool:
    """The `parse` of a Key that is a switch. Raises UsageError."""
    if text not in ("yes", "no"):
        raise unknown(what, text, ("yes", "no"))
    return text == "yes"


@dataclass(frozen=True)
class Needs:
    """What one trial takes: the device size wanted, bytes written to it, files made, and the largest and deepest.

    `device_bytes` includes room to spare; `write_bytes` and `files` feed the expected cost.
    """

    device_bytes: int
    write_bytes: int
    files: int
    largest_file_bytes: int = 0
    longest_name_bytes: int = 0
    symlinks: bool = False


@dataclass(frozen=True)
class Stage:
    """Where a workload may put what it needs beside the filesystem under trial.

    `memory` is a private tmpfs that vanishes with the worker, or None where none can be mounted. `folder` is on
    disk, ours alone, and kept between runs. `may_drop` says whether caches can be dropped (root).
    """

    memory: Path | None
    folder: Path
    may_drop: bool


class Bench(Protocol):
    """What a trial hands to the phases of a workload."""

    @property
    def root(self) -> Path:
        """The empty folder to work in, on the filesystem under trial."""

    @property
    def seed(self) -> int: ...

    def run(
        self, argv: Sequence[str], cwd: Path | None = None, accept: tuple[int, ...] = (0,), discard: bool = False
    ) -> Completed:
        """Run a program of the phase: its CPU time is the phase's, the command is kept.

        `discard` sends what it prints to /dev/null. Raises PhaseFailed with its words when it ends otherwise than in
        `accept`.
        """

    def count(self, operations: int = 0, moved_bytes: int = 0) -> None:
        """Add to what the phase did."""

    def record(self, metric: str, value: float) -> None:
        """A figure of the phase that the workload declared."""

    def read_space(self, when: str, folder: Path) -> None:
        """Keep du, statfs and allocation under that name; the phase gets `used_bytes` and `du_bytes`."""

    def note(self, text: str, warning: bool = False) -> None: ...


@dataclass(frozen=True)
class Phase:
    """One step of a workload.

    `work` alone is timed; `before` and `after` are not. `shows` is what a person would type for it. `cold`: the
    filesystem is mounted anew and caches dropped before it. `timed` False: no times, it only prepares or reads.
    """

    name: str
    work: Callable[[Bench], None]
    shows: tuple[tuple[str, ...], ...] = ()
    before: Callable[[Bench], None] | None = None
    after: Callable[[Bench], None] | None = None
    cold: bool = False
    timed: bool = True


class Workload(ABC):
    """One workload with its settings. Made on the controller's side to plan, on the worker's to run."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for `fstrial list workloads`: what it does and what it is faithful to."""
    keys: ClassVar[tuple[Key, ...]]

    def __init__(self, settings: Sequence[Setting] = ()) -> None:
        """Raises UsageError for an unknown key or a value that is none."""
        known = {key.name: key for key in self.keys}
        chosen = {key.name: key.default for key in self.keys}
        for setting in settings:
            if setting.key not in known:
                raise unknown(f"setting of {self.name}", setting.key, known)
            chosen[setting.key] = setting.value
        self.settings = tuple(Setting(key, value) for key, value in chosen.items())
        self._values = {key.name: key.parse(chosen[key.name], f"{self.name}.{key.name}") for key in self.keys}

    def value(self, key: str) -> object:
        """The parsed value of a setting."""
        return self._values[key]

    @abstractmethod
    def declare(self, sync: SyncPolicy) -> Declaration:
        """Its figures under that sync policy."""

    @abstractmethod
    def needs(self) -> Needs:
        """What a trial takes. May look at sources; raises UsageError when one is missing or unreadable."""

    @abstractmethod
    def prepare(self, stage: Stage) -> tuple[str, ...]:
        """Stage sources, once a worker. Returns facts for the result (counts, bytes, gzip ratio)."""

    @abstractmethod
    def phases(self, root: Path) -> tuple[Phase, ...]:
        """The phases of a measured trial that works in `root`. `prepare` came before, except for a dry run."""

    def verification(self, root: Path) -> tuple[Phase, ...]:
        """Phases of the unmeasured trial; the last one's filesystem was mounted anew. Raises WrongContent.

        Empty: this workload has no content to check.
        """
        return ()

    def requires(self) -> tuple[str, ...]:
        """Programs it runs that might be absent."""
        return ()


workloads: Registry[type[Workload]] = Registry("fstrial.workloads", "Load", "workload")
"""Each file of this room names its class `Load`."""
