"""Where a store is: what people type for it, and the engine that opens it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event, exc, make_url

from fstrial.base import proc
from fstrial.base.errors import DataError, FstrialError, MachineError, MissingRequirement, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import ExceptionContext

__all__ = ["WRITES", "connected", "default_file", "url_of"]

WRITES = "fstrial_writes"
"""Execution option of a connection that is about to write."""

_BUSY_MS = 10_000


def default_file() -> Path:
    """$XDG_DATA_HOME/fstrial/results.sqlite (XDG Base Directory Specification: a relative path is ignored)."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():
        data = Path.home() / ".local" / "share"
    return data / "fstrial" / "results.sqlite"


def url_of(word: str | None) -> URL:
    """The URL that `--store WORD` means: a URL, a path of an SQLite file, or the usual place.

    Without a word FSTRIAL_STORE is asked. Raises UsageError.
    """
    word = word or os.environ.get("FSTRIAL_STORE") or str(default_file())
    if "://" not in word:
        return URL.create("sqlite", database=str(Path(word).expanduser()))
    try:
        return make_url(word)
    except exc.ArgumentError as error:
        raise UsageError(
            f"--store: {word!r} is not a URL", "write sqlite:////path/to/file or dialect://host/name"
        ) from error


@contextmanager
def connected(url: URL) -> Iterator[Engine]:
    """An engine on that place, whose failures are errors of ours that name it. The folder is made."""
    try:
        engine = create_engine(url)
    except (exc.NoSuchModuleError, ImportError) as error:
        raise MissingRequirement(
            f"--store: no driver for {url.drivername}: {error}",
            "install the Python package of that database's driver beside fstrial",
        ) from error
    where = url.render_as_string(hide_password=True)
    if engine.dialect.name == "sqlite":
        where = url.database or "a store in memory"
        _make_folder(url)
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", lambda context: _translate(context, where))
    try:
        yield engine
    finally:
        engine.dispose()


def _make_folder(url: URL) -> None:
    if not url.database or url.database == ":memory:":
        return
    folder = Path(url.database).absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"the store's folder {folder} cannot be made: {error.strerror}", "name another file with --store"
        ) from error


def _set_up(connection: Any, _record: object) -> None:
    """WAL lets others read while one writes; FULL syncs each commit, so that a power cut loses no trial.

    https://www.sqlite.org/wal.html, https://www.sqlite.org/pragma.html#pragma_synchronous
    """
    connection.isolation_level = None  # the driver begins no transaction on its own; _begin does
    for pragma in (f"busy_timeout={_BUSY_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """A writer takes its lock at once: one that began by reading cannot wait for another (SQLITE_BUSY_SNAPSHOT)."""
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _translate(context: ExceptionContext, where: str) -> BaseException | None:
    original = context.original_exception
    if isinstance(original, sqlite3.IntegrityError):
        return None
    if isinstance(original, sqlite3.Error):
        return _sqlite_error(original, where)
    if isinstance(context.sqlalchemy_exception, exc.OperationalError):
        return DataError(f"the store {where} cannot be used: {original}", "check its URL, and that it runs")
    return None


def _sqlite_error(error: sqlite3.Error, where: str) -> FstrialError:
    """By primary result code (https://www.sqlite.org/rescode.html): the extended code's low byte."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return DataError(
            f"the store {where} is locked: another process has been writing to it for over {_BUSY_MS // 1000} s",
            f"wait for it, or find it with `{proc.paste(('fuser', where))}`",
        )
    if code == sqlite3.SQLITE_NOTADB:  # whatever file was named by mistake: no advice to move it
        return DataError(f"{where} is no store of fstrial, or its first page is damaged", "name another with --store")
    if code == sqlite3.SQLITE_CORRUPT:
        return DataError(
            f"the store {where} is damaged: {error}",
            "move it away, and its -wal and -shm files with it, and a new one is made; or name another with --store; "
            f"`{proc.paste(('sqlite3', where, '.recover'))}` may save its rows",
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return DataError(
            f"the store {where} cannot be opened for writing: {error}",
            "its file and its folder must be writable to you (a log is kept beside the file); "
            "name another with --store or FSTRIAL_STORE",
        )
    if code == sqlite3.SQLITE_FULL:
        return MachineError(f"no space left for the store {where}", "make room and go on with --resume")
    return DataError(f"the store {where} cannot be used: {error}", "name another with --store")
