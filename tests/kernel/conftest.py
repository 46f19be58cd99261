"""Every kernel test gives back what it took: a loop device or a mount on its own folders left behind is a failure."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fstrial.devices._mounts import mounts

_GRACE_S = 5.0  # detaching may be lazy, and a killed process's namespace takes a moment


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    limit = time.monotonic() + _GRACE_S
    while (left := [*_loops(tmp_path), *_mounts(tmp_path)]) and time.monotonic() < limit:
        time.sleep(0.02)
    assert not left


def _loops(folder: Path) -> Iterator[str]:
    """Loop devices over a file below the folder, unlinked ones included."""
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            backing = os.fsdecode(file.read_bytes())
        except OSError:
            continue
        if backing.startswith(f"{folder}/"):
            yield f"{file.parts[3]} over {backing.strip()}"


def _mounts(folder: Path) -> Iterator[str]:
    return (mount.point for mount in mounts() if mount.point.startswith(f"{folder}/"))
