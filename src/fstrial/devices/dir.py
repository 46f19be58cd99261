"""`dir:PATH`: a folder on a filesystem that is mounted already. No mkfs, no mount, no root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import MachineError, UsageError
from fstrial.base.units import GIB, format_size
from fstrial.devices._block import disk_below
from fstrial.devices._mounts import mount_of
from fstrial.devices.claim import claim_folder
from fstrial.devices.contract import Attached, Held, Target
from fstrial.model.trial import DeviceFacts, Note, NoteKind

__all__ = ["Place"]


class Place(Target):
    """For NFS, production volumes, and whoever is not root: works in a fresh private folder, and removes that."""

    kind = "dir"
    needs_root = False
    about = "dir:PATH  a folder on a mounted filesystem: nothing is made or mounted; needs no root"

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self._path = Path(word.removeprefix("dir:")).absolute()
        if not word.removeprefix("dir:"):
            raise UsageError(f"--on {word}: no folder named", "write dir:/mnt/volume")
        if not self._path.is_dir():
            raise UsageError(f"--on {word}: {self._path} is not a folder", "name an existing folder")

    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        if not os.access(self._path, os.W_OK | os.X_OK):
            raise UsageError(f"{self.word}: you may not write there", "name a folder that you may write to")
        state = os.statvfs(self._path)
        free, total = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
        floor = min(GIB, total // 20)
        if free - floor < size_bytes:
            raise MachineError(
                f"{self.word}: {format_size(free)} are free; the workload may take {format_size(size_bytes)}, and "
                f"{format_size(floor)} stay free",
                "make room, or give a smaller scale",
            )
        return ()

    def size_bytes(self, wanted_bytes: int) -> int | None:
        return None

    def detected_filesystem(self) -> str:
        mount = mount_of(self._path)
        return mount.kind if mount is not None else "unknown"

    @contextmanager
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> Iterator[Held]:
        yield _HeldFolder(self.word, self._path, self.detected_filesystem())


@dataclass(frozen=True)
class _HeldFolder:
    word: str
    path: Path
    filesystem: str

    @contextmanager
    def attach(self) -> Iterator[Attached]:
        """A fresh private folder; others use the same filesystem, so its figures are not the trial's alone."""
        block, mount = disk_below(self.path), mount_of(self.path)
        source = mount.source if mount is not None else ""
        with claim_folder(self.path) as folder:
            yield Attached(
                writable=folder,
                facts=DeviceFacts(self.word, "dir", str(self.path), backing=f"{self.filesystem} on {source}"),
                folder=True,
                statistics=block.statistics if block is not None else None,
                notes=(Note(NoteKind.FACT, f"{self.path} is shared: others' I/O on its device counts too"),),
            )
