"""The manifest: what a tree holds, file by file, with the digest of each content."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from msgspec import Struct

__all__ = ["DIGEST_BYTES", "FileEntry", "Manifest", "Tally", "digester", "folders_of"]

DIGEST_BYTES = 16


def digester() -> blake2b:
    """A fresh BLAKE2b (RFC 7693) of the manifest's length."""
    return blake2b(digest_size=DIGEST_BYTES)


@dataclass(frozen=True)
class Tally:
    """Counts of a tree; `directories` without its root, `size_bytes` the files' lengths."""

    files: int
    directories: int
    size_bytes: int


class FileEntry(Struct, frozen=True, order=True):
    """One file: its path relative to the tree's root, its length and its content's digest."""

    path: str
    size: int
    digest: bytes


@dataclass(frozen=True)
class Manifest:
    """The files of a tree in order of their paths. There are no directories but those that hold files."""

    files: tuple[FileEntry, ...]

    @classmethod
    def of(cls, files: Iterable[FileEntry]) -> Manifest:
        return cls(tuple(sorted(files)))

    @cached_property
    def directories(self) -> tuple[str, ...]:
        """Every directory below the root, in order."""
        found: set[str] = set()
        for entry in self.files:
            for folder in folders_of(entry.path):
                if folder in found:
                    break
                found.add(folder)
        return tuple(sorted(found))

    @cached_property
    def tally(self) -> Tally:
        return Tally(len(self.files), len(self.directories), sum(entry.size for entry in self.files))

    @cached_property
    def digest(self) -> str:
        """One digest for the whole tree: equal digests are equal paths and contents."""
        whole = digester()
        for entry in self.files:
            whole.update(b"%b\0%d\0%b" % (os.fsencode(entry.path), entry.size, entry.digest))
        return whole.hexdigest()


def folders_of(path: str) -> Iterable[str]:
    """The directories above a path, nearest first: `a/b`, `a` of `a/b/c`."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
