"""The mount table, with every byte a name may have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fstrial.devices._mounts import mount_of, mounts, unescape

ESCAPED = b" \t\n\\#"


def escape(name: bytes) -> bytes:
    """As the kernel does it: fs/proc_namespace.c, mangle(), with seq_file's octal escapes."""
    return b"".join(b"\\%03o" % byte if bytes([byte]) in ESCAPED else bytes([byte]) for byte in name)


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_whatever_the_kernel_escapes_is_read_back(name: bytes) -> None:
    assert os.fsencode(unescape(escape(name))) == name


def _table(folder: Path, task: str, namespace: str, *lines: bytes) -> None:
    place = folder / task if task == "self" else folder / task / "task" / task
    (place / "ns").mkdir(parents=True)
    (place / "ns/mnt").symlink_to(f"mnt:[{namespace}]")
    (place / "mountinfo").write_bytes(b"".join(line + b"\n" for line in lines))


LINE = b"36 35 98:0 / /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"  # proc_pid_mountinfo(5)


def test_each_namespace_is_read_once_and_all_of_them(tmp_path: Path) -> None:
    _table(tmp_path, "self", "4026531840", LINE)
    _table(tmp_path, "2", "4026531840", b"a table that would make no sense")
    _table(tmp_path, "3", "4026531999", LINE, LINE.replace(b"98:0", b"7:1").replace(b"/mnt2", b"/sp\\040ace"))
    found = mounts(tmp_path)
    assert {(one.number, one.point, one.kind, one.source, one.process) for one in found} == {
        ("98:0", "/mnt2", "ext3", "/dev/root", ""),
        ("7:1", "/sp ace", "ext3", "/dev/root", "3"),
    }
    assert len(found) == 2, "what several namespaces have is told once"


def test_the_namespace_of_a_thread_is_read_too(tmp_path: Path) -> None:
    _table(tmp_path, "self", "1")
    _table(tmp_path, "7", "1")
    thread = tmp_path / "7/task/8"
    (thread / "ns").mkdir(parents=True)
    (thread / "ns/mnt").symlink_to("mnt:[2]")
    (thread / "mountinfo").write_bytes(LINE)
    assert [(one.point, one.process) for one in mounts(tmp_path)] == [("/mnt2", "8")]


@pytest.mark.parametrize("task", ["self", "9"])
def test_a_table_that_makes_no_sense_is_an_error_not_an_empty_table(tmp_path: Path, task: str) -> None:
    _table(tmp_path, "self", "0")
    if task == "self":
        (tmp_path / "self/mountinfo").write_bytes(b"nonsense")
    else:
        _table(tmp_path, task, "1", b"nonsense")
    with pytest.raises((IndexError, ValueError)):
        mounts(tmp_path)


def test_our_own_table_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        mounts(tmp_path)


def test_the_mount_of_a_folder_is_the_deepest_and_the_newest_over_it(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_bytes(
        b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        b"2 1 8:2 / /srv rw - xfs /dev/sda2 rw\n"
        b"3 2 8:3 / /srv rw - btrfs /dev/sda3 rw\n"
        b"4 1 8:4 / /srvx rw - ext4 /dev/sda4 rw\n"
    )
    for folder, source in (("/srv/data", "/dev/sda3"), ("/srvx", "/dev/sda4"), ("/other", "/dev/sda1")):
        mount = mount_of(Path(folder), table)
        assert mount is not None
        assert mount.source == source
