"""The machine as fstrial describes it, against what other programs say of it."""

from __future__ import annotations

import os
import subprocess

from fstrial import __version__
from fstrial.run.machine import environment


def said(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_the_machine_is_as_its_own_programs_describe_it() -> None:
    here = environment()
    assert here.fstrial == __version__
    assert here.kernel == said("uname", "-r")
    assert here.machine == said("uname", "-m")
    assert here.distribution == said("sh", "-c", '. /etc/os-release; echo "$PRETTY_NAME"')
    assert here.cores == int(said("nproc", "--all"))
    assert here.memory_bytes == 1024 * int(said("awk", "/^MemTotal:/ {print $2}", "/proc/meminfo"))
    assert here.clock_ticks_per_s == int(said("getconf", "CLK_TCK"))
    if os.uname().machine == "x86_64":
        assert here.cpu == said("sh", "-c", "grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs")


def test_tools_are_there_once_each_with_the_version_they_say() -> None:
    versions = {tool.name: tool.version for tool in environment(("tar", "du", "no-such-program")).tools}
    assert sorted(versions) == ["cp", "du", "gzip", "tar"]
    for name, version in versions.items():
        assert version
        assert version in said(name, "--version").splitlines()[0]


def test_a_tool_that_tells_no_version_is_kept_without_one() -> None:
    versions = {tool.name: tool.version for tool in environment(("false",)).tools}
    assert versions["false"] in ("", said("cp", "--version").split()[3])
