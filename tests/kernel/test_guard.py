"""The guard against real devices: loop devices of our own stand in for disks that somebody cares about."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fstrial.base import kernel
from fstrial.base.errors import FstrialError, MissingRequirement, Refused, UsageError
from fstrial.devices.claim import claim_device, inspect_device, superblock_uuid

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("need_root")]

MIB = 1 << 20


def _run(*argv: str, stdin: str = "") -> str:
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@contextlib.contextmanager
def loop(folder: Path, size: int = 64 * MIB, *options: str, name: str = "image") -> Iterator[str]:
    """A loop device by its path, as a stand-in for a disk."""
    image = folder / name
    with image.open("ab") as file:
        file.truncate(size)
    device = _run("losetup", "--find", "--show", *options, str(image))
    try:
        yield device
    finally:
        _run("losetup", "--detach", device)
        limit = time.monotonic() + 10
        while Path("/sys/block", device[5:], "loop/backing_file").exists() and time.monotonic() < limit:
            time.sleep(0.01)


def diskseq(device: str) -> str:
    return "diskseq:" + Path("/sys/block", device[5:], "diskseq").read_text().strip()


def refusal(device: str, *erase: str) -> FstrialError:
    """The refusal of a device whose owner even gives it up by its sequence number."""
    with pytest.raises(FstrialError) as caught:
        inspect_device(device, (diskseq(device), *erase))
    return caught.value


@contextlib.contextmanager
def mounted(device: str, folder: Path) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    kernel.mount(device, folder, "ext4")
    try:
        yield
    finally:
        kernel.umount(folder)


def _partitioned(device: str) -> str:
    _run("sfdisk", "--quiet", device, stdin="label: gpt\n,20M\n,20M\n")
    _run("partx", "--update", device)
    return device + "p1"


def test_a_blank_device_is_given_up_by_the_word_that_the_refusal_names(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        with pytest.raises(Refused) as caught:
            inspect_device(device, ())
        word = re.search(r"--erase (\S+)", caught.value.hint)
        assert word is not None
        with claim_device(device, (word[1],)) as claimed:
            claimed.prove()
            assert str(claimed.path) == device


def test_a_wrong_identity_refuses_and_says_what_the_device_is(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        _run("mkfs.ext4", "-q", "-F", "-L", "precious", device)
        with pytest.raises(Refused) as caught:
            inspect_device(device, ("WRONG-SERIAL",))
        assert "WRONG-SERIAL" in caught.value.message
        assert "precious" in caught.value.message
        assert "64 MiB" in caught.value.message


def test_a_plain_filesystem_is_given_up_by_its_uuid(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        _run("mkfs.ext4", "-q", "-F", device)
        uuid = superblock_uuid(Path(device))
        assert uuid == _run("blkid", "-p", "-s", "UUID", "-o", "value", device)
        with claim_device(device, (uuid,)) as claimed:
            claimed.prove()


def test_a_mounted_device_is_refused_and_the_mount_point_named(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        _run("mkfs.ext4", "-q", "-F", device)
        with mounted(device, tmp_path / "here"):
            said = refusal(device)
    assert isinstance(said, Refused)
    assert "mounted" in said.message
    assert str(tmp_path / "here") in said.message


@pytest.mark.parametrize("name", [b"sp ace", b"new\nline", b"back\\slash", b"no-utf8-\xff"])
def test_a_mount_on_a_folder_with_an_odd_name_is_seen(tmp_path: Path, name: bytes) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    with loop(tmp_path) as device:
        _run("mkfs.ext4", "-q", "-F", device)
        with mounted(device, folder):
            said = refusal(device)
    assert "it is mounted" in said.message
    (remedy,) = [line for line in said.hint.splitlines() if line.startswith("umount")]
    shell = subprocess.run(["bash", "-c", remedy.replace("umount", "printf %s", 1)], capture_output=True, check=True)
    assert shell.stdout == os.fsencode(folder), "the remedy can be pasted, and the message encoded"


def test_a_mount_in_another_namespace_is_seen(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with loop(tmp_path) as device:
        _run("mkfs.ext4", "-q", "-F", device)
        script = f"mount {device} {tmp_path}/there && echo ready && exec sleep 30"
        other = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script], stdout=subprocess.PIPE
        )
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"ready\n"
            assert not (tmp_path / "there").is_mount()
            said = refusal(device)
            assert f"in the mount namespace of process {other.pid}" in said.message
            assert f"nsenter --target {other.pid} --mount umount {tmp_path}/there" in said.hint
        finally:
            other.kill()
            other.wait()


def test_a_mounted_partition_refuses_the_whole_disk(tmp_path: Path) -> None:
    with loop(tmp_path, 64 * MIB, "--partscan") as device:
        part = _partitioned(device)
        _run("mkfs.ext4", "-q", "-F", part)
        with mounted(part, tmp_path / "here"):
            said = refusal(device)
    assert "mounted" in said.message
    assert part[5:] in said.message


def test_a_whole_device_with_a_partition_table_is_refused(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        _run("sfdisk", "--quiet", device, stdin="label: dos\n,20M\n")
        assert "dos partition table" in refusal(device).message


def test_a_partition_is_given_up_by_its_own_identity_not_by_its_disks(tmp_path: Path) -> None:
    with loop(tmp_path, 64 * MIB, "--partscan") as device:
        part = _partitioned(device)
        with pytest.raises(Refused) as caught:
            inspect_device(part, (diskseq(device),))
        own = _run("blkid", "-p", "-s", "PART_ENTRY_UUID", "-o", "value", part)
        assert f"--erase {own}" in caught.value.hint
        with claim_device(part, (own,)) as claimed:
            claimed.prove()


def test_a_partition_of_a_disk_that_backs_a_loop_device_is_refused(tmp_path: Path) -> None:
    """The loop device shows the partition's content too, and nothing holds anything exclusively."""
    with loop(tmp_path, 64 * MIB, "--partscan") as device:
        part = _partitioned(device)
        upper = _run("losetup", "--find", "--show", device)
        try:
            with pytest.raises(Refused, match=f"backs a loop device .{device[5:]} > {upper[5:]}"):
                inspect_device(part, ())
        finally:
            _run("losetup", "--detach", upper)


