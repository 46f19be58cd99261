"""Sources: what they yield, in which order, what they leave out, and how they fail."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import tarfile
from pathlib import Path

import pytest

from fstrial.base.errors import DataError, FstrialError, MissingRequirement, UsageError
from fstrial.trees.folders import Folder, System
from fstrial.trees.member import LeftOut, Member, Source
from fstrial.trees.sources import source_of
from fstrial.trees.tarballs import Tarball, linux


def contents(source: Source) -> dict[str, bytes]:
    return {member.path: b"".join(member.chunks()) for member in source.members() if isinstance(member, Member)}


def left_out(source: Source) -> dict[str, str]:
    return {member.path: member.reason for member in source.members() if isinstance(member, LeftOut)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    (root / "b" / "deep").mkdir(parents=True)
    (root / "a").mkdir()
    for name in ("z.c", "a/2.c", "a/10.c", "b/deep/x.h", "b/y.h"):
        (root / name).write_text(f"this is {name}\n")
    return root


def test_a_folder_is_walked_in_order_of_bytes(folder: Path) -> None:
    assert list(contents(Folder(folder))) == ["z.c", "a/10.c", "a/2.c", "b/y.h", "b/deep/x.h"]


def test_a_folder_gives_the_files_themselves(folder: Path) -> None:
    assert contents(Folder(folder))["b/deep/x.h"] == b"this is b/deep/x.h\n"


def test_links_and_devices_are_left_out(folder: Path) -> None:
    (folder / "link").symlink_to("z.c")
    (folder / "loop").symlink_to(".")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))
    reasons = left_out(Folder(folder))
    assert reasons["link"] == reasons["loop"] == "symbolic links"
    assert reasons["pipe"] == reasons["socket"] == "devices, sockets and pipes"


def test_a_folder_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UsageError, match="/not/here is not there"):
        list(Folder(Path("/not/here")).members())


@pytest.mark.parametrize("name", ["a/2.c", "b"])
def test_an_unreadable_file_of_a_named_folder_is_an_error(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_read(str(folder / name), monkeypatch)
    with pytest.raises(UsageError, match=f"{name}.* cannot be read"):
        list(Folder(folder).members())


def refuse_to_read(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a user who is not root: root may read everything."""
    access, scandir = os.access, os.scandir

    def deny(folder: str) -> object:
        if folder == path:
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "access", lambda name, mode: name != path and access(name, mode))
    monkeypatch.setattr(os, "scandir", deny)


def test_the_machine_gives_headers_then_python_then_share(tmp_path: Path) -> None:
    for name in ("share/doc/a", "include/z.h", "lib/python3.11/os.py", "lib/python3.11/__pycache__/os.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "lib/python3.12").symlink_to("python3.11")
    assert list(contents(System(tmp_path))) == ["include/z.h", "lib/python3.11/os.py", "share/doc/a"]


def test_the_machine_leaves_out_what_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "share").mkdir()
    (tmp_path / "share/secret").touch()
    refuse_to_read(str(tmp_path / "share/secret"), monkeypatch)
    assert left_out(System(tmp_path)) == {"share/secret": "files and folders that may not be read"}


@pytest.mark.parametrize("how", ["-cf", "-czf", "-cJf", "-cjf"])
def test_a_tarball_holds_what_its_folder_holds(folder: Path, tmp_path: Path, how: str) -> None:
    archive = tmp_path / "packed"
    subprocess.run(["tar", how, archive, "-C", folder, "."], check=True)
    assert contents(Tarball(archive)) == contents(Folder(folder))


def test_links_in_a_tarball_are_left_out(folder: Path, tmp_path: Path) -> None:
    (folder / "soft").symlink_to("/etc/passwd")
    (folder / "z.d").hardlink_to(folder / "z.c")
    archive = tmp_path / "packed.tar"
    subprocess.run(["tar", "-cf", archive, "-C", folder, "--sort=name", "."], check=True)
    assert left_out(Tarball(archive)) == dict.fromkeys(("soft", "z.d"), "links, devices and pipes")


@pytest.mark.parametrize("name", ["/etc/evil", "../evil", "a/../../evil", "a/.."])
def test_a_tarball_that_reaches_outside_is_refused(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "evil.tar"
    with tarfile.open(archive, "w") as packed:
        packed.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(DataError, match="outside"):
        list(Tarball(archive).members())


@pytest.mark.parametrize("how", ["-czf", "-cJf", "-cjf", "-cf"])
def test_a_truncated_tarball_is_damaged_data(tmp_path: Path, how: str) -> None:
    (tmp_path / "random").write_bytes(os.urandom(2_500_000))
    archive = tmp_path / "packed"
    subprocess.run(["tar", how, archive, "-C", tmp_path, "random"], check=True)
    os.truncate(archive, 2_000_000)
    with pytest.raises(DataError, match="damaged"):
        contents(Tarball(archive))


def test_a_flipped_bit_in_a_compressed_tarball_is_damaged_data(tmp_path: Path) -> None:
    (tmp_path / "random").write_bytes(os.urandom(300_000))
    archive = tmp_path / "packed"
    subprocess.run(["tar", "-cJf", archive, "-C", tmp_path, "random"], check=True)
    damaged = bytearray(archive.read_bytes())
    damaged[150_000] ^= 1
    archive.write_bytes(damaged)
    with pytest.raises(DataError, match="damaged"):
        contents(Tarball(archive))


def test_a_file_that_is_no_tarball_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n" * 1000)
    with pytest.raises(UsageError, match="no tarball"):
        list(Tarball(tmp_path / "notes.txt").members())


def test_linux_takes_the_newest_package(tmp_path: Path) -> None:
    for version in ("6.1", "6.12", "6.9"):
        (tmp_path / f"linux-source-{version}.tar.xz").touch()
    assert linux(tmp_path).where.endswith("linux-source-6.12.tar.xz")


def test_linux_without_its_package_names_it(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement) as caught:
        linux(tmp_path)
    assert "apt-get install linux-source" in caught.value.hint


def test_a_word_means_a_source(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.tar").touch()
    assert isinstance(source_of("system"), System)
    assert isinstance(source_of(str(folder)), Folder)
    assert isinstance(source_of(str(tmp_path / "t.tar")), Tarball)


def test_an_unknown_word_suggests_the_nearest() -> None:
    with pytest.raises(FstrialError) as caught:
        source_of("sistem")
    assert "did you mean 'system'" in caught.value.hint
