"""What a killed fstrial could have left on the machine, and how to see that it has not.

Each test gives fstrial a cache folder of its own: by it the loop devices, mounts, processes and files of that test are
told from those of anything else that runs at the same time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Haunt"]


@dataclass(frozen=True)
class Haunt:
    """Where one test's fstrial lives."""

    cache: Path

    @property
    def environment(self) -> dict[str, str]:
        """For the controller; it hands the folder on to its worker."""
        return {**os.environ, "XDG_CACHE_HOME": str(self.cache)}

    def left_after(self, within_s: float = 20.0) -> list[str]:
        """What is still there when the kernel has had its moment to take a namespace down."""
        limit = time.monotonic() + within_s
        while (left := [*self.loops(), *self.mounts(), *self.processes(), *self.files()]) and time.monotonic() < limit:
            time.sleep(0.05)
        return left

    def loops(self) -> Iterator[str]:
        """Loop devices over an image in the folder, unlinked ones included."""
        for file in Path("/sys/block").glob("loop*/loop/backing_file"):
            try:
                backing = file.read_text(errors="replace").strip()
            except OSError:
                continue  # detached since
            if backing.startswith(f"{self.cache}/"):
                yield f"{file.parts[3]} over {backing}"

    def mounts(self) -> Iterator[str]:
        """Mounts below the folder in any namespace that can be looked into."""
        for table in Path("/proc").glob("[0-9]*/mountinfo"):
            try:
                lines = table.read_text(errors="surrogateescape").splitlines()
            except OSError:
                continue
            yield from (f"mount {line.split()[4]}" for line in lines if line.split()[4].startswith(f"{self.cache}/"))

    def processes(self) -> Iterator[str]:
        """Processes that were told of the folder: the worker, its supervisor and what they started inside it."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
                told = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            knows = f"XDG_CACHE_HOME={self.cache}".encode() in told or f"{self.cache}/".encode() in command
            if knows and folder.name != str(os.getpid()):
                yield f"{folder.name} {command.decode(errors='replace')}"

    def files(self) -> Iterator[str]:
        """Everything in the folder but staged sources, which are kept on purpose."""
        kept = self.cache / "fstrial/sources"
        return (str(path) for path in self.cache.rglob("*") if path.is_file() and kept not in path.parents)