def test_a_partition_that_backs_a_loop_device_refuses_the_whole_disk(tmp_path: Path) -> None:
    with loop(tmp_path, 64 * MIB, "--partscan") as device:
        part = _partitioned(device)
        upper = _run("losetup", "--find", "--show", part)
        try:
            _run("mkfs.ext4", "-q", "-F", upper)
            with mounted(upper, tmp_path / "here"):
                said = refusal(device)
            assert f"{device[5:]} > {part[5:]} > {upper[5:]} on {tmp_path}/here" in said.message
        finally:
            _run("losetup", "--detach", upper)


def test_a_partition_that_holds_a_partition_table_is_refused(tmp_path: Path) -> None:
    """The disk of a virtual machine, say."""
    with loop(tmp_path, 64 * MIB, "--partscan") as device:
        part = _partitioned(device)
        _run("sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", part, stdin="label: gpt\n,4M\n")
        with pytest.raises(Refused, match="gpt partition table"):
            inspect_device(part, ())


def test_swap_on_a_partition_refuses_the_whole_disk(tmp_path: Path) -> None:
    with loop(tmp_path, 64 * MIB, "--partscan") as device:
        part = _partitioned(device)
        _run("mkswap", part)
        _run("swapon", part)
        try:
            assert f"{part[5:]} in /proc/swaps" in refusal(device).message
        finally:
            _run("swapoff", part)


