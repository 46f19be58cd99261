"""What a full and a broken device make of a phase: a failed phase, what was done until then, and where it ended."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fstrial.base.errors import MachineError
from fstrial.base.kernel import mount, umount
from fstrial.engine.phase import Api, BlockSize, DataPhase, Kind, MetadataPhase, Mix, Order, Syncing, Target
from fstrial.engine.report import Ending
from fstrial.engine.run import api_reason, run

pytestmark = pytest.mark.kernel

MIB = 1 << 20
APIS = [api for api in Api if not api_reason(api)]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A tmpfs of one MiB."""
    mount("none", tmp_path, "tmpfs", ("size=1m", "nr_inodes=64"))
    try:
        yield tmp_path
    finally:
        umount(tmp_path)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
@pytest.mark.parametrize("processes", [False, True])
def test_a_full_filesystem_fails_the_phase_and_keeps_what_was_done(api: Api, processes: bool, small: Path) -> None:
    target = Target(small / "file", 4 * MIB)
    phase = DataPhase(
        (target,),
        (BlockSize(65536),),
        Mix(write=1),
        api=api,
        create=True,
        processes=processes,
        syncing=Syncing(at_end=True),
    )
    report = run(phase)
    assert report.failed
    assert report.failure is not None
    assert report.failure.kind is Kind.WRITE
    assert report.failure.error == (errno.EIO if api is Api.MMAP else errno.ENOSPC)  # SIGBUS does not say why
    assert report.workers[0].ending is Ending.FAILED
    written = report.of(Kind.WRITE)
    assert written.errors == 1
    assert written.moved_bytes == pytest.approx(MIB, abs=2 * 65536)
    assert report.failure.offset == pytest.approx(MIB, abs=2 * 65536)
    assert str(target.path) in report.reason


def test_fallocate_that_does_not_fit_never_starts(small: Path) -> None:
    phase = DataPhase((Target(small / "file", 4 * MIB),), (BlockSize(65536),), Mix(write=1), create=True, allocate=True)
    with pytest.raises(MachineError, match=r"allocate of .*file.*No space left"):
        run(phase)


def test_names_that_do_not_fit_fail_at_the_first_of_them(small: Path) -> None:
    report = run(MetadataPhase(small, Kind.CREATE, names=1000))
    assert report.failure is not None
    assert report.failure.error == errno.ENOSPC
    assert report.failure.name == report.of(Kind.CREATE).operations
    assert len(list(small.iterdir())) == report.of(Kind.CREATE).operations


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Path]:
    """A loop device whose second half has lost its backing: reads there fail with EIO."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(2 * MIB)
    attached = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=True)
    device = Path(attached.stdout.strip())
    try:
        with image.open("r+b") as file:
            file.truncate(MIB)
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


@pytest.mark.parametrize("api", [Api.PREAD_PWRITE, Api.READ_WRITE, Api.MMAP, Api.IO_URING], ids=lambda api: api.name)
def test_a_broken_device_fails_the_phase_at_the_broken_place(api: Api, broken: Path) -> None:
    if api_reason(api):
        pytest.skip(api_reason(api))
    whole = DataPhase((Target(broken, 2 * MIB),), (BlockSize(4096),), Mix(read=1), api=api, direct=api is not Api.MMAP)
    report = run(whole)
    assert report.failure is not None
    assert report.failure.error == errno.EIO
    assert report.failure.offset == MIB
    sound = run(msgspec.structs.replace(whole, targets=(Target(broken, MIB),), order=Order.BACKWARD))
    assert not sound.failed, sound.reason
