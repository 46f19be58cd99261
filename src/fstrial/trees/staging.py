"""Staging: a share of a source written to a folder, with its manifest and a sample of how well it compresses."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import MachineError
from fstrial.trees.manifest import FileEntry, Manifest, digester
from fstrial.trees.member import Member, Source
from fstrial.trees.share import take

__all__ = ["Staged", "read_through", "stage_tree"]

_SAMPLE_BYTES = 4 * 1024 * 1024
_PART_BYTES = 128 * 1024


@dataclass(frozen=True)
class Staged:
    """A tree on some filesystem. `gzip_ratio` is of a sample; `left_out` counts by reason what the tree lacks."""

    root: Path
    manifest: Manifest
    gzip_ratio: float
    left_out: dict[str, int]


def stage_tree(source: Source, wanted_bytes: int, root: Path) -> Staged:
    """Write the share to `root`, which is made. Raises what `take` raises, or MachineError when it does not fit."""
    left_out: Counter[str] = Counter()
    sample = _Sample(wanted_bytes)
    made: set[Path] = set()
    entries = []
    try:
        root.mkdir(parents=True)
        for member in take(source, wanted_bytes, left_out):
            path = root / member.path
            if path.parent not in made:
                path.parent.mkdir(parents=True, exist_ok=True)
                made.add(path.parent)
            entries.append(_write(member, path, sample))
    except OSError as error:
        raise MachineError(
            f"the source tree cannot be put into {root}: {error.strerror}", "make room there, or lower the scale"
        ) from error
    return Staged(root, Manifest.of(entries), sample.ratio(), dict(left_out))


def read_through(tree: Staged) -> None:
    """Read every byte of a staged tree, so that it is in memory."""
    for entry in tree.manifest.files:
        with (tree.root / entry.path).open("rb", buffering=0) as file:
            while file.read(1024 * 1024):
                pass


def _write(member: Member, path: Path, sample: _Sample) -> FileEntry:
    digest = digester()
    size = 0
    with path.open("xb") as file:
        for chunk in member.chunks():
            file.write(chunk)
            digest.update(chunk)
            sample.see(chunk)
            size += len(chunk)
    return FileEntry(member.path, size, digest.digest())


class _Sample:
    """Compresses parts of 128 KiB, spread evenly over the bytes, one after the other as tar and gzip do.

    Of gzip's ratio for the whole, 4 MiB of such parts missed at most 8 % on trees of 65 to 330 MiB.
    """

    def __init__(self, wanted_bytes: int) -> None:
        self._step = max(_PART_BYTES, wanted_bytes * _PART_BYTES // _SAMPLE_BYTES)
        self._seen = 0
        self._next_part = 0
        self._left_of_part = 0
        self._compressor = zlib.compressobj(6)  # gzip's default level
        self._read = 0
        self._written = 0

    def see(self, chunk: bytes) -> None:
        if self._seen >= self._next_part:
            self._next_part += self._step
            self._left_of_part = _PART_BYTES
        part = chunk[: self._left_of_part]
        self._left_of_part -= len(part)
        self._read += len(part)
        self._written += len(self._compressor.compress(part))
        self._seen += len(chunk)

    def ratio(self) -> float:
        return self._read / (self._written + len(self._compressor.flush()))
