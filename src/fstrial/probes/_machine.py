"""What the machine was like during a trial: load, frequency governor, and what its kernel complained of."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fstrial.model.metric import Sample, missing
from fstrial.model.trial import Note, NoteKind

__all__ = ["ACCOUNTING_TICK_S", "BELOW_TICK", "KernelLog", "context", "governor"]

ACCOUNTING_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
"""Unit of the times in /proc/stat (proc_stat(5): USER_HZ)."""

BELOW_TICK = f"below the kernel's accounting tick ({ACCOUNTING_TICK_S * 1000:.0f} ms)"

_KERNEL_LOG = Path("/dev/kmsg")
_RECORD_BYTES = 8192  # CONSOLE_EXT_LOG_MAX before Linux 6.4, PRINTKRB_RECORD_MAX (2048 and its prefix) since
_WARNING = 4  # include/linux/kern_levels.h
_KEPT_LINES = 50
_DEVICE = re.compile(r"\b(loop\d+|zram\d+|[shv]d[a-z]+|nvme\d+n\d+|mmcblk\d+|dm-\d+|md\d+)(?:p?\d+)?\b")
"""Block devices as kernel messages name them, partitions by their disk."""


def context() -> tuple[Sample, ...]:
    """The machine at the moment: the load that others (and the trial before) put on it."""
    try:
        return (Sample("load_1m", os.getloadavg()[0]),)
    except OSError:
        return (missing("load_1m", "this kernel tells no load average"),)


def governor(root: Path = Path("/")) -> str:
    """The CPUs' frequency governors, or an empty text where the kernel does not scale frequencies."""
    files = root.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    return ", ".join(sorted({file.read_text().strip() for file in files}))


class KernelLog:
    """Warnings and worse that the kernel logs while the block lasts (Documentation/ABI/testing/dev-kmsg).

    Without the right to read the log `missing` says why, and there are no lines.
    """

    def __init__(self, path: Path = _KERNEL_LOG) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._kept: list[str] = []
        self._more = 0
        self.missing = ""

    def __enter__(self) -> KernelLog:
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError as error:
            self.missing = f"{self._path} cannot be read: {error.strerror}"
        return self

    def __exit__(self, *exception: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def lines(self) -> tuple[str, ...]:
        """The messages so far, oldest first; of a flood the first fifty and how many followed."""
        while (record := self._next()) is not None:
            complaint = _complaint(record)
            if complaint and len(self._kept) < _KEPT_LINES:
                self._kept.append(complaint)
            elif complaint:
                self._more += 1
        flood = (f"and {self._more} more",) if self._more else ()
        return (*self._kept, *flood)

    def notes(self, devices: tuple[str, ...] = ()) -> tuple[Note, ...]:
        """The same for a result: a warning each, or the fact that the log could not be read.

        `devices` are the names of the trial's own block devices: a line about another one is somebody else's, and
        one that counts what the rate limit swallowed, or tells of a request that a device does not know, is no
        complaint; all these are only facts.
        """
        if self.missing:
            return (Note(NoteKind.FACT, f"kernel log not watched: {self.missing}"),)
        return tuple(
            Note(NoteKind.FACT if _is_minor(line, devices) else NoteKind.WARNING, f"kernel log: {line}")
            for line in self.lines()
        )

    def _next(self) -> bytes | None:
        """The next record; an empty one where records were overwritten before they were read."""
        if self._descriptor is None:
            return None
        try:
            return os.read(self._descriptor, _RECORD_BYTES) or None
        except BlockingIOError:
            return None
        except BrokenPipeError:
            return b""


def _is_minor(line: str, devices: tuple[str, ...]) -> bool:
    if line.endswith("callbacks suppressed"):  # lib/ratelimit.c
        return True
    if line.startswith("operation not supported error"):  # block/blk-core.c: the asker does it another way
        return True
    named = {match[1] for match in _DEVICE.finditer(line)}
    return bool(devices) and bool(named) and named.isdisjoint(devices)


def _complaint(record: bytes) -> str:
    """The first line of a record of the kernel's own at level warning or worse, else an empty text.

    A record is `PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,...];MESSAGE`, priority = facility × 8 + level; the kernel's
    own facility is 0, programs that write to the log have others.
    """
    head, _, message = record.partition(b";")
    priority = head.partition(b",")[0]
    if not priority.isdigit() or int(priority) > _WARNING:
        return ""
    return message.partition(b"\n")[0].decode("utf-8", "replace")
