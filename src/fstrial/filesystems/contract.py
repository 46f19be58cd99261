"""What a filesystem must say of itself. One small file each; the room finds it by its name."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from fstrial.base import kernel, proc
from fstrial.base.registry import Registry

__all__ = ["Checked", "Filesystem", "Health", "Limits", "Replay", "filesystems", "kernel_has", "no_verdict"]


class Health(Enum):
    """What a checker's exit status means, whichever checker it was.

    UNKNOWN: the checker could not run or cannot tell.
    """

    CLEAN = "clean"
    REPAIRED = "repaired"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Checked:
    health: Health
    reason: str = ""


class Replay(Enum):
    """Who replays the journal after a crash. NOBODY: there is none."""

    KERNEL = "the kernel, at mount"
    CHECKER = "the checker"
    NOBODY = "nobody: it has no journal"


@dataclass(frozen=True)
class Limits:
    """What a filesystem cannot hold. Sizes in bytes; None: no limit that a workload of ours could meet."""

    name_bytes: int = 255
    path_bytes: int = 4096
    maximum_file_bytes: int | None = None
    case_sensitive: bool = True
    symlinks: bool = True
    hard_links: bool = True
    owners: bool = True
    permissions: bool = True
    forbidden_characters: str = ""


class Filesystem(ABC):
    """One filesystem type.

    Programs are returned as argv lists, never run here, so that a plan can be shown before anything happens.
    """

    name: str
    """The word people type."""
    kernel_type: str
    """The type mount(2) and /proc/filesystems know."""
    fuse: bool = False
    package: str
    """Debian package that brings the programs."""
    programs: tuple[str, ...]
    """Every program used, the maker first."""
    minimum_bytes: int
    """Smallest device its maker accepts by default."""
    limits: Limits = Limits()
    replay: Replay = Replay.KERNEL
    settle_s: float = 0.0
    """How long after umount its device may still be held."""
    discard: str = ""
    """What the maker does about discard, in words, for the result."""

    @abstractmethod
    def make(self, device: str, options: tuple[str, ...]) -> tuple[str, ...]:
        """argv that makes it, without questions, without lazy work left for later."""

    @abstractmethod
    def check(self, device: str) -> tuple[str, ...]:
        """argv that checks it and writes nothing."""

    @abstractmethod
    def check_means(self, exit_status: int, words: str = "") -> Checked:
        """The meaning of every exit status of `check`; `words` is what it printed, which some need beside it."""

    @abstractmethod
    def repair(self, device: str) -> tuple[str, ...]:
        """argv that repairs it without questions."""

    @abstractmethod
    def repair_means(self, exit_status: int, words: str = "") -> Checked:
        """The meaning of every exit status of `repair`."""

    @abstractmethod
    def new_uuid(self, device: str) -> tuple[str, ...]:
        """argv that gives it an identity of its own, for copies mounted beside the original."""

    def mount_command(self, device: str, folder: Path, options: tuple[str, ...]) -> tuple[str, ...]:
        """What a person would type to mount it; shown and stored."""
        chosen = ("-o", ",".join(options)) if options else ()
        return ("mount", "-t", self.kernel_type, *chosen, device, str(folder))

    def mount(self, device: str, folder: Path, options: tuple[str, ...]) -> None:
        """Mount it by mount(2). Raises OSError, or MachineError from a FUSE program."""
        kernel.mount(device, folder, self.kernel_type, options)

    def unsupported_here(self) -> tuple[str, ...]:
        """Reasons why it cannot run natively on this machine; empty when it can."""
        reasons = []
        absent = [program for program in self.programs if proc.find(program) is None]
        if absent:
            reasons.append(f"not installed: {', '.join(absent)} (package {self.package})")
        if not kernel_has(self.kernel_type):
            reasons.append(f"this kernel has no {self.kernel_type} and no module for it")
        return tuple(reasons)


def kernel_has(kernel_type: str, root: Path = Path("/")) -> bool:
    """Whether this kernel has a filesystem, or would load its module when it is first mounted.

    fs/filesystems.c, get_fs_type(): the kernel asks modprobe for the alias `fs-TYPE`.
    """
    known = {line.split()[-1] for line in (root / "proc/filesystems").read_text().splitlines() if line.strip()}
    if kernel_type in known:
        return True
    aliases = root / "lib/modules" / os.uname().release / "modules.alias"
    return aliases.exists() and any(
        line.startswith(f"alias fs-{kernel_type} ") for line in aliases.read_text().splitlines()
    )


def no_verdict(program: str, exit_status: int) -> Checked:
    """For an exit status that the program's man page does not explain, or a signal."""
    how = f"was ended by signal {-exit_status}" if exit_status < 0 else f"ended with status {exit_status}"
    return Checked(Health.UNKNOWN, f"{program} {how}, which says nothing about the filesystem")


filesystems: Registry[type[Filesystem]] = Registry("fstrial.filesystems", "Type", "filesystem")
"""Each file of this room names its class `Type`."""
