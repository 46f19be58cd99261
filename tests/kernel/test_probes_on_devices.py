"""Probes on a real loop device and the real kernel log."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fstrial.base import kernel, proc
from fstrial.base.units import MIB
from fstrial.probes import device
from fstrial.probes._machine import KernelLog
from fstrial.probes.contract import Place

pytestmark = [pytest.mark.kernel, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    path = Path(proc.run(("losetup", "--find", "--show", str(image)), deadline_s=10).stdout.strip())
    try:
        yield path
    finally:
        proc.run(("losetup", "--detach", str(path)), deadline_s=10)


def test_the_device_figures_are_those_of_direct_io_we_did(loop: Path) -> None:
    probe = device.Reader(Place(Path("/sys/block", loop.name, "stat")))
    descriptor = os.open(loop, os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, MIB) as block:
            block.write(b"x" * MIB)
            probe.enter()
            for number in range(8):
                os.pwrite(descriptor, block, number * MIB)
            os.fsync(descriptor)
            for number in range(3):
                os.preadv(descriptor, [block], number * MIB)
            seen = {sample.metric: sample for sample in probe.exit()}
    finally:
        os.close(descriptor)
    assert seen["device_write_bytes"].value == 8 * MIB
    assert seen["device_read_bytes"].value == 3 * MIB
    assert seen["device_flushes"].value == 1
    assert seen["device_discards"].value == 0
    assert (seen["device_writes"].value or 0) >= 8
    assert (seen["device_busy_s"].value or 0) >= 0


def test_a_discard_is_counted_apart(loop: Path) -> None:
    probe = device.Reader(Place(Path("/sys/block", loop.name, "stat")))
    descriptor = os.open(loop, os.O_RDWR)
    try:
        probe.enter()
        discards = kernel.discard_all(descriptor)
        seen = {sample.metric: sample.value for sample in probe.exit()}
    finally:
        os.close(descriptor)
    discarded = 64 * MIB if discards else 0  # some hosts' filesystems punch no holes under a loop device
    assert (seen["device_discard_bytes"], seen["device_write_bytes"]) == (discarded, 0)


def test_the_kernels_complaint_about_a_bad_mount_is_seen(loop: Path, tmp_path: Path) -> None:
    with KernelLog() as log:
        with pytest.raises(OSError, match="Invalid argument"):
            kernel.mount(str(loop), tmp_path, "ext4")
        complaints = [line for line in log.lines() if loop.name in line]
    assert any("ext4 filesystem" in line for line in complaints)
    with KernelLog() as quiet:
        assert [line for line in quiet.lines() if loop.name in line] == []
