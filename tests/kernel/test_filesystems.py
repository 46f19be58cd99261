"""Real filesystems on images of our own: made, mounted, written, unmounted, checked, damaged, repaired."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fstrial.base import kernel, proc
from fstrial.base.errors import MachineError
from fstrial.base.units import GIB, KIB, MIB
from fstrial.filesystems.contract import Checked, Filesystem, Health, filesystems

pytestmark = [pytest.mark.kernel, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

QUICK_S = 60.0


@pytest.fixture(params=filesystems.names())
def filesystem(request: pytest.FixtureRequest) -> Filesystem:
    return load(request.param)


def load(name: str) -> Filesystem:
    filesystem = filesystems.load(name)()
    if reasons := filesystem.unsupported_here():
        pytest.skip("; ".join(reasons))
    return filesystem


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return sized(tmp_path / "image", 512 * MIB)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mounted"
    place.mkdir()
    return place


def sized(image: Path, size_bytes: int) -> Path:
    with image.open("wb") as file:
        file.truncate(size_bytes)
    return image


def run(argv: tuple[str, ...]) -> proc.Completed:
    return proc.run(argv, deadline_s=QUICK_S)


def make(filesystem: Filesystem, device: Path | str, options: tuple[str, ...] = ()) -> None:
    done = run(filesystem.make(str(device), options))
    assert not done.failed, done.complaint()


def check(filesystem: Filesystem, image: Path) -> Checked:
    done = run(filesystem.check(str(image)))
    return filesystem.check_means(done.exit_status, done.stdout + done.stderr)


@contextmanager
def loop(image: Path) -> Iterator[str]:
    device = run(("losetup", "--find", "--show", str(image))).stdout.strip()
    try:
        yield device
    finally:
        run(("losetup", "--detach", device))


@contextmanager
def mounted(filesystem: Filesystem, image: Path, folder: Path, options: tuple[str, ...] = ()) -> Iterator[Path]:
    with loop(image) as device:
        filesystem.mount(device, folder, options)
        try:
            yield folder
        finally:
            kernel.umount(folder)


def wound(image: Path) -> None:
    """Zero the first metadata behind the superblocks: those are in the first page and, for Btrfs, at 64 KiB."""
    with image.open("r+b") as file:
        for begin, end in ((4 * KIB, 64 * KIB), (68 * KIB, 60 * MIB)):
            file.seek(begin)
            file.write(bytes(end - begin))


def test_a_filesystem_that_was_used_and_unmounted_is_clean(filesystem: Filesystem, image: Path, folder: Path) -> None:
    make(filesystem, image)
    with mounted(filesystem, image, folder, ("noatime",)):
        (folder / "below").mkdir()
        for number in range(100):
            (folder / "below" / f"file{number}").write_bytes(os.urandom(10_000))
        shown = next(line for line in Path("/proc/self/mounts").read_text().splitlines() if str(folder) in line)
        assert shown.split()[2] == filesystem.kernel_type
        assert "noatime" in shown.split()[3].split(",")
    assert check(filesystem, image).health is Health.CLEAN
    with mounted(filesystem, image, folder):
        assert len(list((folder / "below").iterdir())) == 100


def test_the_device_is_free_as_soon_as_it_is_unmounted(filesystem: Filesystem, image: Path, folder: Path) -> None:
    make(filesystem, image)
    with loop(image) as device:
        filesystem.mount(device, folder, ())
        (folder / "file").write_bytes(bytes(MIB))
        kernel.umount(folder)
        os.close(os.open(device, os.O_RDWR | os.O_EXCL))


def test_lost_metadata_is_found(filesystem: Filesystem, image: Path, folder: Path) -> None:
    make(filesystem, image)
    with mounted(filesystem, image, folder):
        (folder / "file").write_bytes(bytes(MIB))
    wound(image)
    found = check(filesystem, image)
    assert found.health is Health.DAMAGED
    assert found.reason


def test_a_lost_first_superblock_is_found(filesystem: Filesystem, image: Path) -> None:
    make(filesystem, image)
    with image.open("r+b") as file:
        file.write(bytes(4 * KIB))
        file.seek(64 * KIB)
        file.write(bytes(4 * KIB))
    assert check(filesystem, image).health is Health.DAMAGED


def test_checking_writes_nothing(filesystem: Filesystem, image: Path) -> None:
    make(filesystem, image)
    wound(image)
    before = image.stat().st_mtime_ns
    check(filesystem, image)
    assert image.stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["ext3", "ext4", "xfs"])
def test_a_journal_not_yet_replayed_is_neither_clean_nor_damaged(name: str, image: Path, folder: Path) -> None:
    filesystem = load(name)
    make(filesystem, image)
    copy = image.with_name("copy")
    with mounted(filesystem, image, folder):
        for number in range(50):
            (folder / f"file{number}").write_bytes(bytes(4096))
        os.sync()
        (folder / "file50").write_bytes(bytes(4096))
        with (folder / "file50").open("rb") as file:
            os.fsync(file.fileno())
        run(("cp", "--sparse=always", str(image), str(copy)))
    assert check(filesystem, copy).health is Health.UNKNOWN
    with mounted(filesystem, copy, folder):
        assert (folder / "file50").stat().st_size == 4096
    assert check(filesystem, copy).health is Health.CLEAN


def test_repair_asks_nothing_and_leaves_it_clean(filesystem: Filesystem, image: Path) -> None:
    make(filesystem, image)
    done = run(filesystem.repair(str(image)))
    assert filesystem.repair_means(done.exit_status).health in (Health.CLEAN, Health.REPAIRED)
    assert check(filesystem, image).health is Health.CLEAN


def test_a_real_repair_says_so(image: Path) -> None:
    ext4 = load("ext4")
    make(ext4, image)
    run(("debugfs", "-w", "-R", "clri <11>", str(image)))
    assert check(ext4, image).health is Health.DAMAGED
    assert ext4.repair_means(run(ext4.repair(str(image))).exit_status).health is Health.REPAIRED
    assert check(ext4, image).health is Health.CLEAN


def test_a_copy_with_a_new_identity_mounts_beside_the_original(
    filesystem: Filesystem, image: Path, folder: Path, tmp_path: Path
) -> None:
    make(filesystem, image)
    with mounted(filesystem, image, folder):
        (folder / "file").write_text("here")
    copy, beside = image.with_name("copy"), tmp_path / "beside"
    run(("cp", "--sparse=always", str(image), str(copy)))
    beside.mkdir()
    done = run(filesystem.new_uuid(str(copy)))
    assert not done.failed, done.complaint()
    uuids = [run(("blkid", "-p", "-o", "value", "-s", "UUID", str(one))).stdout for one in (image, copy)]
    assert len(set(uuids)) == 2
    with mounted(filesystem, image, folder), mounted(filesystem, copy, beside):
        assert (beside / "file").read_text() == "here"
    assert check(filesystem, copy).health is Health.CLEAN


def test_options_the_maker_rejects_fail_with_its_own_words(filesystem: Filesystem, image: Path) -> None:
    done = run(filesystem.make(str(image), ("--no-such-thing",)))
    assert done.failed
    assert "option" in done.complaint()


def test_a_refused_mount_says_what_the_kernel_or_the_program_said(
    filesystem: Filesystem, image: Path, folder: Path
) -> None:
    with loop(image) as device, pytest.raises((OSError, MachineError)) as caught:
        filesystem.mount(device, folder, ())
    error = caught.value
    assert "NTFS" in str(error) if filesystem.fuse else isinstance(error, OSError) and error.errno == errno.EINVAL


def test_the_smallest_device_works_and_one_well_below_does_not(
    filesystem: Filesystem, tmp_path: Path, folder: Path
) -> None:
    smallest = sized(tmp_path / "smallest", filesystem.minimum_bytes)
    make(filesystem, smallest)
    with mounted(filesystem, smallest, folder):
        (folder / "file").write_text("fits")
    below = sized(tmp_path / "below", filesystem.minimum_bytes // 32)
    assert run(filesystem.make(str(below), ())).failed


@pytest.mark.parametrize("name", ["ext3", "ext4"])
def test_below_the_minimum_ext_would_silently_have_no_journal(name: str, tmp_path: Path) -> None:
    filesystem = load(name)
    features = []
    for size_bytes in (filesystem.minimum_bytes, filesystem.minimum_bytes - KIB):
        image = sized(tmp_path / "image", size_bytes)
        make(filesystem, image)
        features.append("has_journal" in run(("dumpe2fs", "-h", str(image))).stdout)
    assert features == [True, False]


@pytest.mark.parametrize("name", ["ext2", "ext3", "ext4"])
def test_no_inode_table_is_left_for_later(name: str, image: Path) -> None:
    """Every block of the tables is written by mkfs itself, though the user has -E options of his own."""
    make(load(name), image, ("-E", "stride=16"))
    facts = dict(line.split(":", 1) for line in run(("dumpe2fs", "-h", str(image))).stdout.splitlines() if ":" in line)
    assert facts["RAID stride"].strip() == "16"
    tables = int(facts["Inode count"]) * int(facts["Inode size"])
    assert image.stat().st_blocks * 512 >= tables


def test_limits_are_what_the_mounted_filesystem_does(filesystem: Filesystem, tmp_path: Path, folder: Path) -> None:
    limits = filesystem.limits
    image = sized(tmp_path / "image", GIB)
    make(filesystem, image)
    with mounted(filesystem, image, folder):
        (folder / ("n" * limits.name_bytes)).touch()
        with pytest.raises(OSError, match="too long"):
            (folder / ("n" * (limits.name_bytes + 1))).touch()
        (folder / "Case").touch()
        assert (folder / "case").exists() is not limits.case_sensitive
        assert works(lambda: (folder / "link").symlink_to("Case")) is limits.symlinks
        assert works(lambda: (folder / "hard").hardlink_to(folder / "Case")) is limits.hard_links
        with suppress(OSError):
            os.chown(folder / "Case", 1000, 1000)
        assert ((folder / "Case").stat().st_uid == 1000) is limits.owners
        with suppress(OSError):
            (folder / "Case").chmod(0o640)
        assert ((folder / "Case").stat().st_mode & 0o777 == 0o640) is limits.permissions
        (folder / 'a:*?"<>|\\ .').touch()
        assert limits.maximum_file_bytes is not None
        with (folder / "large").open("wb") as file:
            os.pwrite(file.fileno(), b"x", limits.maximum_file_bytes - 1)
            with pytest.raises(OSError, match=r"too large|Invalid argument|Input/output"):
                os.pwrite(file.fileno(), b"x", limits.maximum_file_bytes)


def works(call: object) -> bool:
    try:
        call()  # type: ignore[operator]
    except OSError:
        return False
    return True
