"""The charts: where marks are, that no sample is missing, and what is said when some are left out."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.records import Fault, make_record
from fstrial.model.analysis import Interval
from fstrial.model.record import RunRecord
from fstrial.model.trial import Outcome
from fstrial.report import _sheet, charts
from fstrial.report._findings import Findings
from fstrial.report._sheet import WIDTH, Axis, Point, Row, Shape, Span
from fstrial.report._ticks import amount_ticks, block_ticks, ratio_ticks
from fstrial.report.charts import MOST_POINTS, Picture
from fstrial.stats.analysis import analyse
from fstrial.stats.series import tables

CIRCLE = re.compile(r'<path transform="translate\(([\d.]+),([\d.]+)\)" d="M[\d.]+,0A')
TRIANGLE = re.compile(r'<path transform="translate\(([\d.]+),[\d.]+\)" d="M-?[\d.]+,0L-?[\d.]+,-?[\d.]+L[^L]*Z"')
BAR = re.compile(r'<path d="M([\d.]+),[\d.]+h([\d.]+)v')


def drawn(record: RunRecord) -> dict[str, Picture]:
    table = tables(record)[0]
    return {one.title: one for one in charts.draw(Findings(table, analyse(record), record.plan.baseline))}


@cache
def usual() -> dict[str, Picture]:
    return drawn(make_record(("ext4", "xfs", "btrfs"), blocks=5))


def circles(picture: Picture) -> int:
    return sum(len(CIRCLE.findall(panel.svg)) for panel in picture.panels)


# The sheet


def test_a_mark_is_where_a_logarithmic_axis_has_it() -> None:
    """By hand: 2 is half way from 1 to 4."""
    svg = _sheet.draw([Row("ext4", points=(Point(2.0, 5.0),))], Axis(1.0, 4.0, logarithmic=True), "ratio")
    assert [float(x) for x, _ in CIRCLE.findall(svg)] == [WIDTH / 2]


def test_a_bar_is_as_long_as_a_linear_axis_has_it() -> None:
    svg = _sheet.draw([Row("ext4", spans=(Span(0.0, 25.0, 9.0, 12.0, "var(--bar)"),))], Axis(0.0, 100.0), "size")
    assert [(float(x), float(width)) for x, width in BAR.findall(svg)] == [(0.0, WIDTH / 4)]


def test_a_sheet_says_in_words_what_it_shows_and_has_no_size_of_its_own() -> None:
    svg = _sheet.draw([Row("<ext4>", "4.2 s"), Row("f2fs", note='"no" tool')], Axis(0.0, 1.0, "s"), "Time")
    assert 'role="img" aria-label="Time: &lt;ext4&gt; 4.2 s; f2fs &#34;no&#34; tool"' in svg
    head = svg[: svg.index(">")]
    assert "viewBox" in head
    assert "width=" not in head
    assert "<ext4>" not in svg
    assert "font-family" not in svg


def test_a_sheet_has_no_colour_but_the_pages() -> None:
    row = Row("ext4", "1.1", points=(Point(1.1, 5.0), Point(1.2, 5.0, Shape.CENTRE)), path=True)
    svg = _sheet.draw([row], Axis(0.9, 1.3, "ratio", ticks=((1.0, "1"),), logarithmic=True, line=1.0), "Ratio")
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg)) - {"none", "transparent"}
    assert colours
    assert all(colour.startswith("var(--") for colour in colours)


def test_a_sign_is_written_only_where_its_bar_has_room() -> None:
    spans = (Span(0.0, 1.0, 9.0, 14.0, "var(--s1)", sign="1"), Span(1.0, 100.0, 9.0, 14.0, "var(--s2)", sign="2"))
    svg = _sheet.draw([Row("ext4", spans=spans)], Axis(0.0, 100.0), "parts")
    assert ">2</text>" in svg
    assert ">1</text>" not in svg


def test_a_long_label_makes_room_for_the_figures() -> None:
    svg = _sheet.draw([Row("ext4 mount=" + "a" * 90, "1.14 (1.10 to 1.18)")], Axis(0.0, 1.0), "x")
    shown = re.search(r">(ext4 mount=a+…)</text>", svg)
    assert shown is not None
    assert len(shown[1]) < 40


# Ticks


def test_ticks_of_a_ratio_are_the_finest_usual_series_that_fits() -> None:
    assert [label for _, label in ratio_ticks(0.95, 1.07, 9)] == ["0.96", "0.98", "1", "1.02", "1.04", "1.06"]
    assert [label for _, label in ratio_ticks(0.8, 7.0, 9)] == ["1", "2", "5"]
    assert [label for _, label in ratio_ticks(0.9, 900.0, 9)] == ["1", "10", "100"]


@given(st.floats(-40, -0.05), st.floats(0.05, 40), st.integers(2, 12))
def test_ticks_of_a_ratio_lie_within_and_apart(low: float, high: float, most: int) -> None:
    ticks = [tick for tick, _ in ratio_ticks(math.exp(low), math.exp(high), most)]
    assert 1.0 in [pytest.approx(tick) for tick in ticks]
    assert all(math.exp(low) <= tick <= math.exp(high) for tick in ticks)
    gaps = [math.log(right / left) for left, right in pairwise(ticks)]
    assert all(gap >= (high - low) / most for gap in gaps) or most < 4


def test_ticks_of_amounts_and_blocks_are_round_and_few() -> None:
    assert [label for _, label in amount_ticks(65.5)] == ["0", "20", "40", "60"]
    assert [label for _, label in amount_ticks(0.0)] == ["0"]
    assert [label for _, label in block_ticks(5)] == ["1", "2", "3", "4", "5"]
    assert [label for _, label in block_ticks(40)] == ["5", "10", "15", "20", "25", "30", "35", "40"]
    assert block_ticks(0) == ()


# Every sample


def test_every_sample_of_an_ordinary_run_is_a_mark() -> None:
    """3 filesystems in 5 blocks: 6 figures as ratios, 3 main figures block by block."""
    assert circles(usual()["Time against the baseline"]) == 3 * 5 * 6
    assert circles(usual()["Block by block"]) == 3 * 5 * 3


def test_a_failed_run_is_a_triangle_and_the_caption_says_what_it_means() -> None:
    pictures = drawn(make_record(("ext4", "xfs"), blocks=5, faults=(Fault("xfs", block=1),)))
    picture = pictures["Time against the baseline"]
    deleted = next(panel for panel in picture.panels if panel.title == "Delete all")
    assert len(CIRCLE.findall(deleted.svg)) == 2 * 5 - 1
    assert TRIANGLE.findall(deleted.svg)
    assert "Triangles: failed runs" in picture.caption
    assert "Triangles" not in usual()["Time against the baseline"].caption


def test_a_run_without_its_baseline_is_drawn_and_said() -> None:
    lost = Fault("ext4", block=2, outcome=Outcome.LOST, reason="the worker vanished")
    picture = drawn(make_record(("ext4", "xfs"), blocks=5, faults=(lost,)))["Time against the baseline"]
    assert circles(picture) == 6 * (4 + 4)
    assert "Squares: runs without a comparable one" in picture.caption


def test_of_very_many_samples_some_stand_for_all_the_extremes_among_them() -> None:
    record = make_record(("ext4", "xfs"), blocks=400, verify=False)
    pictures = drawn(record)
    picture = pictures["Time against the baseline"]
    assert circles(picture) == 6 * 2 * MOST_POINTS
    assert f"Of up to 400 runs per row, {MOST_POINTS} are drawn" in picture.caption
    assert f"Of up to 400 runs per row, {MOST_POINTS} are drawn" in pictures["Block by block"].caption
    points = [Point(float(x), 0.0) for x in range(1000)]
    thinned = charts._thinned(points)
    assert len(thinned) == MOST_POINTS
    assert (points[0], points[-1]) == (thinned[0], thinned[-1])
    track = [(block, math.sin(block), False) for block in range(1, 1001)]
    kept = charts._enveloped(track)
    assert len(kept) <= MOST_POINTS
    heights = [height for _, height, _ in track]
    assert {min(heights), max(heights)} <= {height for _, height, _ in kept}
    assert kept == sorted(kept)


# What they say


def test_intervals_beyond_the_samples_are_cut_with_an_arrow() -> None:
    """Samples from 0.9 to 1.1, an interval a hundred times as wide: the axis stays with the samples."""
    low, high = charts._reach([0.9, 1.1], [Interval(1e-9, 1e9)])
    assert 0.4 < low < 0.9
    assert 1.1 < high < 2.0
    axis = Axis(low, high, logarithmic=True)
    assert [arrow.shape for arrow in charts._arrows(Interval(1e-9, 1e9), axis, "")] == [Shape.AT_MOST, Shape.AT_LEAST]
    assert charts._arrows(Interval(0.95, 1.05), axis, "") == []
    assert [arrow.shape for arrow in charts._arrows(Interval(1.05, None), axis, "")] == [Shape.AT_LEAST]


def test_the_cpu_is_split_into_user_system_and_the_rest_of_the_machine() -> None:
    """The made-up total: user 11 %, system 44 % and the whole machine 66 % of the elapsed time."""
    picture = usual()["Where the CPU went"]
    assert [key.name for key in picture.keys] == ["user", "system", "kernel threads and others"]
    (_, *names), *lines = picture.table
    assert names == ["user", "system", "kernel threads and others"]
    for _, *texts in lines:
        user, system, rest = (float(text.removesuffix(" s")) for text in texts)
        assert system / user == pytest.approx(4.0, rel=0.02)
        assert rest / user == pytest.approx(1.0, rel=0.02)


def test_stacked_phases_have_a_key_a_colour_and_a_figure_each() -> None:
    picture = usual()["Device writes"]
    assert [(key.sign, key.name) for key in picture.keys] == [
        ("1", "Copy in"),
        ("2", "Copy within"),
        ("3", "tar -czf"),
        ("4", "tar -xzf"),
        ("5", "Delete all"),
    ]
    assert len({key.colour for key in picture.keys}) == 5
    assert [line[0] for line in picture.table] == ["Filesystem", "ext4", "xfs", "btrfs"]


def test_each_row_says_its_figures_and_a_missing_one_its_reason() -> None:
    disk = usual()["Disk usage"].panels[0].svg
    assert ">65.5 MiB</text>" in disk
    assert ">53.7 MiB</text>" in disk
    skipped = Fault("xfs", outcome=Outcome.SKIPPED, reason="no mkfs.xfs here")
    disk = drawn(make_record(("ext4", "xfs"), blocks=2, faults=(skipped,)))["Disk usage"].panels[0].svg
    assert ">no mkfs.xfs here</text>" in disk


def test_a_bar_that_is_only_a_bound_points_on() -> None:
    pictures = drawn(make_record(("ext4", "xfs"), blocks=2, faults=(Fault("xfs", "copy_in", reason="disk full"),)))
    for title in ("Where the CPU went", "Device writes"):
        svg = pictures[title].panels[0].svg
        assert len(TRIANGLE.findall(svg)) == 1
        assert re.search(r">≥ [\d.]+ \w+, 2 failed</text>", svg)
    assert not TRIANGLE.findall(usual()["Device writes"].panels[0].svg)


def test_nothing_is_drawn_of_what_was_never_measured() -> None:
    assert drawn(make_record(blocks=0)) == {}


def test_one_block_is_enough_for_a_drawing() -> None:
    pictures = drawn(make_record(("ext4", "xfs"), blocks=1))
    assert circles(pictures["Time against the baseline"]) == 2 * 6
    assert circles(pictures["Block by block"]) == 2 * 3
