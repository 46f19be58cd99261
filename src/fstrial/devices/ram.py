"""`ram:SIZE`: a loop device over an image in a private tmpfs.

Not zram: its devices outlive the process that made them, and compress what is written. The tmpfs is mounted in the
worker's own mount namespace and goes with it.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fstrial.base import kernel
from fstrial.base.errors import MachineError
from fstrial.base.units import format_size, parse_size
from fstrial.devices._carrier import carrier_of
from fstrial.devices._names import typed
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
        self._size = parse_size(size, f"--on {typed(word)}") if size else None

    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        need_root(self.word)
        available = _available_bytes()
        if available is not None and size_bytes > available // 2:
            raise MachineError(
                f"{typed(self.word)}: {format_size(size_bytes)} of memory wanted, and {format_size(available)} are "
                "available; half of it stays free",
                "give a smaller size, or use loop:",
            )
        return ()

    def size_bytes(self, wanted_bytes: int) -> int | None:
        return self._size or wanted_bytes

    def command(self, size_bytes: int) -> tuple[str, ...]:
        return ("losetup", "--find", "--show", "--direct-io=on", "/TMPFS/IMAGE")

    @contextmanager
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> Iterator[Held]:
        need_root(self.word)
        folder = Path(tempfile.mkdtemp(prefix="ram-", dir=scratch))
        _mount(folder, size_bytes)
        try:
            yield ImageFolder(self.word, self.kind, folder, carrier_of(folder), size_bytes, scratch)
        finally:
            kernel.umount(folder)
            folder.rmdir()


def _mount(folder: Path, size_bytes: int) -> None:
    """A tmpfs with room for the image and no more, never swapped out where the kernel can promise that (Linux 6.4)."""
    options = (f"size={size_bytes + size_bytes // 64}", "mode=700")
    try:
        kernel.mount("fstrial", folder, "tmpfs", (*options, "noswap"))
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        kernel.mount("fstrial", folder, "tmpfs", options)


def _available_bytes() -> int | None:
    """MemAvailable (proc_meminfo(5)), or None where it is not told."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
