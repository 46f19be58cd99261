"""The machine that a run is made on."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fstrial import __version__
from fstrial.base import proc
from fstrial.base.errors import FstrialError
from fstrial.model.record import Environment, Tool
from fstrial.probes._machine import governor

__all__ = ["environment"]

_ALWAYS = ("cp", "tar", "gzip")
_QUICK_S = 5.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+~-]*")


def environment(programs: tuple[str, ...] = (), root: Path = Path("/")) -> Environment:
    """What is known of this machine, with the versions of `programs` and of cp, tar and gzip.

    A fact that cannot be had is an empty text or None. `root` is where its /proc, /sys and /etc are.
    """
    kernel = os.uname()
    cpu = _table(_words("lscpu", "--sysroot", str(root)), ":")
    return Environment(
        fstrial=__version__,
        kernel=kernel.release,
        machine=kernel.machine,
        distribution=_table(_text(root / "etc/os-release"), "=").get("PRETTY_NAME", "").strip("\"'"),
        cpu=cpu.get("Model name", ""),
        cores=os.cpu_count(),
        memory_bytes=_memory_bytes(root),
        governor=governor(root),
        virtualization=cpu.get("Hypervisor vendor", ""),
        clock_ticks_per_s=os.sysconf("SC_CLK_TCK"),
        tools=tuple(Tool(name, _version(name)) for name in sorted({*programs, *_ALWAYS}) if proc.find(name)),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _words(*argv: str) -> str:
    """What a program prints, or an empty text when it cannot say."""
    try:
        done = proc.run(argv, deadline_s=_QUICK_S)
    except FstrialError:
        return ""
    return "" if done.failed else f"{done.stdout}\n{done.stderr}"


def _table(text: str, separator: str) -> dict[str, str]:
    """Lines of `key SEPARATOR value`; of several with one key the first."""
    table: dict[str, str] = {}
    for line in text.splitlines():
        key, found, value = line.partition(separator)
        if found:
            table.setdefault(key.strip(), value.strip())
    return table


def _memory_bytes(root: Path) -> int | None:
    """proc_meminfo(5): MemTotal, in KiB."""
    words = _table(_text(root / "proc/meminfo"), ":").get("MemTotal", "").split()
    return int(words[0]) * 1024 if words else None


def _version(program: str) -> str:
    """What it says of itself: most to --version, the makers of ext2, ext3, ext4 and XFS to -V."""
    for option in ("--version", "-V"):
        found = _VERSION.search(_words(program, option))
        if found:
            return found[0]
    return ""
