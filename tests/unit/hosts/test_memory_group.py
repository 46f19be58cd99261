"""The memory cgroup: found in either version, removed whatever happens, orphans included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fstrial.base.errors import MissingRequirement, UsageError
from fstrial.hosts._memory import group_parent, memory_group

V1 = "36 30 0:31 / {folder} rw,relatime - cgroup cgroup rw,memory\n"
V1_OTHER = "37 30 0:32 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
V2 = "38 30 0:33 / {folder} rw,nosuid,nodev,noexec,relatime - cgroup2 cgroup2 rw,nsdelegate\n"


def _mounts(tmp_path: Path, text: str) -> Path:
    table = tmp_path / "mountinfo"
    table.write_text(text)
    return table


def test_version_1_is_found_by_its_memory_controller(tmp_path: Path) -> None:
    table = _mounts(tmp_path, V1_OTHER + V1.format(folder="/sys/fs/cgroup/memory"))
    assert group_parent(table) == (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes")


def test_version_2_is_found_where_children_get_the_controller(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert group_parent(_mounts(tmp_path, V2.format(folder=tmp_path))) == (tmp_path, "memory.max")


def test_version_2_without_the_controller_is_a_missing_requirement(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu pids\n")
    with pytest.raises(MissingRequirement, match="memory"):
        group_parent(_mounts(tmp_path, V2.format(folder=tmp_path)))


def test_a_bound_in_which_no_program_can_live_is_refused() -> None:
    with pytest.raises(UsageError, match="48 MiB"), memory_group(1 << 20):
        pass


@pytest.mark.kernel
@pytest.mark.usefixtures("need_root")
def test_a_group_bounds_and_is_gone_afterwards_and_so_are_orphans() -> None:
    parent, limit_file = group_parent()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    orphan = parent / f"fstrial-{ended.pid}"
    orphan.mkdir()
    with memory_group(64 << 20) as folder:
        assert not orphan.exists()
        assert folder.name == f"fstrial-{os.getpid()}"
        assert (folder / limit_file).read_text().strip() == str(64 << 20)
    assert not folder.exists()
