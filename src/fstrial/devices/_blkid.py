"""libblkid, called directly: a device is proven before each mkfs and mount, and a program each time would cost more
than the mount (libblkid.h; lib/libblkid of util-linux).
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from fstrial.base.errors import MissingRequirement

__all__ = ["partition_table", "partition_uuid", "superblock_uuid"]

_SUPERBLOCK_UUID = 1 << 3  # BLKID_SUBLKS_UUID
_ENTRY_DETAILS = 1 << 2  # BLKID_PARTS_ENTRY_DETAILS
_FOUND, _NOTHING, _SEVERAL = 0, 1, -2  # blkid_do_safeprobe(); -1 is an error


def superblock_uuid(path: Path) -> str:
    """UUID of the filesystem on a device; empty where there is none.

    Raises OSError: ENOTUNIQ where several contradict each other, else what made it unreadable.
    """
    with _probe(path) as (library, probe):
        library.blkid_probe_set_superblocks_flags(probe, _SUPERBLOCK_UUID)
        return _value(library, probe, b"UUID", path)


def partition_table(path: Path) -> str:
    """Type of the partition table on a device; empty where there is none, or only the boot sector of FAT or NTFS,
    which ends in the same two bytes. Raises OSError."""
    with _probe(path) as (library, probe):
        library.blkid_probe_enable_superblocks(probe, 0)
        library.blkid_probe_enable_partitions(probe, 1)
        return _value(library, probe, b"PTTYPE", path)


def partition_uuid(path: Path) -> str:
    """PARTUUID of a partition, from its disk's table; empty where there is none. Raises OSError."""
    with _probe(path) as (library, probe):
        library.blkid_probe_enable_superblocks(probe, 0)
        library.blkid_probe_enable_partitions(probe, 1)
        library.blkid_probe_set_partitions_flags(probe, _ENTRY_DETAILS)
        return _value(library, probe, b"PART_ENTRY_UUID", path)


@cache
def _library() -> ctypes.CDLL:
    """Raises MissingRequirement; Debian cannot do without it."""
    try:
        library = ctypes.CDLL("libblkid.so.1", use_errno=True)
    except OSError as error:
        raise MissingRequirement("libblkid is not installed", "sudo apt-get install libblkid1") from error
    probe, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    library.blkid_new_probe_from_filename.restype = probe
    library.blkid_new_probe_from_filename.argtypes = (text,)
    library.blkid_free_probe.argtypes = (probe,)
    library.blkid_free_probe.restype = None
    library.blkid_do_safeprobe.argtypes = (probe,)
    for name in (
        "blkid_probe_enable_superblocks",
        "blkid_probe_set_superblocks_flags",
        "blkid_probe_enable_partitions",
        "blkid_probe_set_partitions_flags",
    ):
        getattr(library, name).argtypes = (probe, number)
    library.blkid_probe_lookup_value.argtypes = (probe, text, ctypes.POINTER(text), ctypes.POINTER(ctypes.c_size_t))
    return library


@contextmanager
def _probe(path: Path) -> Iterator[tuple[ctypes.CDLL, int]]:
    library = _library()
    probe = library.blkid_new_probe_from_filename(os.fsencode(path))
    if not probe:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), os.fspath(path))
    try:
        yield library, probe
    finally:
        library.blkid_free_probe(probe)


def _value(library: ctypes.CDLL, probe: int, tag: bytes, path: Path) -> str:
    outcome = library.blkid_do_safeprobe(probe)
    if outcome not in (_FOUND, _NOTHING):
        code = errno.ENOTUNIQ if outcome == _SEVERAL else ctypes.get_errno() or errno.EIO
        words = "several signatures contradict each other" if outcome == _SEVERAL else os.strerror(code)
        raise OSError(code, words, os.fspath(path))
    value = ctypes.c_char_p()
    if outcome == _NOTHING or library.blkid_probe_lookup_value(probe, tag, ctypes.byref(value), None) != 0:
        return ""
    return (value.value or b"").decode("ascii", "replace")
