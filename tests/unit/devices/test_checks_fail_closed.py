"""What the guard cannot look at counts as in use, whatever the check."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fstrial.base.errors import Refused
from fstrial.devices import claim
from fstrial.devices._block import Block
from fstrial.devices._reasons import CHECKS, Suspect, held

SOURCE = Path(__file__).parents[3] / "src" / "fstrial"


def _suspect(tmp_path: Path) -> Suspect:
    """A disk with one partition held by a device-mapper device: recorded from a machine with LVM."""
    disk = tmp_path / "sys/block/sdx"
    for folder, number in ((disk, "8:16"), (disk / "sdx1", "8:17")):
        (folder / "holders").mkdir(parents=True)
        (folder / "dev").write_text(number)
        (folder / "size").write_text("2048")
        (folder / "ro").write_text("0")
    (disk / "sdx1/partition").write_text("1")
    (disk / "sdx1/holders/dm-0").mkdir()
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/swaps").write_text("Filename Type Size Used Priority\n")
    return Suspect(tmp_path / "no-node", Block("8:16", disk), tmp_path / "sys", tmp_path / "proc")


def test_a_holder_of_a_partition_is_found(tmp_path: Path) -> None:
    (reason,) = held(_suspect(tmp_path))
    assert "sdx1 is held by dm-0" in reason.evidence


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), ValueError("no JSON"), IndexError("short")]
)
def test_a_check_that_cannot_look_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def blind(suspect: Suspect) -> None:
        raise error

    suspect = _suspect(tmp_path)
    monkeypatch.setattr(claim, "CHECKS", (blind,))
    monkeypatch.setattr(claim, "_suspect", lambda word: suspect)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(Refused, match="could not be examined"):
        claim.inspect_device("/dev/sdx", ("diskseq:1",))


def test_every_check_is_named_for_people() -> None:
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)


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
