"""Devices of our own making: images without a name, loop devices that clear themselves, private folders."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from fstrial.base import kernel
from fstrial.base.errors import MachineError, MissingRequirement, Refused, UsageError
from fstrial.devices._loop import attached_loop, backing_of, unlinked_image
from fstrial.devices.claim import claim_folder, claim_loop
from fstrial.devices.contract import target_of

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("need_root")]

MIB = 1 << 20


def _losetup() -> set[str]:
    done = subprocess.run(["losetup", "--noheadings", "--output", "NAME"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_an_image_has_no_name_and_its_loop_device_is_gone_after_the_block(tmp_path: Path) -> None:
    before = _losetup()
    with unlinked_image(tmp_path, 64 * MIB) as image, attached_loop(image, tmp_path) as loop:
        assert list(tmp_path.iterdir()) == []
        (ours,) = _losetup() - before
        assert ours == str(loop.path)
        assert (Path("/sys/block") / loop.path.name / "size").read_text().strip() == str(64 * MIB // 512)
        dio = (Path("/sys/block") / loop.path.name / "loop/dio").read_text().strip()
        assert loop.direct_io == (dio == "1")
    assert _losetup() == before


def test_a_killed_owner_leaves_no_loop_device(tmp_path: Path) -> None:
    before = _losetup()
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from fstrial.devices._loop import attached_loop, unlinked_image\n"
        f"with unlinked_image(Path({str(tmp_path)!r}), 1 << 26) as i, attached_loop(i, Path({str(tmp_path)!r})) as l:\n"
        "    print(l.path, flush=True); time.sleep(60)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    device = owner.stdout.readline().strip()
    assert device in _losetup()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    limit = time.monotonic() + 5
    while device in _losetup() - before and time.monotonic() < limit:
        time.sleep(0.01)
    assert _losetup() == before


def test_a_loop_device_knows_the_image_below_it_by_device_and_inode(tmp_path: Path) -> None:
    with unlinked_image(tmp_path, 64 * MIB) as image, attached_loop(image, tmp_path) as loop:
        backing, state = backing_of(loop.path), os.fstat(image)
        assert backing is not None
        assert (backing.device, backing.inode) == (state.st_dev, state.st_ino)


def test_our_loop_device_is_refused_once_it_stands_on_another_image(tmp_path: Path) -> None:
    with (
        unlinked_image(tmp_path, 64 * MIB) as image,
        unlinked_image(tmp_path, 64 * MIB) as other,
        attached_loop(image, tmp_path) as loop,
    ):
        claim_loop(loop, image).prove()
        with pytest.raises(Refused, match="our image"):
            claim_loop(loop, other).prove()


def test_where_dev_has_no_node_one_is_made_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fstrial.devices._loop.number_at", lambda path: "")
    with unlinked_image(tmp_path, 64 * MIB) as image, attached_loop(image, tmp_path) as loop:
        assert loop.path.parent == tmp_path
        assert loop.path.is_block_device()
    assert list(tmp_path.iterdir()) == []


def test_a_name_in_dev_that_is_another_device_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's /dev is what somebody put there."""
    monkeypatch.setattr("fstrial.devices._loop.number_at", lambda path: "1:3")
    with unlinked_image(tmp_path, 64 * MIB) as image, attached_loop(image, tmp_path) as loop:
        assert loop.path.parent == tmp_path
        claim_loop(loop, image).prove()


def test_many_at_once_each_get_a_device_of_their_own(tmp_path: Path) -> None:
    """LOOP_CTL_GET_FREE gives all of them the same number; LOOP_CONFIGURE decides who gets it."""
    gate = threading.Barrier(6)

    def attach(number: int) -> str:
        with unlinked_image(tmp_path, 16 * MIB) as image:
            gate.wait()
            with attached_loop(image, tmp_path) as loop:
                claim_loop(loop, image).prove()
                gate.wait()
                return str(loop.path)

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(attach, range(6)))) == 6


def test_a_device_that_somebody_still_has_open_is_waited_for(tmp_path: Path) -> None:
    """udev does that: the kernel detaches when the last one closes."""
    with unlinked_image(tmp_path, 64 * MIB) as image:
        with attached_loop(image, tmp_path) as loop:
            other = subprocess.Popen(["sleep", "0.3"], stdin=loop.path.open("rb"))
            name = loop.path.name
        assert other.poll() is not None or not Path("/sys/block", name, "loop/backing_file").exists()
        other.wait()