def test_swap_is_refused(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        _run("mkswap", device)
        assert "swap" in refusal(device).message, "a swap signature alone is no plain filesystem"
        _run("swapon", device)
        try:
            assert "it is swap" in refusal(device).message
        finally:
            _run("swapoff", device)


def test_a_device_below_a_loop_device_is_refused(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        upper = _run("losetup", "--find", "--show", device)
        try:
            said = refusal(device)
            assert f"{device[5:]} > {upper[5:]}" in said.message
            assert f"losetup --detach {upper}" in said.hint
        finally:
            _run("losetup", "--detach", upper)


def test_a_device_that_something_has_open_exclusively_is_refused(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        held = os.open(device, os.O_RDONLY | os.O_EXCL)
        try:
            assert "exclusively" in refusal(device).message
        finally:
            os.close(held)


def test_a_read_only_device_is_refused(tmp_path: Path) -> None:
    with loop(tmp_path, 64 * MIB, "--read-only") as device:
        assert "read-only" in refusal(device).message


def test_a_locked_device_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fstrial.devices.claim._BUSY_DEADLINE_S", 0.1)
    with loop(tmp_path) as device:
        held = os.open(device, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            with pytest.raises(Refused, match="locked"), claim_device(device, (diskseq(device),)):
                pass
        finally:
            os.close(held)


def _write_at(device: str, offset: int, content: bytes) -> None:
    with Path(device).open("r+b") as file:
        file.seek(offset)
        file.write(content)


def test_a_luks_container_is_refused_though_its_uuid_is_typed(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        header = bytearray(592)
        header[0:8] = b"LUKS\xba\xbe\x00\x01"
        header[168:204] = b"11111111-2222-3333-4444-555555555555"
        _write_at(device, 0, bytes(header))
        assert _run("blkid", "-p", "-s", "TYPE", "-o", "value", device) == "crypto_LUKS"
        said = refusal(device, "11111111-2222-3333-4444-555555555555")
    assert "crypto_LUKS" in said.message


def test_an_md_member_is_refused(tmp_path: Path) -> None:
    """A version 1.2 superblock (drivers/md/md.c, struct mdp_superblock_1): magic and offset at 4 KiB."""
    with loop(tmp_path) as device:
        block = bytearray(256)
        block[0:8] = (0xA92B4EFC).to_bytes(4, "little") + (1).to_bytes(4, "little")
        block[128 + 16 : 128 + 24] = (8).to_bytes(8, "little")
        _write_at(device, 4096, bytes(block))
        assert _run("blkid", "-p", "-s", "TYPE", "-o", "value", device) == "linux_raid_member"
        assert "linux_raid_member" in refusal(device).message


def test_a_zfs_member_is_refused(tmp_path: Path) -> None:
    """Uberblocks in each of the four labels (OpenZFS, vdev_impl.h); libblkid calls it a filesystem, the guard not."""
    with loop(tmp_path) as device:
        for label in (0, 256 * 1024, 64 * MIB - 512 * 1024, 64 * MIB - 256 * 1024):
            for index in range(128):
                _write_at(device, label + 128 * 1024 + index * 1024, (0x00BAB10C).to_bytes(8, "little"))
        assert "zfs_member" in refusal(device).message


def test_an_lvm_member_is_refused(tmp_path: Path) -> None:
    """A physical volume label in the second sector, its CRC as LVM computes it (lvm2, lib/misc/crc.c)."""
    with loop(tmp_path) as device:
        label = bytearray(512)
        label[0:8] = b"LABELONE"
        label[8:16] = (1).to_bytes(8, "little")
        label[20:24] = (32).to_bytes(4, "little")
        label[24:32] = b"LVM2 001"
        label[32:64] = b"abcdefABCDEFabcdefABCDEFabcdef12"
        label[16:20] = _lvm_crc(bytes(label[20:])).to_bytes(4, "little")
        _write_at(device, 512, bytes(label))
        assert "LVM2_member" in refusal(device).message


def _lvm_crc(content: bytes) -> int:
    crc = 0xF597A6CF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
    return crc


def test_several_signatures_at_once_are_refused_though_one_uuid_is_typed(tmp_path: Path) -> None:
    with loop(tmp_path, 200 * MIB) as device:
        _run("mkfs.btrfs", "-q", "-f", device)
        _run("mkfs.ntfs", "-q", "-Q", "-F", device)
        uuid = _run("wipefs", "--no-act", "--noheadings", "--output", "UUID", "--types", "btrfs", device).split()[0]
        said = refusal(device, uuid)
        with pytest.raises(Refused, match="contradict"):
            superblock_uuid(Path(device))
    assert "several signatures" in said.message
    assert "ntfs" in said.message
    assert "btrfs" in said.message


def test_ntfs_is_a_filesystem_not_a_partition_table(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        _run("mkfs.ntfs", "-q", "-Q", "-F", device)
        inspect_device(device, (diskseq(device),))


def test_a_link_is_followed_and_the_device_behind_it_named(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        link = tmp_path / "by-name"
        link.symlink_to(device)
        with pytest.raises(Refused) as caught:
            inspect_device(str(link), ())
        assert f"{link} ({device})" in caught.value.message


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(Refused, match="could not be examined"):
        inspect_device(str(tmp_path / "one"), ())


@pytest.mark.parametrize("what", ["missing", "file", "folder", "character device"])
def test_what_is_no_block_device_is_a_usage_error(tmp_path: Path, what: str) -> None:
    (tmp_path / "file").write_text("x")
    paths = {
        "missing": tmp_path / "no",
        "file": tmp_path / "file",
        "folder": tmp_path,
        "character device": Path("/dev/null"),
    }
    with pytest.raises(UsageError):
        inspect_device(str(paths[what]), ())


def test_the_root_filesystems_device_is_refused() -> None:
    number = Path("/").stat().st_dev
    folder = Path("/sys/dev/block", f"{os.major(number)}:{os.minor(number)}")
    if not folder.exists():
        pytest.skip("the root filesystem is on no single block device here")
    with pytest.raises(Refused) as caught:
        inspect_device(f"/dev/{folder.resolve().name}", ("anything",))
    assert "root filesystem" in caught.value.message


def test_a_claimed_device_that_changes_is_not_written_to(tmp_path: Path) -> None:
    with loop(tmp_path) as device:
        _run("mkfs.ext4", "-q", "-F", device)
        with claim_device(device, (diskseq(device),)) as claimed:
            claimed.prove()
            _run("tune2fs", "-U", "random", device)
            with pytest.raises(Refused, match="another filesystem"):
                claimed.prove()


def test_a_claimed_device_whose_size_changes_is_not_written_to(tmp_path: Path) -> None:
    with loop(tmp_path) as device, claim_device(device, (diskseq(device),)) as claimed:
        with (tmp_path / "image").open("ab") as image:
            image.truncate(128 * MIB)
        _run("losetup", "--set-capacity", device)
        with pytest.raises(Refused, match="not the device that was claimed"):
            claimed.prove()


def test_a_claimed_device_cannot_be_exchanged_behind_our_back(tmp_path: Path) -> None:
    """The claim keeps it open, so that the kernel only marks it for detaching."""
    with loop(tmp_path) as device:
        with claim_device(device, (diskseq(device),)) as claimed:
            subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)
            claimed.prove()
        _run("losetup", device, str(tmp_path / "image"))


def test_a_name_that_leads_to_another_device_by_now_is_not_written_to(tmp_path: Path) -> None:
    node = tmp_path / "node"
    with loop(tmp_path) as first, loop(tmp_path, name="second") as second:
        os.mknod(node, 0o600 | stat.S_IFBLK, Path(first).stat().st_rdev)
        with claim_device(str(node), (diskseq(first),)) as claimed:
            claimed.prove()
            node.unlink()
            os.mknod(node, 0o600 | stat.S_IFBLK, Path(second).stat().st_rdev)
            with pytest.raises(Refused, match="another device number"):
                claimed.prove()


def test_an_emptied_device_carries_nothing_of_what_was_on_it(tmp_path: Path) -> None:
    with loop(tmp_path, 200 * MIB) as device:
        _run("mkfs.btrfs", "-q", "-f", device)
        with claim_device(device, (superblock_uuid(Path(device)),)) as claimed:
            assert claimed.empty() == "", "a loop device discards by punching holes"
            claimed.prove()
        assert (tmp_path / "image").stat().st_blocks == 0
        assert _run("wipefs", "--no-act", device) == ""


def test_a_device_that_cannot_discard_says_so_and_is_wiped_of_signatures(tmp_path: Path) -> None:
    """Over a file on ramfs, which punches no holes. mkfs.ntfs alone would leave the superblock of Btrfs."""
    kernel.mount("memory", tmp_path, "ramfs")
    try:
        with loop(tmp_path, 200 * MIB) as device:
            _run("mkfs.btrfs", "-q", "-f", device)
            with claim_device(device, (superblock_uuid(Path(device)),)) as claimed:
                assert claimed.empty() == "it cannot discard"
                _run("mkfs.ntfs", "-q", "-Q", "-F", device)
                claimed.adopt_uuid(superblock_uuid(claimed.path))
                claimed.prove()
            assert "btrfs" not in _run("wipefs", "--no-act", device)
    finally:
        kernel.umount(tmp_path)


def test_one_device_of_a_btrfs_over_several_is_refused_though_its_uuid_is_typed(tmp_path: Path) -> None:
    with loop(tmp_path, 200 * MIB) as first, loop(tmp_path, 200 * MIB, name="second") as second:
        _run("mkfs.btrfs", "-q", "-f", first, second)
        for device in (first, second):
            assert "2 devices" in refusal(device, superblock_uuid(Path(device))).message


def test_a_claimed_device_that_gets_mounted_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fstrial.devices.claim._BUSY_DEADLINE_S", 0.2)
    with loop(tmp_path) as device:
        _run("mkfs.ext4", "-q", "-F", device)
        with (
            claim_device(device, (diskseq(device),)) as claimed,
            mounted(device, tmp_path / "here"),
            pytest.raises(Refused, match="in use"),
        ):
            claimed.prove()


def test_mkfs_and_mount_work_while_the_claim_is_held(tmp_path: Path) -> None:
    with loop(tmp_path) as device, claim_device(device, (diskseq(device),)) as claimed:
        claimed.prove()
        _run("mkfs.ext4", "-q", "-F", device)
        claimed.adopt_uuid(superblock_uuid(claimed.path))
        claimed.prove()
        with mounted(device, tmp_path / "here"):
            pass
        claimed.prove()


def test_without_root_no_device_is_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with loop(tmp_path) as device, pytest.raises(MissingRequirement, match="root"):
        inspect_device(device, ())
