"""Where a store is, and what is said when it cannot be used."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from fakes.records import declaration, environment, make_plan, make_trial
from fstrial.base.errors import DataError, MachineError, MissingRequirement, UsageError
from fstrial.store import place
from fstrial.store.store import Store


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A store with a few trials, closed."""
    path = tmp_path / "results.sqlite"
    with Store.open(str(path)) as store:
        run_id = store.begin(make_plan(label="night"), environment(), (declaration(),))
        for number in range(1, 30):
            one = make_trial(number=number)
            store.add(run_id, one.trial, one.result)
    return path


def test_without_a_word_it_is_in_the_data_folder_and_the_environment_can_say_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FSTRIAL_STORE", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place.url_of(None).database == f"{tmp_path}/.local/share/fstrial/results.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    assert place.url_of(None).database == f"{tmp_path}/.local/share/fstrial/results.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert place.url_of(None).database == "/data/fstrial/results.sqlite"
    monkeypatch.setenv("FSTRIAL_STORE", "/elsewhere/r.sqlite")
    assert place.url_of(None).database == "/elsewhere/r.sqlite"
    assert place.url_of("postgresql://host/name").drivername == "postgresql"


@pytest.mark.parametrize("name", ["with space.sqlite", "per%cent?and#hash.sqlite", "new/folders/r.sqlite"])
def test_a_bare_path_is_an_sqlite_file_whatever_its_name(tmp_path: Path, name: str) -> None:
    with Store.open(str(tmp_path / name)) as store:
        assert store.runs() == ()
    assert (tmp_path / name).read_bytes().startswith(b"SQLite format 3")


def test_a_word_that_is_no_url_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="not a URL"), Store.open("://nothing"):
        pass


@pytest.mark.parametrize("word", ["nosuchbase://host/name", "oracle://host/name"])
def test_a_database_without_a_driver_names_what_is_missing(word: str) -> None:
    with pytest.raises(MissingRequirement, match=f"no driver for {word.partition(':')[0]}"), Store.open(word):
        pass


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(DataError) as caught, Store.open(str(path)):
        pass
    assert str(path) in caught.value.message
    assert "no store of fstrial" in caught.value.message
    assert "move" not in caught.value.hint
    assert path.read_text() == "Dear diary, " * 1000


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.95])
def test_a_truncated_store_is_an_error_that_names_it(full: Path, share: float) -> None:
    os.truncate(full, int(full.stat().st_size * share))
    with pytest.raises(DataError, match="damaged") as caught, Store.open(str(full)) as store:
        store.load(1)
    assert str(full) in caught.value.message
    assert "move it away, and its -wal" in caught.value.hint


def test_a_store_with_overwritten_pages_is_an_error_that_names_it(full: Path) -> None:
    with full.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(full.stat().st_size - 4096 * 3))
    with pytest.raises(DataError, match="damaged"), Store.open(str(full)) as store:
        store.load(1)


@pytest.mark.parametrize("column", ["trials.record", "runs.plan"])
def test_damage_inside_a_record_names_the_run(full: Path, column: str) -> None:
    table, name = column.split(".")
    with sqlite3.connect(full) as database:
        database.execute(f"UPDATE {table} SET {name} = 'x' WHERE id = 1")
    with pytest.raises(DataError, match=r"run 1.* is damaged in the store"), Store.open(str(full)) as store:
        store.load(1)


def test_a_database_of_another_program_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE bookmarks (url)")
    with pytest.raises(DataError, match=r"not a store: .* \(bookmarks\)"), Store.open(str(path)):
        pass
    tables = sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("bookmarks",)]


def test_a_locked_store_is_an_error_after_the_busy_timeout(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_BUSY_MS", 100)
    other = sqlite3.connect(full, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store.open(str(full)) as store:
        assert len(store.load(1).trials) == 29
        with pytest.raises(DataError, match="is locked") as caught:
            store.reopen(1)
        assert str(full) in caught.value.message
        other.execute("ROLLBACK")
        store.reopen(1)


def test_a_folder_in_place_of_a_file_or_a_file_in_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be opened"), Store.open(str(tmp_path)):
        pass
    with pytest.raises(DataError, match=r"folder .* cannot be made: "), Store.open(str(tmp_path / "file" / "r.sqlite")):
        pass


def test_a_store_that_may_not_be_written_says_what_must_be_writable(full: Path) -> None:
    """Permission bits do not stop root, so a child becomes nobody."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(full, folder))
        Path(folder).chmod(0o555)
        path.chmod(0o444)
        assert _complaint_to_nobody(path) == 0


def _complaint_to_nobody(path: Path) -> int:
    """0 when nobody is told, in the words expected, that the store cannot be written."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresuid(65534, 65534, 65534)
            with Store.open(str(path)) as store:
                store.reopen(1)
        except DataError as error:
            code = 0 if str(path) in error.message and "writable" in error.hint else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _fill(store: Store) -> None:
    for number in range(99, 200):
        one = make_trial(number=number)
        store.add(1, one.trial, one.result)


def test_no_space_left_is_the_machine_failing(full: Path) -> None:
    with Store.open(str(full)) as store:
        with store._engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        with pytest.raises(MachineError, match="no space left") as caught:
            _fill(store)
    assert str(full) in caught.value.message
