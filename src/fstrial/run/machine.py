"""The machine that a run is made on."""

from __future__ import annotations

import os
import platform
import re

from fstrial import __version__
from fstrial.base import proc
from fstrial.base.errors import FstrialError
from fstrial.model.record import Environment, Tool
from fstrial.probes._machine import governor

__all__ = ["environment"]

_ALWAYS = ("cp", "tar", "gzip")
_QUICK_S = 5.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+~-]*")


def environment(programs: tuple[str, ...] = ()) -> Environment:
    """What is known of this machine, with the versions of `programs` and of cp, tar and gzip.

    A fact that cannot be had is an empty text or None.
    """
    kernel = os.uname()
    cpu = _cpu()
    return Environment(
        fstrial=__version__,
        kernel=kernel.release,
        machine=kernel.machine,
        distribution=_distribution(),
        cpu=cpu.get("Model name", ""),
        cores=os.cpu_count(),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        governor=governor(),
        virtualization=cpu.get("Hypervisor vendor", ""),
        clock_ticks_per_s=os.sysconf("SC_CLK_TCK"),
        tools=tuple(Tool(name, _version(name)) for name in sorted({*programs, *_ALWAYS}) if proc.find(name)),
    )


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _cpu() -> dict[str, str]:
    """What lscpu(1) says: it knows where each architecture and hypervisor keeps its name."""
    lines = (line.partition(":") for line in _words("lscpu").splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


def _version(program: str) -> str:
    """What it says of itself: most to --version, the makers of ext2, ext3, ext4 and XFS to -V."""
    for option in ("--version", "-V"):
        found = _VERSION.search(_words(program, option))
        if found:
            return found[0]
    return ""


def _words(*argv: str) -> str:
    """What a program prints, or an empty text when it cannot say."""
    try:
        done = proc.run(argv, deadline_s=_QUICK_S)
    except FstrialError:
        return ""
    return "" if done.failed else f"{done.stdout}\n{done.stderr}"
