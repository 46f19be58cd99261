"""The filesystem under trial, mounted: the folder to work in, a descriptor to sync by, and the way to cold caches."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from fstrial.base import kernel
from fstrial.devices.contract import Attached
from fstrial.filesystems.contract import Filesystem
from fstrial.model.trial import CacheState
from fstrial.workloads.contract import PhaseFailed

__all__ = ["Mounted", "OnDevice", "OnFolder"]

_BUSY_DEADLINE_S = 10.0


class Mounted:
    """Somewhere to work, with a descriptor of its filesystem open until `release`."""

    def __init__(self, root: Path, may_drop: bool) -> None:
        self.root = root
        self.may_drop = may_drop
        self._descriptor: int | None = None

    def take(self) -> None:
        """Open the descriptor that syncs go through."""
        self._descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def sync(self) -> None:
        if self._descriptor is None:
            raise PhaseFailed("nothing is mounted to sync")
        kernel.syncfs(self._descriptor)

    def make_cold(self) -> CacheState:
        """Put what is cached on the device and forget it, as far as this machine lets us."""
        self.sync()
        if not self.may_drop:
            return CacheState.UNKNOWN
        kernel.drop_caches()
        return CacheState.COLD


class OnFolder(Mounted):
    """A private folder on a filesystem that someone else mounted."""


class OnDevice(Mounted):
    """A fresh filesystem of ours on a device that the guard let through."""

    def __init__(
        self,
        attached: Attached,
        filesystem: Filesystem,
        options: tuple[str, ...],
        place: Path,
        may_drop: bool,
    ) -> None:
        super().__init__(place / "trial", may_drop)
        self._attached = attached
        self._filesystem = filesystem
        self._options = options
        self._place = place
        self.is_mounted = False

    def mount(self) -> None:
        """Raises OSError or MachineError as mount(2) or the FUSE program has it."""
        self._filesystem.mount(str(self._attached.writable.path), self._place, self._options)
        self.is_mounted = True

    def begin(self) -> None:
        """Make the folder to work in, apart from lost+found and the like."""
        self.root.mkdir(exist_ok=True)
        self.take()

    def unmount(self) -> None:
        """umount2(2), again while something that looked at the new mount still holds it busy."""
        self.release()
        limit = time.monotonic() + _BUSY_DEADLINE_S
        while True:
            try:
                kernel.umount(self._place)
                self.is_mounted = False
                return
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > limit:
                    raise
                time.sleep(0.01)

    def make_cold(self) -> CacheState:
        self.unmount()
        if self.may_drop:
            kernel.drop_caches()
        self._attached.writable.prove()
        self.mount()
        self.begin()
        return CacheState.COLD if self.may_drop else CacheState.UNKNOWN
