"""ext3: ext2 with a journal."""

from __future__ import annotations

from fstrial.filesystems._ext import LARGEST_MAPPED_FILE, MINIMUM_WITH_JOURNAL, Ext
from fstrial.filesystems.contract import Limits

__all__ = ["Type"]


class Type(Ext):
    """Mounted by the ext4 driver (since Linux 4.3, when the ext3 driver was removed), under its own name."""

    name = "ext3"
    kernel_type = "ext3"
    programs = ("mkfs.ext3", "e2fsck", "tune2fs")
    minimum_bytes = MINIMUM_WITH_JOURNAL
    limits = Limits(maximum_file_bytes=LARGEST_MAPPED_FILE)
