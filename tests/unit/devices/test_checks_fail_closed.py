"""What the guard cannot look at counts as in use, whatever the check; what is stacked is found however high."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fstrial.base.errors import Refused
from fstrial.devices import claim
from fstrial.devices._block import Block
from fstrial.devices._reasons import CHECKS, Reason, Suspect, built_upon, holds_root, mounted, read_only, swapped_on
from fstrial.devices._stack import How, down, stack

SOURCE = Path(__file__).parents[3] / "src" / "fstrial"


class Tree:
    """A sysfs and a procfs as the kernel lays them out, holding what this kernel cannot make."""

    def __init__(self, root: Path) -> None:
        self.sysfs, self.procfs = root / "sys", root / "proc"
        (self.procfs / "self/ns").mkdir(parents=True)
        (self.procfs / "self/ns/mnt").symlink_to("mnt:[1]")
        self.mount("")
        (self.procfs / "swaps").write_text("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")
        (self.sysfs / "dev/block").mkdir(parents=True)
        (self.sysfs / "block").mkdir()

    def device(self, path: str, number: str, partition: str = "") -> Path:
        folder = self.sysfs / "devices" / path
        for name in ("holders", "slaves"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, text in (("dev", number), ("size", "2048"), ("ro", "0")):
            (folder / name).write_text(text + "\n")
        if partition:
            (folder / "partition").write_text(partition + "\n")
        (self.sysfs / "dev/block" / number).symlink_to(folder)
        return folder

    def built(self, upper: Path, lower: Path) -> None:
        (lower / "holders" / upper.name).symlink_to(upper)
        (upper / "slaves" / lower.name).symlink_to(lower)

    def mount(self, *lines: str) -> None:
        (self.procfs / "self/mountinfo").write_text("".join(f"{line}\n" for line in lines if line))

    def suspect(self, number: str, node: str = "/dev/no-such-node") -> Suspect:
        return Suspect(Path(node), Block.at(self.sysfs / "dev/block" / number), self.sysfs, self.procfs)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Two partitions; on the first LUKS, on that an LVM with two volumes; an MD over the second and another disk."""
    found = Tree(tmp_path)
    found.device("pci/sdx", "8:16")
    first = found.device("pci/sdx/sdx1", "8:17", "1")
    second = found.device("pci/sdx/sdx2", "8:18", "2")
    other = found.device("pci/sdy", "8:32")
    luks = found.device("virtual/dm-0", "252:0")
    root, home = found.device("virtual/dm-1", "252:1"), found.device("virtual/dm-2", "252:2")
    mirror = found.device("virtual/md0", "9:0")
    for upper, lower in ((luks, first), (root, luks), (home, luks), (mirror, second), (mirror, other)):
        found.built(upper, lower)
    return found


def _chains(suspect: Suspect) -> set[str]:
    return {one.chain for one in suspect.stack.values()}


def test_the_stack_goes_all_the_way_up(tree: Tree) -> None:
    assert _chains(tree.suspect("8:16")) == {
        "sdx", "sdx > sdx1", "sdx > sdx2", "sdx > sdx1 > dm-0", "sdx > sdx1 > dm-0 > dm-1",
        "sdx > sdx1 > dm-0 > dm-2", "sdx > sdx2 > md0",
    }  # fmt: skip


def test_a_partitions_stack_holds_its_disk_and_not_its_sisters(tree: Tree) -> None:
    assert _chains(tree.suspect("8:17")) == {"sdx1", "sdx", "sdx1 > dm-0", "sdx1 > dm-0 > dm-1", "sdx1 > dm-0 > dm-2"}


def test_what_is_built_on_the_whole_disk_is_in_each_partitions_stack(tree: Tree) -> None:
    tree.built(tree.device("virtual/dm-9", "252:9"), tree.sysfs / "devices/pci/sdx")
    assert tree.suspect("8:18").stack["252:9"].how is How.HOLDER


def test_the_way_down_ends_at_the_disks(tree: Tree) -> None:
    block = Block.at(tree.sysfs / "dev/block/252:1")
    assert [one.name for one in down(block)] == ["dm-1", "dm-0", "sdx1", "sdx"]
    assert [one.name for one in down(Block.at(tree.sysfs / "dev/block/9:0"))] == ["md0", "sdx2", "sdx", "sdy"]


def test_holders_are_told_with_the_way_to_them(tree: Tree) -> None:
    assert [reason.evidence for reason in built_upon(tree.suspect("8:32"))] == ["sdy > md0"]


def test_a_mount_three_floors_up_refuses_the_disk(tree: Tree) -> None:
    tree.mount("36 35 252:2 / /home rw shared:1 - xfs /dev/mapper/vg-home rw")
    for number in ("8:16", "8:17", "252:0", "252:2"):
        (reason,) = mounted(tree.suspect(number))
        assert "dm-2 on /home (xfs)" in reason.evidence
        assert reason.remedy == "umount /home"
    assert not list(mounted(tree.suspect("8:32")))


