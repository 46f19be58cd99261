"""`loop:SIZE[@FOLDER]`: a loop device over a fresh sparse image for each trial."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import MachineError, MissingRequirement, UsageError
from fstrial.base.place import cache_folder
from fstrial.base.units import MIB, format_size, parse_size, size_word
from fstrial.devices._carrier import Carrier, carrier_of
from fstrial.devices._loop import attached_loop, unlinked_image
from fstrial.devices._names import typed
from fstrial.devices.claim import claim_loop
from fstrial.devices.contract import Attached, Held, Target
from fstrial.model.trial import Note, NoteKind

__all__ = ["ImageFolder", "Place", "need_root"]

_FLOOR_BYTES = 512 * MIB
"""Stays free on the disk that holds the image, whatever the trial does."""
_SECTOR_BYTES = 512


class Place(Target):
    """An image file that never has a name, so that nothing can be left of it."""

    kind = "loop"
    about = "loop:SIZE[@FOLDER]  a sparse image file; without SIZE as large as the workload needs (default)"

    def __init__(self, word: str) -> None:
        super().__init__(word)
        size, at, folder = word.removeprefix("loop").removeprefix(":").partition("@")
        if at and not folder:
            raise UsageError(f"--on {typed(word)}: no folder after @", "write loop:2G@/srv, or loop:2G")
        self._size = parse_size(size, f"--on {typed(word)}") if size else None
        self._folder = Path(folder).absolute() if folder else None

    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        need_root(self.word)
        folder = _image_folder(self._folder)
        state = os.statvfs(folder)
        free = state.f_bavail * state.f_frsize
        if free < size_bytes + _FLOOR_BYTES:
            raise MachineError(
                f"{typed(self.word)}: {typed(folder)} has {format_size(free)} free; an image of "
                f"{format_size(size_bytes)} may need it all, and {format_size(_FLOOR_BYTES)} stay free",
                "give a folder on a larger disk:  --on loop:SIZE@FOLDER   or a smaller size",
            )
        carrier = carrier_of(folder)
        if carrier.is_memory:
            return (Note(NoteKind.WARNING, f"{typed(folder)} is in memory ({carrier.kind}), and so is the image"),)
        return ()

    def size_bytes(self, wanted_bytes: int) -> int | None:
        return self._size or wanted_bytes

    def command(self, size_bytes: int) -> tuple[str, ...]:
        image = cache_folder() if self._folder is None else self._folder
        return ("losetup", "--find", "--show", "--direct-io=on", f"{image}/IMAGE-OF-{size_word(size_bytes)}")

    @contextmanager
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> Iterator[Held]:
        need_root(self.word)
        folder = _image_folder(self._folder)
        yield ImageFolder(self.word, self.kind, folder, carrier_of(folder), size_bytes, scratch)


@dataclass(frozen=True)
class ImageFolder:
    """Where images are made, for the worker's life."""

    word: str
    kind: str
    folder: Path
    carrier: Carrier
    size_bytes: int
    scratch: Path

    @contextmanager
    def attach(self) -> Iterator[Attached]:
        """A fresh image under a loop device."""
        carrier = self.carrier
        block_bytes = carrier.block.logical_block_bytes if carrier.block is not None else _SECTOR_BYTES
        with (
            unlinked_image(self.folder, self.size_bytes) as image,
            attached_loop(image, self.scratch, block_bytes) as loop,
        ):
            own = claim_loop(loop, image)
            yield Attached(
                writable=own,
                facts=own.block.facts(
                    self.word, self.kind, str(loop.path), carrier.block, str(carrier), loop.direct_io
                ),
                statistics=own.block.statistics,
                below=carrier.statistics,
                notes=() if loop.direct_io or carrier.is_memory else (_copied(carrier),),
                image=image,
            )


def _copied(carrier: Carrier) -> Note:
    return Note(
        NoteKind.WARNING,
        f"direct I/O to the image was refused by {carrier}: the host's page cache holds a second copy",
    )


def need_root(word: str) -> None:
    """Raises MissingRequirement: devices are made and mounted by root alone."""
    if os.geteuid() != 0:
        raise MissingRequirement(
            f"{typed(word)}: making and mounting filesystems needs root",
            "sudo fstrial …   or without root, on a folder of a mounted filesystem:  fstrial run --on dir:FOLDER",
        )


def _image_folder(given: Path | None) -> Path:
    """The folder for images: as named, else the user's cache, made when it is not there. Raises UsageError."""
    if given is None:
        try:
            cache_folder().mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{typed(cache_folder())}: {error.strerror}", "name a folder for images:  --on loop:SIZE@FOLDER"
            ) from error
        return cache_folder()
    if not given.is_dir():
        raise UsageError(f"{typed(given)}: no such folder for the image", "name an existing folder after @")
    return given
