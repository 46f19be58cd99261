"""`fstrial doctor`: what is missing on this machine, and the exact command that mends it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from fstrial.base.errors import ExitCode

__all__ = ["command"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at: fine, or what does not work without it and the command that mends it."""

    what: str
    fine: bool
    cost: str = ""
    remedy: str = ""


@click.command("doctor")
@click.option("--packages", is_flag=True, help="Print only the Debian packages that are missing, on one line.")
def command(packages: bool) -> int:
    """Say what is missing here and the exact command that fixes it.

    Exit status 3 when something is missing that every run needs.
    """
    if packages:
        click.echo(" ".join(_missing_packages()))
        return ExitCode.FINE
    findings = tuple(_look())
    for finding in findings:
        mark = "ok     " if finding.fine else "MISSING"
        click.echo(f"{mark} {finding.what}" + ("" if finding.fine else f": {finding.cost}"))
        if finding.remedy and not finding.fine:
            click.echo(f"        → {finding.remedy}")
    needed = [finding for finding in findings[:2] if not finding.fine]
    return ExitCode.MISSING_REQUIREMENT if needed else ExitCode.FINE


def _look() -> Iterator[Finding]:
    yield _root()
    yield _loop()
    yield from _filesystems()
    yield _programs()
    yield _memory_cgroup()
    yield _pressure()
    yield _kernel_log()


def _root() -> Finding:
    return Finding(
        "root",
        os.geteuid() == 0,
        "only dir: targets work, and caches cannot be dropped",
        "sudo fstrial …   or without root:  fstrial run --on dir:FOLDER",
    )


def _loop() -> Finding:
    return Finding(
        "loop devices",
        Path("/dev/loop-control").exists(),
        "loop: and ram: targets do not work",
        "sudo modprobe loop",
    )


def _filesystems() -> Iterator[Finding]:
    from fstrial.filesystems.contract import filesystems

    for name in filesystems.names():
        filesystem = filesystems.load(name)()
        reasons = filesystem.unsupported_here()
        yield Finding(
            f"filesystem {name}",
            not reasons,
            "; ".join(reasons),
            f"sudo apt-get install {filesystem.package}",
        )


def _programs() -> Finding:
    absent = _absent_programs()
    return Finding(
        "cp, tar, gzip, rm, du and what else workloads run",
        not absent,
        f"not installed: {', '.join(absent)}",
        "sudo apt-get install coreutils tar gzip",
    )


def _absent_programs() -> tuple[str, ...]:
    from fstrial.base.proc import find
    from fstrial.workloads.contract import workloads

    wanted = {program for name in workloads.names() for program in workloads.load(name)().requires()}
    return tuple(sorted(program for program in wanted if find(program) is None))


def _memory_cgroup() -> Finding:
    from fstrial.base.errors import MissingRequirement
    from fstrial.hosts._memory import group_parent

    try:
        group_parent()
    except MissingRequirement as error:
        return Finding("memory cgroup", False, "--memory does not work", error.hint)
    return Finding("memory cgroup", True)


def _pressure() -> Finding:
    try:
        Path("/proc/pressure/cpu").read_text()
    except OSError:
        return Finding("pressure figures (PSI)", False, "pressure_* figures will be missing", "boot with psi=1")
    return Finding("pressure figures (PSI)", True)


def _kernel_log() -> Finding:
    return Finding(
        "kernel log",
        os.access("/dev/kmsg", os.R_OK),
        "kernel complaints during a trial are not seen",
        "run as root",
    )


def _missing_packages() -> tuple[str, ...]:
    """Packages of the filesystems whose programs are absent."""
    from fstrial.base.proc import find
    from fstrial.filesystems.contract import filesystems

    kinds = [filesystems.load(name) for name in filesystems.names()]
    absent = {kind.package for kind in kinds if any(find(program) is None for program in kind.programs)}
    return tuple(sorted(absent))
