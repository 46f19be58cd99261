"""Trees kept on disk between runs, each under a key of its content; several processes may use one at a time.

A tree in use has a shared lock (flock(2)) on its folder, one being made an exclusive lock, and both go with their
process, however that ends. So what can be locked is nobody's.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct

from fstrial.base import kernel
from fstrial.base.errors import MachineError
from fstrial.trees.compare import first_difference
from fstrial.trees.manifest import FileEntry, Manifest
from fstrial.trees.staging import Staged

__all__ = ["Kept", "keep"]

_KEPT_TREES = 3
_UNFINISHED = "unfinished-"
_RECORD = "record.json"
_TREE = "tree"


class _Record(Struct, frozen=True):
    files: tuple[FileEntry, ...]
    gzip_ratio: float
    left_out: dict[str, int]


class Kept:
    """A tree on disk that stays as it is until this is closed or its process ends."""

    def __init__(self, staged: Staged, descriptor: int) -> None:
        self.staged = staged
        self._descriptor = descriptor

    def close(self) -> None:
        os.close(self._descriptor)


def keep(store: Path, key: str, make: Callable[[Path], Staged]) -> Kept:
    """The tree under `key`, byte for byte as it was made: found in `store`, or made there by `make(its root)`.

    The last three trees used are kept. Raises what `make` raises, or MachineError when the disk refuses.
    """
    try:
        store.mkdir(parents=True, exist_ok=True)
        kept = _find(store / key) or _add(store, key, make)
        os.utime(kept.staged.root.parent)
        _sweep(store)
    except OSError as error:
        raise MachineError(
            f"the source tree cannot be kept in {store}: {error.strerror}", "make room there, or lower the scale"
        ) from error
    return kept


def _find(folder: Path) -> Kept | None:
    """A tree that is whole; one that is not is put away."""
    descriptor = _lock(folder, fcntl.LOCK_SH)
    if descriptor is None:
        return None
    staged = _read(folder)
    if staged is not None and first_difference(staged.root, staged.manifest) is None:
        return Kept(staged, descriptor)
    os.close(descriptor)
    _remove(folder)
    return None


def _read(folder: Path) -> Staged | None:
    try:
        record = msgspec.json.decode((folder / _RECORD).read_bytes(), type=_Record)
    except (OSError, msgspec.DecodeError):
        return None
    return Staged(folder / _TREE, Manifest(record.files), record.gzip_ratio, record.left_out)


def _add(store: Path, key: str, make: Callable[[Path], Staged]) -> Kept:
    """Make it under another name and give it its own once it is whole and on the disk.

    Where another process was faster, ours keeps the other name and is swept once it is not in use.
    """
    folder, descriptor = _unfinished(store)
    try:
        made = make(folder / _TREE)
        record = _Record(made.manifest.files, made.gzip_ratio, made.left_out)
        (folder / _RECORD).write_bytes(msgspec.json.encode(record))
        kernel.syncfs(descriptor)
        with suppress(OSError):
            folder = folder.rename(store / key)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except BaseException:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Kept(replace(made, root=folder / _TREE), descriptor)


def _unfinished(store: Path) -> tuple[Path, int]:
    """A new folder and its lock. Between the two a sweep of another process may take it for abandoned."""
    for _ in range(10):
        folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=store))
        descriptor = _lock(folder, fcntl.LOCK_EX)
        if descriptor is not None:
            return folder, descriptor
    raise MachineError(f"folders made in {store} vanish at once", "see what else cleans up there")


def _sweep(store: Path) -> None:
    """Remove what a killed process left unfinished, and all trees but the last few used."""
    folders = sorted(store.iterdir(), key=_used_at, reverse=True)
    finished = [folder for folder in folders if not folder.name.startswith(_UNFINISHED)]
    for folder in folders:
        if folder not in finished[:_KEPT_TREES]:
            _remove(folder)


def _used_at(folder: Path) -> float:
    with suppress(FileNotFoundError):
        return folder.stat().st_mtime
    return 0.0


def _remove(folder: Path) -> None:
    """Remove a folder that nobody uses, under a name that no half of it can be found by; else leave it."""
    descriptor = _lock(folder, fcntl.LOCK_EX)
    if descriptor is None:
        return
    try:
        doomed = folder.rename(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
        shutil.rmtree(doomed, ignore_errors=True)
    finally:
        os.close(descriptor)


def _lock(folder: Path, how: int) -> int | None:
    """A descriptor that locks the folder, or None when it is not there, or taken, or another by now."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with suppress(OSError):
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), folder.stat()):
            return descriptor
    os.close(descriptor)
    return None
