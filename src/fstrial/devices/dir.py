"""`dir:PATH`: a folder on a filesystem that is mounted already. No mkfs, no mount, no root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fstrial.base.errors import MachineError, UsageError
from fstrial.base.units import GIB, format_size
from fstrial.devices._carrier import Carrier, carrier_of
from fstrial.devices._names import typed
from fstrial.devices.claim import claim_folder
from fstrial.devices.contract import Attached, Held, Target
from fstrial.model.trial import DeviceFacts, Note, NoteKind

__all__ = ["Place"]

_FLOOR_BYTES = GIB
_FLOOR_SHARE = 0.05
"""Stays free for the others on the filesystem: the smaller of the two."""


class Place(Target):
    """For NFS, production volumes, and whoever is not root: works in a fresh private folder, and removes that."""

    kind = "dir"
    about = "dir:PATH  a folder on a mounted filesystem: nothing is made or mounted; needs no root"

    def __init__(self, word: str) -> None:
        super().__init__(word)
        path = word.removeprefix("dir").removeprefix(":")
        if not path:
            raise UsageError(f"--on {typed(word)}: no folder named", "write dir:/mnt/volume")
        self._path = Path(path).absolute()
        if not self._path.is_dir():
            raise UsageError(f"--on {typed(word)}: {typed(self._path)} is not a folder", "name an existing folder")

    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        if not os.access(self._path, os.W_OK | os.X_OK):
            raise UsageError(f"{typed(self.word)}: you may not write there", "name a folder that you may write to")
        _keep_floor(self.word, self._path, size_bytes)
        return ()

    def size_bytes(self, wanted_bytes: int) -> int | None:
        return None

    def detected_filesystem(self) -> str:
        return carrier_of(self._path).kind

    @contextmanager
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> Iterator[Held]:
        yield _HeldFolder(self.word, self._path, carrier_of(self._path), size_bytes)


@dataclass(frozen=True)
class _HeldFolder:
    word: str
    path: Path
    carrier: Carrier
    size_bytes: int

    @contextmanager
    def attach(self) -> Iterator[Attached]:
        """A fresh private folder; others use the same filesystem, so its figures are not the trial's alone."""
        _keep_floor(self.word, self.path, self.size_bytes)
        block = self.carrier.block
        note = Note(NoteKind.FACT, f"{typed(self.path)} is shared: others' I/O on its device counts too")
        with claim_folder(self.path) as folder:
            yield Attached(
                writable=folder,
                facts=self._facts(),
                folder=True,
                statistics=block.statistics if block is not None else None,
                notes=(note,),
            )

    def _facts(self) -> DeviceFacts:
        """The filesystem's size, and what is known of the device that carries it."""
        path, block = str(self.path), self.carrier.block
        facts = block.facts(self.word, "dir", path) if block is not None else DeviceFacts(self.word, "dir", path)
        state = os.statvfs(self.path)
        return msgspec.structs.replace(facts, backing=str(self.carrier), size_bytes=state.f_blocks * state.f_frsize)


def _keep_floor(word: str, path: Path, size_bytes: int) -> None:
    """Raises MachineError when `size_bytes` more would leave others less than the floor."""
    state = os.statvfs(path)
    free, total = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
    floor = min(_FLOOR_BYTES, round(total * _FLOOR_SHARE))
    if free - floor < size_bytes:
        raise MachineError(
            f"{typed(word)}: {format_size(free)} are free; the workload may take {format_size(size_bytes)}, and "
            f"{format_size(floor)} stay free",
            "make room, or give a smaller scale",
        )
