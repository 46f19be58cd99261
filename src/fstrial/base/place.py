"""Folders of our own on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from fstrial.base.errors import MachineError

__all__ = ["cache_folder", "mount_root"]


def cache_folder() -> Path:
    """`fstrial` in the user's cache folder (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/root"), ".cache")
    return Path(base, "fstrial")


def mount_root(*, make: bool = True) -> Path:
    """The folder that each worker covers with private mounts nobody else sees; it stays empty.

    Raises MachineError when it cannot be made.
    """
    folder = cache_folder() / "mnt"
    if make:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(
                f"cannot make {folder}: {error.strerror}",
                "set XDG_CACHE_HOME to a folder that you may write to",
            ) from error
    return folder
