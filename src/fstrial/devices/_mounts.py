"""The mount tables of every mount namespace that can be seen from here (proc_pid_mountinfo(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mount", "mount_of", "mounts", "unescape"]

_OCTAL = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One line of a mount table. `number` is `MAJOR:MINOR`; paths are bytes made text by `os.fsdecode`."""

    number: str
    point: str
    kind: str
    source: str


def unescape(field: bytes) -> str:
    """A field in which the kernel wrote blanks, newlines and backslashes as octal (fs/proc_namespace.c, mangle())."""
    return os.fsdecode(_OCTAL.sub(lambda match: bytes([int(match[1], 8)]), field))


def _parse(table: bytes) -> Iterator[Mount]:
    for line in table.split(b"\n"):
        if not line:
            continue
        front, _, back = line.partition(b" - ")
        fields, rest = front.split(b" "), back.split(b" ")
        yield Mount(fields[2].decode(), unescape(fields[4]), unescape(rest[0]), unescape(rest[1]))


def mounts(proc: Path = Path("/proc")) -> tuple[Mount, ...]:
    """Every mount of every namespace that some process here lives in and that we may look into, each read once.

    A mount in a namespace that stays closed to us still holds its device exclusively, and is seen by that. Raises
    OSError when a table that is there cannot be read, ValueError or IndexError when one makes no sense: the caller
    takes that as "in use".
    """
    found: dict[Mount, None] = {}
    seen: set[str] = set()
    for folder in sorted(proc.glob("[0-9]*")):
        try:
            namespace = str((folder / "ns/mnt").readlink())
            table = (folder / "mountinfo").read_bytes() if namespace not in seen else b""
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # that process has ended, or its namespace is closed to us
        seen.add(namespace)
        found.update(dict.fromkeys(_parse(table)))
    return tuple(found)


def mount_of(folder: Path, table: Path = Path("/proc/self/mountinfo")) -> Mount | None:
    """The mount that a folder lies on, by the longest mount point above it."""
    real = str(folder.resolve())
    best: Mount | None = None
    for mount in _parse(table.read_bytes()):
        above = mount.point.rstrip("/") + "/"
        if (real + "/").startswith(above) and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best
