"""libblkid, called directly: a device is proven before each mkfs and mount, and a program each time would cost more
than the mount (libblkid(3)).
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

from fstrial.base.errors import MissingRequirement

__all__ = ["superblock_uuid"]

_UUID = 1 << 3  # BLKID_SUBLKS_UUID
_FOUND = 0  # blkid_do_safeprobe(): 1 is nothing, -2 several at once, -1 an error


@cache
def _library() -> ctypes.CDLL:
    """Raises MissingRequirement; Debian cannot do without it."""
    try:
        library = ctypes.CDLL("libblkid.so.1", use_errno=True)
    except OSError as error:
        raise MissingRequirement("libblkid is not installed", "sudo apt-get install libblkid1") from error
    library.blkid_new_probe_from_filename.restype = ctypes.c_void_p
    for name in ("blkid_free_probe", "blkid_probe_set_superblocks_flags", "blkid_do_safeprobe"):
        getattr(library, name).argtypes = (ctypes.c_void_p,)
    library.blkid_probe_set_superblocks_flags.argtypes = (ctypes.c_void_p, ctypes.c_int)
    library.blkid_probe_lookup_value.argtypes = (
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(ctypes.c_size_t),
    )
    return library


def superblock_uuid(path: Path) -> str:
    """UUID of the filesystem on a device; empty where there is none, or more than one. Raises OSError."""
    library = _library()
    probe = library.blkid_new_probe_from_filename(os.fsencode(path))
    if not probe:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), os.fspath(path))
    try:
        library.blkid_probe_set_superblocks_flags(probe, _UUID)
        if library.blkid_do_safeprobe(probe) != _FOUND:
            return ""
        value = ctypes.c_char_p()
        if library.blkid_probe_lookup_value(probe, b"UUID", ctypes.byref(value), None) != 0:
            return ""
        return (value.value or b"").decode("ascii", "replace")
    finally:
        library.blkid_free_probe(probe)