def test_on_a_disk_of_large_sectors_the_device_has_them_too(tmp_path: Path) -> None:
    """Direct I/O to an image needs blocks no smaller than those of the disk below (drivers/block/loop.c)."""
    with (
        _carrier(tmp_path, "mkfs.ext4", "--sector-size", "4096") as folder,
        target_of(f"loop:64M@{folder}").hold((), 64 * MIB, tmp_path) as held,
        held.attach() as attached,
    ):
        assert attached.facts.logical_block_bytes == 4096
        assert attached.facts.direct_io
        attached.writable.prove()


def test_below_an_image_on_btrfs_the_disk_is_known(tmp_path: Path) -> None:
    """Its files show a device number that stands for no device."""
    with _carrier(tmp_path, "mkfs.btrfs") as folder:
        source = subprocess.run(["findmnt", "-no", "SOURCE", folder], capture_output=True, text=True, check=True)
        with target_of(f"loop:64M@{folder}").hold((), 64 * MIB, tmp_path) as held, held.attach() as attached:
            assert attached.facts.backing == f"btrfs on {source.stdout.strip()}"
            assert attached.below is not None
            assert attached.below.parent.name == Path(source.stdout.strip()).name
            attached.writable.prove()


@contextmanager
def _carrier(tmp_path: Path, mkfs: str, *options: str) -> Iterator[Path]:
    """A folder on a filesystem of its own, on a loop device of its own."""
    folder, image = tmp_path / "carrier", tmp_path / "below"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(300 * MIB)
    argv = ["losetup", "--find", "--show", *options, str(image)]
    device = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    try:
        subprocess.run([mkfs, "-q", device], check=True, capture_output=True)
        subprocess.run(["mount", device, folder], check=True)
        yield folder
    finally:
        subprocess.run(["umount", folder], check=False)
        subprocess.run(["losetup", "--detach", device], check=True)


def test_an_image_in_memory_is_said_to_be_there(tmp_path: Path) -> None:
    kernel.mount("small", tmp_path, "tmpfs", ("size=2g",))
    try:
        (note,) = target_of(f"loop:64M@{tmp_path}").examine((), 64 * MIB)
        assert "in memory (tmpfs)" in note.text
    finally:
        kernel.umount(tmp_path)


def test_refused_direct_io_is_noticed_and_stated(tmp_path: Path) -> None:
    """An image in a folder encrypted or on a filesystem without O_DIRECT: here a loop told not to."""
    with target_of(f"loop:64M@{tmp_path}").hold((), 64 * MIB, tmp_path) as held, held.attach() as attached:
        name = attached.writable.path.name
        granted = Path("/sys/block", name, "loop/dio").read_text().strip() == "1"
        assert attached.facts.direct_io is granted
        assert granted or any("direct I/O" in note.text for note in attached.notes)


def test_each_trial_gets_a_fresh_image(tmp_path: Path) -> None:
    with target_of(f"loop:64M@{tmp_path}").hold((), 64 * MIB, tmp_path) as held:
        with held.attach() as first:
            first.writable.path.write_bytes(b"x" * MIB)
            os.sync()
            assert first.image is not None
            assert os.fstat(first.image).st_blocks * 512 >= MIB
        with held.attach() as second:
            assert second.image is not None
            assert os.fstat(second.image).st_blocks == 0


def test_ram_lies_in_a_tmpfs_of_its_own_that_goes_with_the_block(tmp_path: Path) -> None:
    before = _losetup()
    with target_of("ram:64M").hold((), 64 * MIB, tmp_path) as held, held.attach() as attached:
        assert "tmpfs" in attached.facts.backing
        attached.writable.path.write_bytes(b"x" * (64 * MIB))
    assert _losetup() == before
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_room_for_the_image_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    kernel.mount("small", small, "tmpfs", ("size=8m",))
    try:
        with pytest.raises(MachineError, match=r"free"):
            target_of(f"loop:64M@{small}").examine((), 64 * MIB)
        assert list(small.iterdir()) == []
    finally:
        kernel.umount(small)


def test_more_memory_than_half_of_what_is_there_is_refused() -> None:
    with pytest.raises(MachineError, match="memory"):
        target_of("ram:64T").examine((), 64 << 40)


@pytest.mark.parametrize("word", ["loop:", "loop", "loop:2G", "loop:2G@/tmp", "ram:1G"])
def test_targets_without_root_say_what_works(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingRequirement) as caught:
        target_of(word).examine((), 64 * MIB)
    assert "dir:" in caught.value.hint


@pytest.mark.parametrize("word", ["loop:two", "loop:2G@", "ram:x", "dir:", "dir:/no/such/folder", "lop:2G", "usb:1"])
def test_a_target_that_makes_no_sense_is_a_usage_error(word: str) -> None:
    with pytest.raises(UsageError):
        target_of(word)


