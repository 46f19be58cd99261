"""What a source of files is: members in an order that does not change, each with its content on demand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["CHUNK_BYTES", "LeftOut", "Member", "Source"]

CHUNK_BYTES = 1024 * 1024
"""Content travels in pieces of at most this size."""


@dataclass(frozen=True, slots=True)
class Member:
    """One regular file of a source.

    `path` is relative and uses `/`. `stamp` changes when the content does (a modification time), as far as the
    source can tell. `chunks` opens the content; in a tarball it must be read before the next member is asked for.
    """

    path: str
    size: int
    stamp: int
    chunks: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of a source that no tree of ours holds; `reason` is a plural noun: `symbolic links`."""

    path: str
    reason: str


class Source(ABC):
    """Where a tree's files come from."""

    where: str
    """For people: `the files of this machine`, `the folder /srv/data`."""
    largest_share: float | None = None
    """Largest part of a tree that one file may be; None: any. Keeps a small tree from being one large file."""

    @abstractmethod
    def members(self) -> Iterator[Member | LeftOut]:
        """Every member in a stable order, lazily.

        Raises UsageError when the source is missing or unreadable, DataError when it is damaged.
        """
