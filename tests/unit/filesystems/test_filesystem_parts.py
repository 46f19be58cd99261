"""Each filesystem keeps the contract; what exit statuses mean is what the man pages say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fstrial.filesystems import contract
from fstrial.filesystems.contract import Filesystem, Health, Limits, Replay, filesystems, kernel_has

DEVICE = "/dev/loop7"
SOURCE = Path(contract.__file__).parent


@pytest.fixture(params=filesystems.names())
def filesystem(request: pytest.FixtureRequest) -> Filesystem:
    return filesystems.load(request.param)()


def test_the_file_is_named_after_the_filesystem(filesystem: Filesystem) -> None:
    assert Path(type(filesystem).__module__.replace(".", "/")).name == filesystem.name.replace("-", "_")


def test_a_filesystem_is_a_small_file(filesystem: Filesystem) -> None:
    file = SOURCE / f"{filesystem.name.replace('-', '_')}.py"
    assert len(file.read_text().splitlines()) <= 150


def test_no_other_file_lists_the_names() -> None:
    names = set(filesystems.names())
    assert names >= {"btrfs", "ext2", "ext3", "ext4", "ntfs-3g", "xfs"}
    several = {
        file.name
        for file in SOURCE.parent.rglob("*.py")
        if len([name for name in names if f'"{name}"' in file.read_text()]) > 1
    }
    assert several == set()


def test_every_method_of_the_contract_answers(filesystem: Filesystem) -> None:
    for argv in (
        filesystem.make(DEVICE, ("-L", "trial")),
        filesystem.check(DEVICE),
        filesystem.repair(DEVICE),
        filesystem.new_uuid(DEVICE),
    ):
        assert argv[0] in filesystem.programs
        assert argv[-1] == DEVICE
        assert all(isinstance(word, str) and word for word in argv)
    shown = filesystem.mount_command(DEVICE, Path("/mnt/x"), ("noatime", "nodiratime"))
    assert shown[-2:] == (DEVICE, "/mnt/x")
    assert "noatime,nodiratime" in shown
    assert isinstance(filesystem.unsupported_here(), tuple)
    assert filesystem.package
    assert filesystem.discard
    assert filesystem.minimum_bytes > 0
    assert filesystem.settle_s >= 0
    assert isinstance(filesystem.limits, Limits)
    assert isinstance(filesystem.replay, Replay)


def test_the_maker_is_the_first_program_and_the_users_options_come_last(filesystem: Filesystem) -> None:
    argv = filesystem.make(DEVICE, ("-L", "trial"))
    assert argv[0] == filesystem.programs[0]
    assert argv[-3:] == ("-L", "trial", DEVICE)


def test_every_exit_status_has_a_meaning_and_only_zero_is_clean(filesystem: Filesystem) -> None:
    for means in (filesystem.check_means, filesystem.repair_means):
        for status in range(-64, 256):
            meaning = means(status)
            assert meaning.health is not Health.CLEAN or status == 0
            assert meaning.reason or meaning.health is Health.CLEAN
            assert meaning.health is Health.UNKNOWN or status >= 0
    assert filesystem.check_means(0).health is Health.CLEAN


@pytest.mark.parametrize("name", ["ext2", "ext3", "ext4"])
@pytest.mark.parametrize(
    ("status", "health"),
    [
        (0, Health.CLEAN),
        (1, Health.REPAIRED),
        (2, Health.REPAIRED),
        (3, Health.REPAIRED),
        (4, Health.DAMAGED),
        (5, Health.DAMAGED),
        (12, Health.DAMAGED),
        (8, Health.UNKNOWN),
        (9, Health.UNKNOWN),
        (16, Health.UNKNOWN),
        (32, Health.UNKNOWN),
        (64, Health.UNKNOWN),
        (128, Health.UNKNOWN),
    ],
)
def test_the_status_of_e2fsck_is_a_sum(name: str, status: int, health: Health) -> None:
    filesystem = filesystems.load(name)()
    assert filesystem.check_means(status).health is health
    assert filesystem.repair_means(status).health is health


@pytest.mark.parametrize("status", [0, 4])
def test_what_e2fsck_says_counts_beside_its_status(status: int) -> None:
    ext4 = filesystems.load("ext4")()
    skipped = "Warning: skipping journal recovery because doing a read-only filesystem check."
    assert ext4.check_means(status, skipped).health is Health.UNKNOWN
    lost = "ext2fs_open2: Bad magic number in super-block\ne2fsck: Superblock invalid, trying backup blocks..."
    assert ext4.check_means(status, lost).health is Health.DAMAGED


@pytest.mark.parametrize("status", [0, 1])
def test_an_unreplayed_log_leaves_xfs_unknown(status: int) -> None:
    xfs = filesystems.load("xfs")()
    said = "ALERT: The filesystem has valuable metadata changes in a log which is being\nignored because the -n option"
    assert xfs.check_means(status, said).health is Health.UNKNOWN


def test_the_status_of_xfs_repair() -> None:
    xfs = filesystems.load("xfs")()
    assert [xfs.check_means(status).health for status in (0, 1)] == [Health.CLEAN, Health.DAMAGED]
    assert [xfs.repair_means(status).health for status in (0, 1, 2, 4)] == [
        Health.CLEAN, Health.UNKNOWN, Health.UNKNOWN, Health.REPAIRED,
    ]  # fmt: skip


@pytest.mark.parametrize("options", [("-E", "stride=16", "-m", "0"), ("-Estride=16", "-m", "0")])
def test_extended_options_of_the_user_do_not_undo_ours(options: tuple[str, ...]) -> None:
    argv = filesystems.load("ext4")().make(DEVICE, options)
    assert argv == (
        "mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0,stride=16", "-m", "0", DEVICE,
    )  # fmt: skip


def test_a_filesystem_this_machine_lacks_says_what_is_missing() -> None:
    class Unheard(type(filesystems.load("xfs")())):  # type: ignore[misc]
        kernel_type = "unheardfs"
        programs = ("mkfs.unheard", "cp")
        package = "unheard-tools"

    assert Unheard().unsupported_here() == (
        "not installed: mkfs.unheard (package unheard-tools)",
        "this kernel has no unheardfs and no module for it",
    )


def test_a_filesystem_is_here_when_the_kernel_has_it_or_would_load_it(tmp_path: Path) -> None:
    modules = tmp_path / "lib/modules" / os.uname().release
    modules.mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/filesystems").write_text("nodev\tsysfs\n\text4\n")
    assert [kernel_has(kind, tmp_path) for kind in ("ext4", "ext3", "ext")] == [True, False, False]
    (modules / "modules.alias").write_text("# Aliases\nalias fs-ext3 ext4\nalias fs-ext2 ext4\n")
    assert [kernel_has(kind, tmp_path) for kind in ("ext4", "ext3", "ext")] == [True, True, False]
