"""The generated tree: the same everywhere, and like the real one it is modelled on."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from fstrial.trees.generated import Generated
from fstrial.trees.language import text
from fstrial.trees.member import Member
from fstrial.trees.share import share_bytes, survey
from fstrial.trees.staging import Staged, stage_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Staged:
    return stage_tree(Generated(), share_bytes(0.05), tmp_path_factory.mktemp("generated") / "tree")


def test_two_of_them_are_equal(tmp_path: Path) -> None:
    one, other = (stage_tree(Generated(), 1_000_000, tmp_path / name) for name in ("one", "other"))
    assert one.manifest == other.manifest


def test_its_digest_is_that_of_every_other_machine(tree: Staged) -> None:
    """A change of this digest is a new tree: raise the generator's version, then put the new digest here."""
    assert tree.manifest.digest == "652dd0ea03d47342839a76779d5756d6"


def test_a_larger_share_begins_with_the_smaller_one() -> None:
    first = [(member.path, member.size) for member in itertools.islice(Generated().members(), 500)]
    again = [(member.path, member.size) for member in itertools.islice(Generated().members(), 900)]
    assert again[:500] == first


def test_gzip_finds_in_it_what_it_finds_in_kernel_sources(tree: Staged) -> None:
    """The kernel tree that it is modelled on: 947 386 878 bytes of files, 196 600 356 by tar and gzip: 4.82."""
    archive = subprocess.run(["tar", "-czf", "-", "-C", str(tree.root), "."], check=True, capture_output=True).stdout
    ratio = tree.manifest.tally.size_bytes / len(archive)
    assert ratio == pytest.approx(4.82, rel=0.08)
    assert tree.gzip_ratio == pytest.approx(ratio, rel=0.08)


def test_sizes_and_counts_are_those_of_the_model() -> None:
    """Measured there: 12 069 bytes a file, 15.4 files a directory, a largest file of up to 1 MiB."""
    whole = survey(Generated(), share_bytes(1.0))
    assert whole.tally.size_bytes / whole.tally.files == pytest.approx(12_069, rel=0.08)
    assert whole.tally.files / whole.tally.directories == pytest.approx(15.4, rel=0.08)
    assert 512 * 1024 < whole.largest_file_bytes <= 1024 * 1024


def test_depth_is_that_of_the_model() -> None:
    """Measured there: half of the files lie 3 directories deep or less, the deepest 9."""
    depths = sorted(member.path.count("/") for member in itertools.islice(Generated().members(), 20_000))
    assert depths[len(depths) // 2] == 3
    assert depths[-1] == 9


def test_names_are_unique_and_short() -> None:
    members = list(itertools.islice(Generated().members(), 20_000))
    assert len({member.path.casefold() for member in members}) == len(members)
    assert max(len(part) for member in members for part in member.path.split("/")) <= 32


def test_content_is_as_long_as_announced() -> None:
    for member in itertools.islice(Generated().members(), 300):
        assert sum(map(len, member.chunks())) == member.size


def test_no_two_files_begin_alike() -> None:
    """A filesystem that finds equal blocks must not find any here."""
    members: list[Member] = [member for member in itertools.islice(Generated().members(), 500) if member.size > 4096]
    assert len({next(member.chunks())[:4096] for member in members}) == len(members)


def test_text_of_no_length_is_empty() -> None:
    assert text("nothing", 0, 0) == b""
