"""The mount tables of every mount namespace that can be seen from here (proc_pid_mountinfo(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["Mount", "mount_of", "mounts", "unescape"]

_OCTAL = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One line of a mount table. `number` is `MAJOR:MINOR`; paths are bytes made text by `os.fsdecode`.

    `process` is one that lives in the mount's namespace, or empty for our own namespace.
    """

    number: str
    point: str
    kind: str
    source: str
    process: str = ""


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
    """Every mount of every namespace that a process or thread lives in and that we may look into, ours first.

    Each namespace is read once, and a mount that several have is told once. A mount in a namespace that stays closed
    to us still holds its device exclusively, and is seen by that. Raises OSError when a table that is there cannot be
    read, ValueError or IndexError when one makes no sense: the caller takes that as "in use".
    """
    found = {mount: mount for mount in _parse((proc / "self/mountinfo").read_bytes())}
    seen = {str((proc / "self/ns/mnt").readlink())}
    for task in proc.glob("[0-9]*/task/[0-9]*"):
        try:
            namespace = str((task / "ns/mnt").readlink())
            table = (task / "mountinfo").read_bytes() if namespace not in seen else b""
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # that thread has ended, or its namespace is closed to us
        seen.add(namespace)
        for mount in _parse(table):
            found.setdefault(mount, replace(mount, process=task.name))
    return tuple(found.values())


def mount_of(folder: Path, table: Path = Path("/proc/self/mountinfo")) -> Mount | None:
    """The mount that a folder lies on, by the longest mount point above it."""
    real = str(folder.resolve())
    best: Mount | None = None
    for mount in _parse(table.read_bytes()):
        above = mount.point.rstrip("/") + "/"
        if (real + "/").startswith(above) and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best
