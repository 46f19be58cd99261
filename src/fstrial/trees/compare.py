"""Comparing a copy of a tree with its manifest: counts before a delete, every byte after a remount."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from fstrial.trees.manifest import FileEntry, Manifest, Tally, digester
from fstrial.trees.member import CHUNK_BYTES

__all__ = ["Difference", "DifferenceKind", "first_difference", "miscount", "tally_of"]

_BATCH = 256


class DifferenceKind(Enum):
    MISSING = "missing"
    EXTRA = "extra"
    KIND = "kind"
    SIZE = "size"
    CONTENT = "content"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Difference:
    """The first place where a copy is not what was written. `path` is relative to the copy's root."""

    path: str
    kind: DifferenceKind
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.detail}"


def tally_of(root: Path) -> Tally:
    """Count a tree: regular files, directories below the root, and the files' lengths. Raises OSError."""
    files = directories = size_bytes = 0
    for _, status in _walk(root):
        if stat.S_ISDIR(status.st_mode):
            directories += 1
        else:
            files += 1
            size_bytes += status.st_size
    return Tally(files, directories, size_bytes)


def miscount(copy: Path, manifest: Manifest) -> str:
    """What is wrong with a copy's counts and sizes, or an empty text. Raises OSError."""
    found, wanted = tally_of(copy), manifest.tally
    if found == wanted:
        return ""
    return f"{_words(found)}; {_words(wanted)} were written"


def _words(tally: Tally) -> str:
    return f"{tally.files} files, {tally.directories} directories, {tally.size_bytes} bytes"


def first_difference(copy: Path, manifest: Manifest, original: Path | None = None) -> Difference | None:
    """Compare names, kinds, lengths and every byte; None when all are right.

    Names come first, then contents in order of path. With the `original` at hand a wrong content is told by its
    first wrong byte. What cannot be read is a difference, not an error: a checksum failure reads as EIO.
    """
    try:
        found = dict(_walk(copy))
    except OSError as error:
        return Difference(_relative(error, copy), DifferenceKind.UNREADABLE, f"cannot be read: {error.strerror}")
    return _wrong_names(found, manifest) or _wrong_content(copy, manifest, original)


def _relative(error: OSError, copy: Path) -> str:
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(copy)
    return os.path.relpath(name, copy)


def _wrong_names(found: dict[str, os.stat_result], manifest: Manifest) -> Difference | None:
    wanted: dict[str, FileEntry | None] = {entry.path: entry for entry in manifest.files}
    wanted.update(dict.fromkeys(manifest.directories))
    for path in sorted(found.keys() | wanted.keys()):
        if path not in found:
            kind = "file" if wanted[path] else "directory"
            return Difference(path, DifferenceKind.MISSING, f"the {kind} is missing")
        if path not in wanted:
            return Difference(path, DifferenceKind.EXTRA, "is there, but nobody wrote it")
        wrong = _wrong_status(path, found[path], wanted[path])
        if wrong:
            return wrong
    return None


def _wrong_status(path: str, status: os.stat_result, entry: FileEntry | None) -> Difference | None:
    """A directory has no entry."""
    right = stat.S_ISDIR if entry is None else stat.S_ISREG
    if not right(status.st_mode):
        kind = "directory" if entry is None else "regular file"
        return Difference(path, DifferenceKind.KIND, f"is no {kind} (mode {stat.filemode(status.st_mode)})")
    if entry is not None and status.st_size != entry.size:
        return Difference(path, DifferenceKind.SIZE, f"has {status.st_size} bytes; {entry.size} were written")
    return None


def _wrong_content(copy: Path, manifest: Manifest, original: Path | None) -> Difference | None:
    for entry in _with_reads_under_way(copy, manifest.files):
        try:
            if _digest_of(copy / entry.path) == entry.digest:
                continue
            where = "" if original is None else _first_wrong_byte(copy / entry.path, original / entry.path)
        except OSError as error:
            return Difference(entry.path, DifferenceKind.UNREADABLE, f"cannot be read: {error.strerror}")
        return Difference(entry.path, DifferenceKind.CONTENT, f"holds other bytes than were written{where}")
    return None


def _with_reads_under_way(copy: Path, files: tuple[FileEntry, ...]) -> Iterator[FileEntry]:
    """The files in order, those of a batch asked for together: a cold device answers many reads in the time of one."""
    for start in range(0, len(files), _BATCH):
        batch = files[start : start + _BATCH]
        for entry in batch:
            with suppress(OSError):
                _ask_for(copy / entry.path)
        yield from batch


def _ask_for(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)


def _digest_of(path: Path) -> bytes:
    digest = digester()
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.digest()


def _first_wrong_byte(copy: Path, original: Path) -> str:
    with copy.open("rb") as one, original.open("rb") as other:
        start = 0
        while written := other.read(CHUNK_BYTES):
            for offset, (got, was) in enumerate(zip(one.read(len(written)), written, strict=False), start):
                if got != was:
                    return f", from byte {offset} on: 0x{got:02x} instead of 0x{was:02x}"
            start += len(written)
    return ""


def _walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below the root, with lstat's answer; paths are relative to it."""
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(root / above) as found:
            for entry in found:
                path = f"{above}{entry.name}"
                status = entry.stat(follow_symlinks=False)
                yield path, status
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{path}/")
