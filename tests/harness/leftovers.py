"""What a killed fstrial could have left on the machine, and how to see that it has not."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.place import cache_folder

__all__ = ["Machine", "wait_until_clean"]


@dataclass(frozen=True)
class Machine:
    """Loop devices in use, mounts in any visible namespace on our folder, our processes, files we keep images in."""

    loops: frozenset[str]
    mounts: frozenset[str]
    processes: frozenset[str]
    files: frozenset[str]
    groups: frozenset[str]

    @classmethod
    def now(cls) -> Machine:
        return cls(_loops(), _mounts(), _processes(), _files(), _groups())

    def beyond(self, before: Machine) -> str:
        """What is there now that was not before, in words."""
        parts = []
        for name in self.__dataclass_fields__:
            extra = getattr(self, name) - getattr(before, name)
            if extra:
                parts.append(f"{name}: {', '.join(sorted(extra))}")
        return "; ".join(parts)


def wait_until_clean(before: Machine, within_s: float = 20.0) -> str:
    """Give the kernel its moment to take a namespace down; what is still left after it, in words."""
    limit = time.monotonic() + within_s
    while (left := Machine.now().beyond(before)) and time.monotonic() < limit:
        time.sleep(0.05)
    return left


def _loops() -> frozenset[str]:
    return frozenset(
        f"{device.name} on {(device / 'loop/backing_file').read_text().strip()}"
        for device in Path("/sys/block").glob("loop*")
        if (device / "loop/backing_file").exists()
    )


def _mounts() -> frozenset[str]:
    ours = str(cache_folder())
    found = set()
    for table in Path("/proc").glob("[0-9]*/mountinfo"):
        try:
            lines = table.read_text(errors="surrogateescape").splitlines()
        except OSError:
            continue
        found |= {line.split()[4] for line in lines if line.split()[4].startswith(ours)}
    return frozenset(found)


def _processes() -> frozenset[str]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "fstrial.run.worker" in command and folder.name != str(os.getpid()):
            found.add(f"{folder.name} {command}")
    return frozenset(found)


def _files() -> frozenset[str]:
    """Everything in our cache but the staged sources, which are kept on purpose."""
    kept = cache_folder() / "sources"
    return frozenset(str(path) for path in cache_folder().rglob("*") if path.is_file() and kept not in path.parents)


def _groups() -> frozenset[str]:
    return frozenset(str(path) for path in Path("/sys/fs/cgroup").glob("**/fstrial-*"))
