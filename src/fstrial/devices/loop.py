"""`loop:SIZE[@FOLDER]`: a loop device over a fresh sparse image for each trial."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import MachineError, MissingRequirement, UsageError
from fstrial.base.units import MIB, format_size, parse_size, size_word
from fstrial.devices._block import block_of, disk_below
from fstrial.devices._loop import attached_loop, unlinked_image
from fstrial.devices._mounts import mount_of
from fstrial.devices.claim import claim_loop
from fstrial.devices.contract import Attached, Held, Target
from fstrial.model.trial import Note, NoteKind

__all__ = ["ImageFolder", "Place", "image_folder", "need_root"]

_FLOOR_BYTES = 512 * MIB
"""Stays free on the disk that holds the image, whatever the trial does."""


class Place(Target):
    """An image file that never has a name, so that nothing can be left of it."""

    kind = "loop"
    about = "loop:SIZE[@FOLDER]  a sparse image file; without SIZE as large as the workload needs (default)"

    def __init__(self, word: str) -> None:
        super().__init__(word)
        size, at, folder = word.removeprefix("loop").removeprefix(":").partition("@")
        if at and not folder:
            raise UsageError(f"--on {word}: no folder after @", "write loop:2G@/srv, or loop:2G")
        self._size = parse_size(size, f"--on {word}") if size else None
        self._folder = Path(folder) if folder else None

    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        need_root(self.word)
        folder = image_folder(self._folder)
        state = os.statvfs(folder)
        free = state.f_bavail * state.f_frsize
        if free < size_bytes + _FLOOR_BYTES:
            raise MachineError(
                f"{self.word}: {folder} has {format_size(free)} free; an image of {format_size(size_bytes)} may need "
                f"it all, and {format_size(_FLOOR_BYTES)} stay free",
                "give a folder on a larger disk:  --on loop:SIZE@FOLDER   or a smaller size",
            )
        return ()

    def size_bytes(self, wanted_bytes: int) -> int | None:
        return self._size or wanted_bytes

    def command(self, size_bytes: int) -> tuple[str, ...]:
        folder = image_folder(self._folder)
        return ("losetup", "--find", "--show", "--direct-io=on", f"{folder}/IMAGE-OF-{size_word(size_bytes)}")

    @contextmanager
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> Iterator[Held]:
        yield ImageFolder(self.word, self.kind, image_folder(self._folder), size_bytes, scratch)


@dataclass(frozen=True)
class ImageFolder:
    """Where images are made, for the worker's life."""

    word: str
    kind: str
    folder: Path
    size_bytes: int
    scratch: Path

    @contextmanager
    def attach(self) -> Iterator[Attached]:
        """A fresh image under a loop device."""
        with unlinked_image(self.folder, self.size_bytes) as image, attached_loop(image, self.scratch) as loop:
            block = block_of(os.fstat(loop.descriptor).st_rdev)
            below, mount = disk_below(self.folder), mount_of(self.folder)
            backing = f"{mount.kind} on {mount.source}" if mount is not None else ""
            notes: tuple[Note, ...] = ()
            if not loop.direct_io:
                text = (
                    f"direct I/O to the image was refused by {backing or self.folder}: "
                    "the host's page cache holds a second copy"
                )
                notes = (Note(NoteKind.WARNING, text),)
            yield Attached(
                writable=claim_loop(loop, image),
                facts=block.facts(self.word, self.kind, loop.path, backing, loop.direct_io),
                statistics=block.statistics,
                below=below.statistics if below is not None else None,
                notes=notes,
                image=image,
            )


def need_root(word: str) -> None:
    """Raises MissingRequirement: devices are made and mounted by root alone."""
    if os.geteuid() != 0:
        raise MissingRequirement(
            f"{word}: making and mounting filesystems needs root",
            "sudo fstrial …   or without root, on a folder of a mounted filesystem:  fstrial run --on dir:FOLDER",
        )


def image_folder(given: Path | None) -> Path:
    """The folder for images: as named, else the user's cache. Raises UsageError."""
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/root"), ".cache")
    folder = given if given is not None else Path(base, "fstrial")
    if given is None:
        folder.mkdir(parents=True, exist_ok=True)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder for the image", "name an existing folder after @")
    return folder