def test_a_mount_elsewhere_is_told_with_its_process(tree: Tree) -> None:
    task = tree.procfs / "4711/task/4711"
    (task / "ns").mkdir(parents=True)
    (task / "ns/mnt").symlink_to("mnt:[2]")
    (task / "mountinfo").write_bytes(b"36 35 8:18 / /in\\040side rw - ext4 /dev/sdx2 rw\n")
    (reason,) = mounted(tree.suspect("8:16"))
    assert reason.evidence == "sdx > sdx2 on '/in side' (ext4) in the mount namespace of process 4711"
    assert reason.remedy == "nsenter --target 4711 --mount umount '/in side'"


def test_a_mount_that_shows_a_number_of_its_own_is_seen_by_its_source(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Btrfs: recorded from a machine where it is the root, `0:25` in the table."""
    tree.mount("29 1 0:25 /@ / rw,relatime shared:1 - btrfs /dev/sdx2 rw,space_cache=v2,subvol=/@")
    monkeypatch.setattr("fstrial.devices._reasons.number_at", {"/dev/sdx2": "8:18"}.get)
    (reason,) = mounted(tree.suspect("8:16"))
    assert "sdx2 on / (btrfs)" in reason.evidence
    roots = list(holds_root(tree.suspect("8:16")))
    assert [reason.why for reason in roots] == ["it holds the root filesystem"]


def test_swap_on_a_logical_volume_refuses_the_disk(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree.procfs / "swaps").write_text("Filename Type Size Used Priority\n/dev/dm-2 partition 1 0 -2\n")
    monkeypatch.setattr("fstrial.devices._reasons.number_at", {"/dev/dm-2": "252:2"}.get)
    (reason,) = swapped_on(tree.suspect("8:16"))
    assert reason.evidence == "sdx > sdx1 > dm-0 > dm-2 in /proc/swaps"


def test_a_disk_that_sysfs_calls_read_only_is_refused(tree: Tree) -> None:
    (tree.sysfs / "devices/pci/sdy/ro").write_text("1\n")
    assert [reason.why for reason in read_only(tree.suspect("8:32"))] == ["it is read-only"]


@pytest.mark.parametrize("lost", ["sdx1/holders", "sdx/size", "sdx2/dev"])
def test_a_tree_that_cannot_be_read_is_no_empty_tree(tree: Tree, lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree.sysfs / "devices/pci" / lost.replace("sdx1", "sdx/sdx1").replace("sdx2", "sdx/sdx2")
    path.rename(path.with_name("lost"))
    suspect = tree.suspect("8:16")
    monkeypatch.setattr(claim, "_suspect", lambda word: suspect)
    with pytest.raises(Refused, match="could not be examined"):
        claim.inspect_device("/dev/sdx", ("diskseq:1",))


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), ValueError("no JSON"), IndexError("short")]
)
def test_a_check_that_cannot_look_refuses(tree: Tree, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def blind(suspect: Suspect) -> Iterator[Reason]:
        raise error

    suspect = tree.suspect("8:32")
    monkeypatch.setattr(claim, "CHECKS", (blind,))
    monkeypatch.setattr(claim, "_suspect", lambda word: suspect)
    with pytest.raises(Refused, match="could not be examined"):
        claim.inspect_device("/dev/sdy", ("diskseq:1",))


def test_every_check_is_named_for_people() -> None:
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)


def test_a_loop_over_nothing_is_in_no_stack(tree: Tree) -> None:
    (tree.sysfs / "block/loop0").mkdir()
    assert set(stack(Block.at(tree.sysfs / "dev/block/8:32"), tree.sysfs)) == {"8:32", "9:0"}


def test_nothing_but_the_guard_makes_something_writable() -> None:
    """Classes that hold a device or folder open for writing are built in one file."""
    makers = ("ClaimedDevice(", "OwnLoop(", "PrivateFolder.inside(", "PrivateFolder(")
    users = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if any(
            f"{maker}" in line and not line.lstrip().startswith("class")
            for maker in makers
            for line in file.read_text().splitlines()
        )
    }
    assert users == {"devices/claim.py"}


def test_the_serial_of_a_scsi_disk_is_read_from_its_data_page(tree: Tree) -> None:
    """SPC-4, 7.8.15: page code 0x80 in the second byte, its length in the next two, then the serial, blanks before."""
    folder = tree.sysfs / "devices/pci/sdx/device"
    folder.mkdir()
    (folder / "vpd_pg80").write_bytes(b"\x00\x80\x00\x10" + b"  S21PNXAG1234  ")
    assert tree.suspect("8:16").block.serial == "S21PNXAG1234"
    assert tree.suspect("8:17").block.serial == "S21PNXAG1234"


def test_blanks_in_a_serial_are_made_single(tree: Tree) -> None:
    folder = tree.sysfs / "devices/pci/sdx/device"
    folder.mkdir()
    (folder / "wwid").write_text("t10.ATA     Samsung SSD 850 EVO 250GB               S21PNXAG\n")
    assert tree.suspect("8:16").block.serial == "t10.ATA Samsung SSD 850 EVO 250GB S21PNXAG"
