"""A bound on memory, page cache included: a memory cgroup of either version, made for one worker.

Kernel documentation: admin-guide/cgroup-v1/memory.rst, admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fstrial.base.errors import MissingRequirement, UsageError
from fstrial.base.units import MIB, format_size

__all__ = ["group_parent", "memory_group"]

_SMALLEST_BYTES = 48 * MIB
"""Below this the worker itself and tar cannot live."""
_PREFIX = "fstrial-"


@contextmanager
def memory_group(limit_bytes: int) -> Iterator[Path]:
    """A fresh memory cgroup with that limit, removed afterwards.

    Groups of controllers that were killed are removed too. Raises UsageError for a limit too small to live in,
    MissingRequirement where there is no memory cgroup we may make.
    """
    if limit_bytes < _SMALLEST_BYTES:
        raise UsageError(
            f"--memory {format_size(limit_bytes)}: the programs themselves need {format_size(_SMALLEST_BYTES)}",
            "give --memory 64M or more",
        )
    parent, limit_file = group_parent()
    _remove_orphans(parent)
    folder = parent / f"{_PREFIX}{os.getpid()}"
    try:
        folder.mkdir(exist_ok=True)
        (folder / limit_file).write_text(str(limit_bytes))
    except OSError as error:
        with suppress(OSError):
            folder.rmdir()
        raise MissingRequirement(
            f"--memory: cannot make the memory cgroup {folder}: {error.strerror}",
            "run as root, or leave --memory out",
        ) from error
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()


def group_parent(mounts: Path = Path("/proc/self/mountinfo")) -> tuple[Path, str]:
    """Where a group can be made, and the name of the file that holds its limit. Raises MissingRequirement."""
    for line in mounts.read_text(errors="surrogateescape").splitlines():
        fields, _, rest = line.partition(" - ")
        folder = Path(fields.split()[4])
        kind, _, options = rest.split(" ", 2)
        if kind == "cgroup" and "memory" in options.split(","):
            return folder, "memory.limit_in_bytes"
        if kind == "cgroup2" and _has_memory(folder):
            return folder, "memory.max"
    raise MissingRequirement(
        "--memory: no memory cgroup is mounted here",
        "boot with cgroup_enable=memory, or mount one:  mount -t cgroup2 none /sys/fs/cgroup",
    )


def _has_memory(folder: Path) -> bool:
    """Whether children of the root group get a memory controller."""
    try:
        return "memory" in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _remove_orphans(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX)
        if owner.isdigit() and not Path("/proc", owner).exists():
            with suppress(OSError):
                folder.rmdir()