def test_a_private_folder_is_removed_with_everything_in_it_and_nothing_else(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("keep")
    with claim_folder(tmp_path) as folder:
        folder.prove()
        (folder.path / "a/b/c").mkdir(parents=True)
        (folder.path / "a/b/file").write_text("x")
        (folder.path / "link").symlink_to(outside, target_is_directory=True)
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "precious").read_text() == "keep"


def test_removal_never_crosses_a_mount(tmp_path: Path) -> None:
    claim = claim_folder(tmp_path)
    inner = claim.__enter__().path / "mounted"
    inner.mkdir()
    kernel.mount("inner", inner, "tmpfs")
    (inner / "precious").write_text("keep")
    try:
        with pytest.raises(Refused, match="another filesystem"):
            claim.__exit__(None, None, None)
        assert (inner / "precious").read_text() == "keep"
    finally:
        kernel.umount(inner)


def test_the_folder_of_a_killed_run_is_removed_by_the_next(tmp_path: Path) -> None:
    code = (
        "import time\nfrom pathlib import Path\nfrom fstrial.devices.claim import claim_folder\n"
        f"with claim_folder(Path({str(tmp_path)!r})) as f:\n"
        "    (f.path / 'x').write_text('x'); print('ready', flush=True); time.sleep(60)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    owner.stdout.readline()
    (left,) = tmp_path.iterdir()
    with claim_folder(tmp_path) as second:
        assert left.exists(), "its owner lives: it is not touched"
        assert second.path.exists()
    owner.kill()
    owner.wait()
    (tmp_path / "fstrial-by-hand").mkdir()
    with claim_folder(tmp_path):
        assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["fstrial-by-hand"], "no marker: not ours"


def test_what_somebody_mounted_in_the_folder_of_a_killed_run_stops_nobody(tmp_path: Path) -> None:
    orphan = tmp_path / "fstrial-0123456789abcdef"
    (orphan / "work/mounted").mkdir(parents=True)
    (orphan / ".fstrial-owns-this").touch()
    kernel.mount("inner", orphan / "work/mounted", "tmpfs")
    (orphan / "work/mounted/precious").write_text("keep")
    try:
        with claim_folder(tmp_path):
            pass
        assert (orphan / "work/mounted/precious").read_text() == "keep"
    finally:
        kernel.umount(orphan / "work/mounted")


def test_a_folder_of_another_user_is_not_taken_for_a_killed_runs(tmp_path: Path) -> None:
    orphan = tmp_path / "fstrial-0123456789abcdef"
    orphan.mkdir()
    (orphan / ".fstrial-owns-this").touch()
    os.chown(orphan, 65534, 65534)
    with claim_folder(tmp_path):
        assert orphan.exists()


def test_folders_that_their_owner_may_not_write_or_read_are_removed_too(tmp_path: Path) -> None:
    """A copied source tree may hold them; root would not notice."""
    with tempfile.TemporaryDirectory() as parent:
        os.chown(parent, 65534, 65534)
        child = os.fork()
        if child == 0:
            try:
                os.setresuid(65534, 65534, 65534)
                with claim_folder(Path(parent)) as folder:
                    (folder.path / "closed/inner").mkdir(parents=True)
                    (folder.path / "closed/inner/file").write_text("x")
                    (folder.path / "closed/inner").chmod(0o000)
                    (folder.path / "closed").chmod(0o555)
                os._exit(len(list(Path(parent).iterdir())))
            finally:
                os._exit(99)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_floor_of_a_folder_is_kept_before_every_trial(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    kernel.mount("small", small, "tmpfs", ("size=64m",))
    try:
        target = target_of(f"dir:{small}")
        target.examine((), 32 * MIB)
        with target.hold((), 32 * MIB, tmp_path) as held:
            with held.attach() as attached:
                assert attached.facts.size_bytes == 64 * MIB
                assert attached.facts.backing == "tmpfs"
            (small / "somebody-elses").write_bytes(bytes(30 * MIB))
            with pytest.raises(MachineError, match=r"3.2 MiB stay free"), held.attach():
                pass
        assert [path.name for path in small.iterdir()] == ["somebody-elses"]
    finally:
        kernel.umount(small)


def test_a_private_folder_that_was_replaced_is_refused(tmp_path: Path) -> None:
    with claim_folder(tmp_path) as folder:
        outer = folder.path.parent
        outer.rename(tmp_path / "moved")
        outer.mkdir()
        with pytest.raises(Refused, match="not the folder"):
            folder.prove()
        outer.rmdir()
        (tmp_path / "moved").rename(outer)
