"""Sources that are folders: one that is named, and the files every machine has."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fstrial.base.errors import UsageError
from fstrial.trees.member import CHUNK_BYTES, LeftOut, Member, Source

__all__ = ["Folder", "System"]

_LINKS = "symbolic links"
_SPECIAL = "devices, sockets and pipes"
_UNREADABLE = "files and folders that may not be read"


class Folder(Source):
    """A folder that somebody named: everything in it must be readable."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = f"the folder {folder}"

    def members(self) -> Iterator[Member | LeftOut]:
        if not self._folder.is_dir():
            raise UsageError(f"{self.where} is not there", "source= takes an existing folder or tarball")
        for member in _walk(self._folder, ""):
            if isinstance(member, LeftOut) and member.reason == _UNREADABLE:
                raise UsageError(
                    f"{self.where}: {member.path} cannot be read", "run as a user who may read it, or name another"
                )
            yield member


class System(Source):
    """Files that a machine has anyway: C headers, Python's library, then /usr/share.

    In this order, because the first two are most like the source trees of the published test. Python's caches are
    left out: they come and go.
    """

    where = "the files of this machine (/usr/include, Python's library, /usr/share)"
    largest_share = 1 / 50

    def __init__(self, root: Path = Path("/usr")) -> None:
        self._root = root

    def members(self) -> Iterator[Member | LeftOut]:
        for folder in self._folders():
            yield from _walk(folder, f"{folder.relative_to(self._root)}/")

    def _folders(self) -> Iterator[Path]:
        pythons = (self._root.glob(f"{place}/python3*") for place in ("lib", "lib64", "local/lib"))
        named = [self._root / "include", *(folder for found in pythons for folder in sorted(found))]
        yield from (folder for folder in [*named, self._root / "share"] if folder.is_dir() and not folder.is_symlink())


def _walk(root: Path, prefix: str) -> Iterator[Member | LeftOut]:
    """A folder's files in order of name, then its folders in that order; links are not followed."""
    waiting = [(str(root), prefix)]
    while waiting:
        folder, above = waiting.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
        except OSError:
            yield LeftOut(above, _UNREADABLE)
            continue
        below = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    below.append((entry.path, f"{above}{entry.name}/"))
            else:
                yield _member(entry, above + entry.name)
        waiting.extend(reversed(below))


def _member(entry: os.DirEntry[str], path: str) -> Member | LeftOut:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return LeftOut(path, _UNREADABLE)
    if stat.S_ISLNK(status.st_mode):
        return LeftOut(path, _LINKS)
    if not stat.S_ISREG(status.st_mode):
        return LeftOut(path, _SPECIAL)
    if not os.access(entry.path, os.R_OK):
        return LeftOut(path, _UNREADABLE)
    return Member(path, status.st_size, status.st_mtime_ns, lambda: _chunks(entry.path))


def _chunks(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a Path for each of 60 000 files costs seconds
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
    except OSError as error:
        raise UsageError(
            f"the source file {path} cannot be read: {error.strerror}", "name another source with source="
        ) from error
