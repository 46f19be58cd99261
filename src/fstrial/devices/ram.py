"""`ram:SIZE`: a loop device over an image in a private tmpfs.

Not zram: its devices outlive the process that made them, and compress what is written. The tmpfs is mounted in the
worker's own mount namespace and goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fstrial.base import kernel
from fstrial.base.errors import MachineError
from fstrial.base.units import format_size, parse_size
from fstrial.devices.contract import Held, Target
from fstrial.devices.loop import ImageFolder, need_root
from fstrial.model.trial import Note

__all__ = ["Place"]


class Place(Target):
    """RAM as a block device: what a filesystem costs when the device costs next to nothing."""

    kind = "ram"
    about = "ram:SIZE  a device in memory"

    def __init__(self, word: str) -> None:
        super().__init__(word)
        size = word.removeprefix("ram").removeprefix(":")
        self._size = parse_size(size, f"--on {word}") if size else None

    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        need_root(self.word)
        available = _available_bytes()
        if available is not None and size_bytes > available // 2:
            raise MachineError(
                f"{self.word}: {format_size(size_bytes)} of memory wanted, and {format_size(available)} are available; "
                "half of it stays free",
                "give a smaller size, or use loop:",
            )
        return ()

    def size_bytes(self, wanted_bytes: int) -> int | None:
        return self._size or wanted_bytes

    def command(self, size_bytes: int) -> tuple[str, ...]:
        return ("losetup", "--find", "--show", "--direct-io=on", "/TMPFS/IMAGE")

    @contextmanager
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> Iterator[Held]:
        folder = scratch / f"ram-{size_bytes}-{len(list(scratch.iterdir()))}"
        folder.mkdir()
        kernel.mount("fstrial", folder, "tmpfs", (f"size={size_bytes + size_bytes // 64}", "mode=700"))
        try:
            yield ImageFolder(self.word, self.kind, folder, size_bytes, scratch)
        finally:
            kernel.umount(folder)
            folder.rmdir()


def _available_bytes() -> int | None:
    """MemAvailable (proc_meminfo(5)), or None where it is not told."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
