"""A share of a source: stable, as large as asked for, and clear about what it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fstrial.base.errors import UsageError
from fstrial.trees.folders import Folder, System
from fstrial.trees.member import LeftOut, Member, Source
from fstrial.trees.share import PUBLISHED_BYTES, TooSmall, fitting_scale, share_bytes, survey, take


class Listed(Source):
    where = "a list"

    def __init__(self, sizes: list[int], largest_share: float | None = None) -> None:
        self._sizes = sizes
        self.largest_share = largest_share

    def members(self) -> Iterator[Member | LeftOut]:
        for number, size in enumerate(self._sizes):
            yield Member(f"{number // 10}/{number}", size, 0, lambda: iter(()))
        yield LeftOut("link", "symbolic links")


def taken(source: Source, wanted: int) -> list[str]:
    return [member.path for member in take(source, wanted, Counter())]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.floats(0, 1))
def test_a_share_is_the_shortest_beginning_that_is_large_enough(sizes: list[int], part: float) -> None:
    wanted = max(1, int(sum(sizes) * part))
    if sum(sizes) < wanted:
        return
    count = len(taken(Listed(sizes), wanted))
    assert sum(sizes[:count]) >= wanted
    assert sum(sizes[: count - 1]) < wanted


def test_the_published_tree_is_the_whole() -> None:
    assert share_bytes(1.0) == PUBLISHED_BYTES == 686_817_280
    assert share_bytes(0.1) == 68_681_728


def test_too_small_a_source_says_how_much_there_is_and_what_fits() -> None:
    source = Listed([3 * 1024 * 1024] * 10)
    with pytest.raises(TooSmall) as caught:
        taken(source, share_bytes(1.0))
    assert "a list holds 30 MiB, without symbolic links (1); 655 MiB are wanted" in caught.value.message
    assert f"{fitting_scale(caught.value.held_bytes):g}" == "0.0458"
    assert taken(source, share_bytes(0.0458))


def test_an_empty_source_has_no_scale_that_fits(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        taken(Folder(tmp_path), 1000)
    assert "scale" not in caught.value.hint


def test_one_large_file_does_not_stand_for_the_tree() -> None:
    counted: Counter[str] = Counter()
    source = Listed([10, 500, 30, 10, 10, 10], largest_share=0.25)
    assert [member.size for member in take(source, 40, counted)] == [10, 10, 10, 10]
    assert counted == {"files above 10 B": 2}


def test_a_survey_counts_what_a_share_holds(tmp_path: Path) -> None:
    for name, size in (("a/longer-name/x.c", 100), ("a/c.h", 5000), ("d", 1)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    seen = survey(Folder(tmp_path), 5101)
    assert (seen.tally.files, seen.tally.directories, seen.tally.size_bytes) == (3, 2, 5101)
    assert (seen.largest_file_bytes, seen.longest_name_bytes) == (5000, len("longer-name"))


def test_a_changed_file_changes_the_key(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    before = survey(Folder(tmp_path), 3).key
    assert survey(Folder(tmp_path), 3).key == before
    (tmp_path / "a").write_text("two")
    assert survey(Folder(tmp_path), 3).key != before


def test_this_machine_gives_the_same_share_twice() -> None:
    one, other = survey(System(), 5_000_000), survey(System(), 5_000_000)
    assert one == other
    assert 5_000_000 <= one.tally.size_bytes < 5_200_000
