"""The C core builds alone and passes its own tests under the sanitizers."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "csrc"


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("gcc")), reason="no make or no gcc")
def test_the_core_passes_its_own_tests() -> None:
    with (SOURCES / "Makefile").open() as lock:  # two runs of the tests share one build folder
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-s", "-j2", "-C", str(SOURCES), "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    built = {file.stem for file in (SOURCES / "build" / "gcc").glob("*.ran")}
    assert built == {file.stem for file in (SOURCES / "tests").glob("test_*.c")}
