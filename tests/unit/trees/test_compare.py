"""A copy that is not what was written is told, and told apart."""

from __future__ import annotations

import os
import shutil
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fstrial.trees.compare import DifferenceKind, first_difference, miscount, tally_of
from fstrial.trees.folders import Folder
from fstrial.trees.manifest import FileEntry, Manifest, Tally
from fstrial.trees.staging import Staged, stage_tree

LARGE = bytes(range(256)) * 10_000  # 2.56 MB: more than two pieces


@pytest.fixture
def staged(tmp_path: Path) -> Staged:
    source = tmp_path / "source"
    for name, content in (
        ("a/one.c", b"int one;\n"),
        ("a/b/two.c", b"int two;\n"),
        ("large", LARGE),
        ("z/empty", b""),
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    (source / "z/last").write_bytes(b"x")
    return stage_tree(Folder(source), len(LARGE) + 19, tmp_path / "staged" / "tree")


@pytest.fixture
def copy(staged: Staged, tmp_path: Path) -> Path:
    shutil.copytree(staged.root, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_true_copy_has_no_difference(staged: Staged, copy: Path) -> None:
    assert first_difference(copy, staged.manifest, staged.root) is None
    assert miscount(copy, staged.manifest) == ""


def test_counts_are_those_of_the_tree(copy: Path) -> None:
    assert tally_of(copy) == Tally(files=5, directories=3, size_bytes=len(LARGE) + 19)


def test_one_wrong_byte_is_told_by_its_offset(staged: Staged, copy: Path) -> None:
    with (copy / "large").open("r+b") as file:
        file.seek(2_000_000)
        file.write(b"\xee")
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert (found.path, found.kind) == ("large", DifferenceKind.CONTENT)
    assert str(found) == "large: holds other bytes than were written, from byte 2000000 on: 0xee instead of 0x80"
    assert miscount(copy, staged.manifest) == ""


def test_without_the_original_a_wrong_byte_is_still_found(staged: Staged, copy: Path) -> None:
    (copy / "a/one.c").write_bytes(b"int 0ne;\n")
    found = first_difference(copy, staged.manifest)
    assert found is not None
    assert (found.path, found.kind) == ("a/one.c", DifferenceKind.CONTENT)


def test_a_missing_file_is_told(staged: Staged, copy: Path) -> None:
    (copy / "a/b/two.c").unlink()
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert (found.path, found.kind) == ("a/b/two.c", DifferenceKind.MISSING)
    assert miscount(copy, staged.manifest) == (
        "4 files, 3 directories, 2560010 bytes; 5 files, 3 directories, 2560019 bytes were written"
    )


def test_an_extra_file_is_told(staged: Staged, copy: Path) -> None:
    (copy / "a/core").touch()
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert (found.path, found.kind) == ("a/core", DifferenceKind.EXTRA)
    assert miscount(copy, staged.manifest)


def test_an_extra_directory_is_told(staged: Staged, copy: Path) -> None:
    (copy / "lost+found").mkdir()
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert (found.path, found.kind) == ("lost+found", DifferenceKind.EXTRA)
    assert miscount(copy, staged.manifest)


@pytest.mark.parametrize("size", [0, 100, len(LARGE) + 1])
def test_a_truncated_or_grown_file_is_told(staged: Staged, copy: Path, size: int) -> None:
    os.truncate(copy / "large", size)
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert (found.path, found.kind) == ("large", DifferenceKind.SIZE)
    assert f"has {size} bytes; {len(LARGE)} were written" in found.detail
    assert miscount(copy, staged.manifest)


def test_a_link_in_place_of_a_file_is_told(staged: Staged, copy: Path) -> None:
    (copy / "large").unlink()
    (copy / "large").symlink_to(staged.root / "large")
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert (found.path, found.kind) == ("large", DifferenceKind.KIND)


def test_a_file_in_place_of_a_directory_is_told(staged: Staged, copy: Path) -> None:
    shutil.rmtree(copy / "z")
    (copy / "z").touch()
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert (found.path, found.kind) == ("z", DifferenceKind.KIND)


def test_a_copy_that_is_not_there_cannot_be_read(staged: Staged, tmp_path: Path) -> None:
    found = first_difference(tmp_path / "nowhere", staged.manifest)
    assert found is not None
    assert found.kind is DifferenceKind.UNREADABLE


def test_a_checksum_error_is_a_difference(staged: Staged, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Btrfs answers EIO where the data do not match their checksum."""
    real = Path.open

    def fail(path: Path, *arguments: object, **named: object) -> object:
        if path == copy / "large":
            raise OSError(5, "Input/output error", str(path))
        return real(path, *arguments, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", fail)
    found = first_difference(copy, staged.manifest, staged.root)
    assert found is not None
    assert str(found) == "large: cannot be read: Input/output error"


def test_digests_are_those_of_blake2b(staged: Staged) -> None:
    entry = next(entry for entry in staged.manifest.files if entry.path == "large")
    assert entry == FileEntry("large", len(LARGE), blake2b(LARGE, digest_size=16).digest())


trees = st.dictionaries(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".c"),
    st.binary(max_size=20),
    min_size=1,
)


@given(trees, trees)
def test_equal_digests_are_equal_trees(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    first, second = (
        Manifest.of(
            FileEntry(path, len(content), blake2b(content, digest_size=16).digest()) for path, content in tree.items()
        )
        for tree in (one, other)
    )
    assert (first.digest == second.digest) == (one == other)
    assert first.tally == Tally(len(one), len(first.directories), sum(map(len, one.values())))
    assert set(first.directories) == {
        parent.as_posix() for path in one for parent in Path(path).parents if parent != Path()
    }
