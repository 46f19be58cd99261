"""What the large file holds, zeros or random bytes: made, staged, and compared piece by piece, whatever its size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from random import Random

from fstrial.base.errors import MachineError
from fstrial.base.units import MIB, format_size
from fstrial.trees.kept import Kept, keep
from fstrial.trees.member import Member, Source
from fstrial.trees.staging import Staged, read_through, stage_tree
from fstrial.workloads.contract import Stage

__all__ = ["RANDOM_FILE", "Content", "RandomSource", "first_wrong_byte", "pieces", "provide"]

RANDOM_FILE = "random"
"""Name of the staged file."""
_SEED = 20040501
"""Fixed: every trial on every machine writes the same bytes."""


class Content(Enum):
    RANDOM = "random"
    ZEROS = "zeros"


def pieces(content: Content, size_bytes: int) -> Iterator[bytes]:
    """The file's bytes in pieces of 1 MiB; `size_bytes` is a whole number of them.

    The random ones are one run of a Mersenne twister (Python's `random`): no block comes twice and none shrinks.
    """
    twister = Random(_SEED)
    zeros = bytes(MIB)
    for _ in range(size_bytes // MIB):
        yield zeros if content is Content.ZEROS else twister.randbytes(MIB)


@dataclass(frozen=True)
class RandomSource:
    """The random bytes in a file beside the filesystem under trial. `kept` holds it where it is kept between runs."""

    staged: Staged
    kept: Kept | None = None

    @property
    def path(self) -> Path:
        return self.staged.root / RANDOM_FILE

    def read_through(self) -> None:
        """Read every byte, so that it is in memory as far as it fits."""
        read_through(self.staged)

    def facts(self) -> tuple[str, str]:
        """What the result says of it."""
        manifest = self.staged.manifest
        return (
            f"source: {format_size(manifest.tally.size_bytes)} of {_Twister.where}, gzip ratio about "
            f"{self.staged.gzip_ratio:.1f}, digest {manifest.digest}",
            f"the source is staged {'in memory' if self.kept is None else 'on disk'} and read before every write",
        )


def provide(size_bytes: int, stage: Stage) -> RandomSource:
    """Stage the random bytes: in memory where that leaves most of it to the page cache, else on disk, kept.

    Raises MachineError when there is no room.
    """
    source = _Twister(size_bytes)
    try:
        if stage.memory is not None and _has_plenty(stage.memory, size_bytes):
            root = stage.memory / f"source-{len(list(stage.memory.iterdir())) + 1}"
            return RandomSource(stage_tree(source, size_bytes, root))
        kept = keep(
            stage.folder / "largefile",
            f"random-{_SEED}-{size_bytes}",
            lambda root: stage_tree(source, size_bytes, root),
        )
    except MachineError as error:
        raise MachineError(error.message, "make room there, or lower largefile.size") from error
    return RandomSource(kept.staged, kept)


class _Twister(Source):
    """A source of one file."""

    where = "random bytes from a fixed seed"

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes

    def members(self) -> Iterator[Member]:
        yield Member(RANDOM_FILE, self._size_bytes, 0, lambda: pieces(Content.RANDOM, self._size_bytes))


def _has_plenty(folder: Path, size_bytes: int) -> bool:
    """Whether a file takes at most a quarter of what a tmpfs has free: the files under trial are to be cached too."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize >= 4 * size_bytes


def first_wrong_byte(path: Path, content: Content, size_bytes: int) -> str:
    """Where the file is not what was written, in words, or an empty text.

    What cannot be read is a difference, not an error: a checksum failure reads as EIO.
    """
    offset = 0
    try:
        with path.open("rb") as file:
            for piece in pieces(content, size_bytes):
                got = file.read(len(piece))
                if got != piece:
                    return _difference(got, piece, offset)
                offset += len(piece)
            return f"goes on after the {size_bytes} bytes that were written" if file.read(1) else ""
    except OSError as error:
        return f"cannot be read, from byte {offset} on: {error.strerror}"


def _difference(got: bytes, written: bytes, start: int) -> str:
    for offset, (one, other) in enumerate(zip(got, written, strict=False), start):
        if one != other:
            return f"holds other bytes than were written, from byte {offset} on: 0x{one:02x} instead of 0x{other:02x}"
    return f"ends at byte {start + len(got)}"
