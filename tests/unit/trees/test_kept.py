"""Staged trees on disk: made once, whole or not there, shared by processes, swept when nobody needs them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fstrial.base.errors import MachineError, UsageError
from fstrial.trees.folders import Folder
from fstrial.trees.kept import Kept, keep
from fstrial.trees.staging import Staged, read_through, stage_tree


class Maker:
    """Counts how often a tree is made."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.made = 0

    def __call__(self, root: Path) -> Staged:
        self.made += 1
        return stage_tree(Folder(self.source), 10, root)


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/file").write_text("ten bytes.")
    return Maker(tmp_path / "source")


def keep_and_close(store: Path, key: str, make: Maker) -> Staged:
    kept = keep(store, key, make)
    kept.close()
    return kept.staged


def test_a_tree_is_made_once_and_found_again(tmp_path: Path, make: Maker) -> None:
    first = keep_and_close(tmp_path / "store", "key", make)
    again = keep_and_close(tmp_path / "store", "key", make)
    assert make.made == 1
    assert first == again
    assert (again.root / "file").read_text() == "ten bytes."


def test_another_key_is_another_tree(tmp_path: Path, make: Maker) -> None:
    one, other = (keep_and_close(tmp_path, key, make) for key in ("one", "other"))
    assert one.root != other.root
    assert make.made == 2


@pytest.mark.parametrize("damage", ["bit", "missing", "record"])
def test_a_damaged_tree_is_made_again(tmp_path: Path, make: Maker, damage: str) -> None:
    root = keep_and_close(tmp_path / "store", "key", make).root
    match damage:
        case "bit":
            (root / "file").write_text("ten bytes!")
        case "missing":
            (root / "file").unlink()
        case _:
            os.truncate(root.parent / "record.json", 20)
    again = keep_and_close(tmp_path / "store", "key", make)
    assert make.made == 2
    assert (again.root / "file").read_text() == "ten bytes."


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def fail(root: Path) -> Staged:
        root.mkdir()
        raise UsageError("the source is gone")

    with pytest.raises(UsageError):
        keep(tmp_path / "store", "key", fail)
    assert list((tmp_path / "store").iterdir()) == []


def test_what_a_killed_process_left_is_swept(tmp_path: Path, make: Maker) -> None:
    store = tmp_path / "store"
    code = (
        "import sys, time; from pathlib import Path; from fstrial.trees.kept import keep\n"
        "def make(root):\n"
        "    root.mkdir(); (root / 'half').touch(); print('begun', flush=True); time.sleep(60)\n"
        f"keep(Path({str(store)!r}), 'key', make)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        (unfinished,) = store.iterdir()
        keep_and_close(store, "key", make)
        assert unfinished.exists(), "it is being made: hands off"
        child.kill()
    keep_and_close(store, "key", make)
    assert [folder.name for folder in store.iterdir()] == ["key"]


def test_the_last_three_trees_used_are_kept(tmp_path: Path, make: Maker) -> None:
    store = tmp_path / "store"
    for age, key in enumerate(("first", "second", "third", "fourth")):
        keep_and_close(store, key, make)
        os.utime(store / key, (time.time() - 100 + age,) * 2)
    keep_and_close(store, "second", make)
    keep_and_close(store, "fifth", make)
    assert {folder.name for folder in store.iterdir()} == {"second", "fourth", "fifth"}


def test_a_tree_in_use_is_not_swept(tmp_path: Path, make: Maker) -> None:
    store = tmp_path / "store"
    held = keep(store, "held", make)
    os.utime(store / "held", (0, 0))
    for key in ("a", "b", "c", "d"):
        keep_and_close(store, key, make)
    assert (held.staged.root / "file").exists()
    held.close()


def test_of_two_that_make_it_at_once_both_have_it(tmp_path: Path, make: Maker) -> None:
    store = tmp_path / "store"
    faster: list[Kept] = []

    def slowly(root: Path) -> Staged:
        faster.append(keep(store, "key", make))
        return make(root)

    slower = keep(store, "key", slowly)
    assert faster[0].staged.root != slower.staged.root
    for kept in (*faster, slower):
        read_through(kept.staged)
        kept.close()
    keep_and_close(store, "key", make)
    assert [folder.name for folder in store.iterdir()] == ["key"]


def test_a_store_that_cannot_be_made_is_the_machine_s_fault(tmp_path: Path, make: Maker) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MachineError, match="cannot be kept in"):
        keep(tmp_path / "file" / "store", "key", make)


def test_a_tree_that_does_not_fit_says_so(tmp_path: Path, make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, mode: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(MachineError, match="No space left on device"):
        stage_tree(Folder(make.source), 10, tmp_path / "tree")
