"""A private folder on a filesystem that others use too: made fresh, held by a lock, removed by descriptor."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fstrial.base.errors import MachineError, Refused, UsageError
from fstrial.devices._names import typed

__all__ = ["PrivateFolder"]

_PREFIX = "fstrial-"
_MARKER = ".fstrial-owns-this"
_WORK = "work"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BY_HAND = "unmount it and remove the rest by hand"


class PrivateFolder:
    """The folder `work` inside a folder of ours; the one around it holds our marker and our lock."""

    def __init__(self, parent: Path, name: str, descriptor: int) -> None:
        self._outer = parent / name
        self._descriptor = descriptor
        self._identity = _identity(os.fstat(descriptor))

    @property
    def path(self) -> Path:
        return self._outer / _WORK

    def prove(self) -> None:
        """Raises Refused when the name does not lead to our folder any more, by filesystem and inode."""
        shown = typed(self._outer)
        try:
            now = _identity(os.lstat(self._outer))
        except OSError as error:
            raise Refused(f"{shown} is gone: {error.strerror}", "did something else remove it?") from error
        if now != self._identity:
            raise Refused(f"{shown} is not the folder that was made", "did something else replace it?")

    def adopt_uuid(self, uuid: str) -> None:
        """A folder's filesystem is not ours to identify."""

    @classmethod
    @contextmanager
    def inside(cls, parent: Path) -> Iterator[PrivateFolder]:
        """A fresh one, gone when the block ends. Those of killed runs are removed first, if nobody holds them.

        Raises UsageError or MachineError when it cannot be made, Refused when it cannot be removed safely.
        """
        above = _opened(parent)
        try:
            _remove_orphans(above)
            name = f"{_PREFIX}{secrets.token_hex(8)}"
            try:
                os.mkdir(name, 0o700, dir_fd=above)
            except OSError as error:
                raise MachineError(
                    f"cannot make a folder in {typed(parent)}: {error.strerror}",
                    "name a folder that you may write to",
                ) from error
            descriptor = os.open(name, _OPEN_FOLDER, dir_fd=above)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                os.close(os.open(_MARKER, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600, dir_fd=descriptor))
                os.mkdir(_WORK, 0o755, dir_fd=descriptor)
                yield cls(parent, name, descriptor)
            finally:
                try:
                    _remove(above, name)
                finally:
                    os.close(descriptor)
        finally:
            os.close(above)


def _opened(parent: Path) -> int:
    try:
        return os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{typed(f'dir:{parent}')}: {error.strerror}", "name an existing folder") from error


def _identity(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino


def _remove_orphans(above: int) -> None:
    """Folders that a killed run left: named like ours, ours by owner and marker, and with nobody holding the lock.

    One that cannot be removed, since something is mounted in it for example, is left alone.
    """
    for name in os.listdir(above):
        if not name.startswith(_PREFIX):
            continue
        with suppress(OSError, Refused):
            descriptor = os.open(name, _OPEN_FOLDER, dir_fd=above)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                marker = os.stat(_MARKER, dir_fd=descriptor, follow_symlinks=False)
                if marker.st_uid == os.fstat(descriptor).st_uid == os.geteuid():
                    _remove(above, name)
            finally:
                os.close(descriptor)


def _remove(above: int, name: str) -> None:
    """Remove a folder tree by descriptors alone: no link is followed, no other filesystem is entered.

    The marker goes last, so that a removal cut short is taken up by the next run.
    """
    with suppress(FileNotFoundError):
        descriptor = os.open(name, _OPEN_FOLDER, dir_fd=above)
        try:
            device = os.fstat(descriptor).st_dev
            if device != os.fstat(above).st_dev:
                raise Refused(f"{typed(name)} is a mount point by now: it is left alone", _BY_HAND)
            _empty(descriptor, device, keep=_MARKER)
            with suppress(FileNotFoundError):
                os.unlink(_MARKER, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        os.rmdir(name, dir_fd=above)


def _empty(folder: int, device: int, keep: str = "") -> None:
    """Remove what is in a folder of ours, made writable first: a source tree may bring read-only folders."""
    os.fchmod(folder, stat.S_IRWXU)
    for name in os.listdir(folder):
        if name == keep:
            continue
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=folder)
            continue
        inner = _inside(folder, name)
        try:
            if os.fstat(inner).st_dev != device:
                raise Refused(f"{typed(name)} is on another filesystem: it is left alone", _BY_HAND)
            _empty(inner, device)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=folder)


def _inside(folder: int, name: str) -> int:
    """Descriptor of a folder inside; one that nobody may read is opened by its own name and made readable."""
    try:
        return os.open(name, _OPEN_FOLDER, dir_fd=folder)
    except PermissionError:
        found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{found}", stat.S_IRWXU)  # noqa: PTH101 - fchmod takes no O_PATH descriptor
            return os.open(name, _OPEN_FOLDER, dir_fd=folder)
        finally:
            os.close(found)
