"""ext4: journal, extents, delayed allocation."""

from __future__ import annotations

from fstrial.base.units import KIB
from fstrial.filesystems._ext import MINIMUM_WITH_JOURNAL, Ext
from fstrial.filesystems.contract import Limits

__all__ = ["Type"]


class Type(Ext):
    name = "ext4"
    kernel_type = "ext4"
    programs = ("mkfs.ext4", "e2fsck", "tune2fs")
    minimum_bytes = MINIMUM_WITH_JOURNAL
    # 2^32 blocks of 4 KiB (Documentation/filesystems/ext4/blocks.rst) less one (kernel commit f17722f917b2)
    limits = Limits(maximum_file_bytes=16 * KIB**4 - 4 * KIB)
