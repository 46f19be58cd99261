"""Whose complaint is it: lines about other block devices are not this trial's."""

from __future__ import annotations

import pytest

from fstrial.probes._machine import _is_minor

OTHERS = (
    "I/O error, dev loop3, sector 2048 op 0x0:(READ) flags 0x800 phys_seg 1 prio class 2",
    "Buffer I/O error on dev loop3p1, logical block 256, async page read",
    "EXT4-fs error (device sdb1): ext4_lookup:1855: inode #2: comm ls: iget: checksum invalid",
    "XFS (nvme0n1p2): Metadata corruption detected at xfs_agf_read_verify",
)
OURS = (
    "I/O error, dev loop1, sector 0 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2",
    "EXT4-fs (loop1): shut down requested (2)",
    "blk_update_request: I/O error, dev vda, sector 123",
    "btrfs: Unknown parameter 'nonsense'",
    "INFO: task cp:123 blocked for more than 120 seconds.",
)


@pytest.mark.parametrize("line", OTHERS)
def test_another_device_is_named(line: str) -> None:
    assert _is_minor(line, ("loop1", "vda"))


@pytest.mark.parametrize("line", OURS)
def test_our_device_or_none_is_named(line: str) -> None:
    assert not _is_minor(line, ("loop1", "vda"))


def test_without_devices_of_our_own_nothing_is_put_on_others() -> None:
    assert not _is_minor(OTHERS[0], ())


def test_a_request_that_a_device_does_not_know_is_no_complaint() -> None:
    assert _is_minor("operation not supported error, dev loop1, sector 8 op 0x9:(WRITE_ZEROES) flags 0x0", ("loop1",))


def test_the_rate_limits_own_count_is_no_complaint() -> None:
    assert _is_minor("set_capacity_and_notify: 43 callbacks suppressed", ("loop1",))
