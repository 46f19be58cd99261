"""ext2: no journal."""

from __future__ import annotations

from fstrial.base.units import KIB
from fstrial.filesystems._ext import LARGEST_MAPPED_FILE, Ext
from fstrial.filesystems.contract import Limits, Replay

__all__ = ["Type"]


class Type(Ext):
    """Mounted by the ext4 driver in most kernels of today (CONFIG_EXT4_USE_FOR_EXT2), under its own name."""

    name = "ext2"
    kernel_type = "ext2"
    programs = ("mkfs.ext2", "e2fsck", "tune2fs")
    minimum_bytes = 104 * KIB  # bisected with mke2fs 1.47.0
    limits = Limits(maximum_file_bytes=LARGEST_MAPPED_FILE)
    replay = Replay.NOBODY
    lazy = ("lazy_itable_init=0",)
