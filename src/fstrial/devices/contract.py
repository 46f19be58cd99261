"""Where a filesystem is made: targets as people name them, and the device a trial gets from one.

The only way to something writable is a `Writable`, and only `claim` makes those.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from fstrial.base.registry import Registry
from fstrial.model.trial import DeviceFacts, Note

__all__ = ["Attached", "Target", "Writable", "target_of", "targets"]


class Writable(Protocol):
    """A block device or folder that the guard has let through, and holds."""

    @property
    def path(self) -> Path: ...

    def prove(self) -> None:
        """Prove again, just before something writes, that it is still the same and still free. Raises Refused."""

    def adopt_uuid(self, uuid: str) -> None:
        """Remember the identity our own mkfs just gave it, to be compared by the next `prove`."""


@dataclass(frozen=True)
class Attached:
    """A device ready for one trial.

    Exactly one of `writable.path` kinds: with `folder` False it is a block device to make a filesystem on, with
    `folder` True a private folder on a mounted filesystem. `statistics` is its sysfs `stat` file, or None.
    `below` is the `stat` file of the disk that carries it, or None. `notes` tell what was refused or not done.
    """

    writable: Writable
    facts: DeviceFacts
    folder: bool = False
    statistics: Path | None = None
    below: Path | None = None
    notes: tuple[Note, ...] = ()
    image: int | None = None
    """Descriptor of the image file below a loop device; its blocks are what the device really takes."""


class Target(ABC):
    """A word given to `--on`, understood: `loop:2G@/srv`, `ram:1G`, `/dev/sdb`, `dir:/mnt/nfs`."""

    kind: ClassVar[str]
    about: ClassVar[str]
    """One line for help: what the word looks like and what it gives."""

    def __init__(self, word: str) -> None:
        """Raises UsageError when the word does not make sense."""
        self.word = word

    @abstractmethod
    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        """Look, before anything is touched, whether this target will do for `size_bytes`.

        Writes nothing. Raises Refused, UsageError, MissingRequirement or MachineError with what to do next.
        """

    @abstractmethod
    def size_bytes(self, wanted_bytes: int) -> int | None:
        """The size a trial gets when the workload wants `wanted_bytes`; None where it is not ours to say."""

    @abstractmethod
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> AbstractContextManager[Held]:
        """Worker's side: claim it for the worker's life. `scratch` is a private folder for nodes and mounts."""

    def command(self, size_bytes: int) -> tuple[str, ...]:
        """What a person would type to get the same device, for a dry run; empty when there is nothing to do."""
        return ()

    def detected_filesystem(self) -> str:
        """The type already mounted there (`dir:`), or an empty text."""
        return ""


class Held(Protocol):
    """A target claimed for the worker's life; each trial gets a fresh device from it."""

    def attach(self) -> AbstractContextManager[Attached]: ...


targets: Registry[type[Target]] = Registry("fstrial.devices", "Place", "target", apart=("claim",))
"""Each file of this room that names its class `Place` is a kind of target."""


def target_of(word: str) -> Target:
    """The target a word means. Raises UsageError for an unknown kind, with the nearest one."""
    kind = "disk" if word.startswith("/") else word.partition(":")[0]
    return targets.load(kind)(word)
