"""Metadata phases, judged by what the folder holds afterwards."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest

from fstrial.base.errors import UsageError
from fstrial.engine import _native
from fstrial.engine.phase import Kind, MetadataPhase, Naming, Placement, check
from fstrial.engine.run import run


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


def then(phase: MetadataPhase, kind: Kind, **changes: object) -> MetadataPhase:
    return msgspec.structs.replace(phase, kind=kind, **changes)


def done(phase: MetadataPhase) -> int:
    report = run(phase)
    assert not report.failed, report.reason
    return report.of(phase.kind).operations


def test_names_live_through_create_stat_rename_and_unlink(tmp_path: Path) -> None:
    phase = MetadataPhase(tmp_path, Kind.CREATE, names=40, workers=2, file_bytes=700, seed=3)
    assert done(phase) == 80
    assert len(files(tmp_path)) == 80
    assert all((tmp_path / name).stat().st_size == 700 for name in files(tmp_path))
    assert run(then(phase, Kind.READ, shuffled=True)).moved_bytes == 80 * 700
    assert done(then(phase, Kind.STAT, shuffled=True)) == 80
    assert done(then(phase, Kind.RENAME)) == 80
    assert all(name.endswith(".new") for name in files(tmp_path))
    assert done(then(phase, Kind.UNLINK, suffix=".new", shuffled=True)) == 80
    assert files(tmp_path) == []


def test_hard_links_and_symbolic_links_point_to_their_names(tmp_path: Path) -> None:
    phase = MetadataPhase(tmp_path, Kind.CREATE, names=5)
    done(phase)
    done(then(phase, Kind.LINK, new_suffix=".hard"))
    done(then(phase, Kind.SYMLINK, new_suffix=".soft"))
    for name in (_native.metadata_path(phase, 0, number) for number in range(5)):
        assert (tmp_path / f"{name}.hard").stat().st_ino == (tmp_path / name).stat().st_ino
        assert (tmp_path / f"{name}.soft").readlink() == Path(name)


def test_extended_attributes_are_set_and_read_back(tmp_path: Path) -> None:
    phase = MetadataPhase(tmp_path, Kind.CREATE, names=5, xattr_bytes=50)
    done(phase)
    report = run(then(phase, Kind.SETXATTR))
    if report.failure and report.failure.error == errno.EOPNOTSUPP:
        pytest.skip("the filesystem of the temporary folder has no user attributes")
    assert not report.failed, report.reason
    assert all(len(os.getxattr(tmp_path / name, "user.fstrial")) == 50 for name in files(tmp_path))
    assert run(then(phase, Kind.GETXATTR)).moved_bytes == 250


@pytest.mark.parametrize("placement", Placement)
def test_a_tree_is_filled_one_directory_after_the_other(placement: Placement, tmp_path: Path) -> None:
    phase = MetadataPhase(tmp_path, Kind.CREATE, names=30, workers=2, placement=placement, directories=9, depth=2)
    assert done(phase) == 60
    leaves = {path.parent for path in tmp_path.rglob("*") if path.is_file()}
    roots = 2 if placement is Placement.APART else 1
    assert len(leaves) == 8 * roots  # 30 names in nines: four in each of seven, two in the eighth
    assert done(then(phase, Kind.READDIR)) == 9 * roots
    assert done(then(phase, Kind.MKDIR, suffix=".d")) == 60
    assert done(then(phase, Kind.RMDIR, suffix=".d")) == 60


def test_the_number_s_place_decides_whether_names_sort_by_creation(tmp_path: Path) -> None:
    for naming in Naming:
        phase = MetadataPhase(tmp_path, Kind.STAT, names=100, naming=naming)
        names = [_native.metadata_path(phase, 0, number) for number in range(100)]
        assert (names == sorted(names)) == (naming is Naming.NUMBER_FIRST)


def test_an_error_names_the_file_and_keeps_what_was_done(tmp_path: Path) -> None:
    phase = MetadataPhase(tmp_path, Kind.CREATE, names=20)
    done(phase)
    missing = _native.metadata_path(phase, 0, 12)
    (tmp_path / missing).unlink()
    report = run(then(phase, Kind.STAT))
    assert report.failure is not None
    assert (report.failure.error, report.failure.name) == (errno.ENOENT, 12)
    assert missing in report.reason
    assert report.of(Kind.STAT).operations == 12
    assert report.of(Kind.STAT).errors == 1


def test_workers_processes_keep_their_own_working_directory(tmp_path: Path) -> None:
    before = Path.cwd()
    assert done(MetadataPhase(tmp_path, Kind.CREATE, names=10, workers=2, processes=True)) == 20
    assert done(MetadataPhase(tmp_path, Kind.UNLINK, names=10, workers=2)) == 20
    assert Path.cwd() == before


def test_what_cannot_be_is_said_in_words(tmp_path: Path) -> None:
    for phase in (
        MetadataPhase(tmp_path, Kind.SYNC, names=1),
        MetadataPhase(tmp_path, Kind.STAT, names=0),
        MetadataPhase(tmp_path, Kind.RENAME, names=1, suffix=".a", new_suffix=".a"),
    ):
        with pytest.raises(UsageError):
            check(phase)
