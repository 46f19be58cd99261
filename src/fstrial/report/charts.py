"""The charts that a workload declared, and its main figures block by block.

What is drawn is decided here, how in `_sheet.py`. A picture is a set of narrow panels, which a page sets side by
side or below each other; its caption says whatever was left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fstrial.model.analysis import Interval
from fstrial.model.declaration import Chart, ChartKind
from fstrial.model.metric import Figure
from fstrial.report import _sheet, words
from fstrial.report._findings import Findings, Run
from fstrial.report._sheet import WIDTH, Axis, Point, Row, Shape, Span
from fstrial.report._ticks import amount_ticks, block_ticks, ratio_ticks

__all__ = ["MOST_POINTS", "SEGMENTS", "Key", "Panel", "Picture", "draw"]

MOST_POINTS = 80
"""Raw samples drawn in one row; where there are more, some stand for all, and the caption says so."""

SEGMENTS = 8
"""Colours of segments that the page has (`--s1` to `--s8`); more begin again, told apart by their number."""

_LEAST_REACH = math.log(1.05)
"""A ratio axis reaches at least 5 % to either side of 1, so that noise does not look like news."""

_UPPER, _LOWER = 6.0, 17.0
"""Pixels from a strip's top: its interval, its raw samples."""

_TALL = 34
"""Pixels of a strip in which height means something."""


@dataclass(frozen=True)
class Key:
    """One entry of a legend: the segment's number, its colour as a CSS value, what it stands for."""

    sign: str
    colour: str
    name: str


@dataclass(frozen=True)
class Panel:
    title: str
    svg: Markup


@dataclass(frozen=True)
class Picture:
    """A chart with what a page says around it. `table` has the figures of a stacked one, headings first."""

    title: str
    caption: str
    panels: tuple[Panel, ...]
    keys: tuple[Key, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()


def draw(findings: Findings) -> tuple[Picture, ...]:
    """The pictures of one workload, without those for which nothing was measured."""
    makers: dict[ChartKind, Callable[[Findings, Chart], Picture]] = {
        ChartKind.INTERVALS: _intervals,
        ChartKind.BARS: _bars,
        ChartKind.STACKED: _stacked,
        ChartKind.PHASES: _stacked,
    }
    declared = [makers[chart.kind](findings, chart) for chart in findings.declaration.charts]
    return tuple(picture for picture in (*declared, _by_block(findings)) if picture.panels)


# Ratios to the baseline


def _intervals(findings: Findings, chart: Chart) -> Picture:
    points = {
        (label, figure): _ratio_points(findings, label, figure) for figure in chart.figures for label in findings.labels
    }
    drawn = [figure for figure in chart.figures if any(points[label, figure] for label in findings.labels)]
    if not drawn:
        return Picture(chart.title, chart.about, ())
    comparisons = [findings.comparison(label, figure) for label, figure in points]
    low, high = _reach(
        [point.x for found in points.values() for point in found],
        [one.interval for one in comparisons if one is not None and one.interval is not None],
    )
    panels = []
    for figure in drawn:
        less, more = words.sides(findings.metric(figure))
        ticks = ratio_ticks(low, high, WIDTH // 38)
        axis = Axis(low, high, "ratio", (f"← {less}", f"{more} →"), ticks, logarithmic=True, line=1.0)
        rows = [_ratio_row(findings, label, figure, points[label, figure], axis) for label in findings.labels]
        title = findings.title(figure)
        panels.append(Panel(title, _sheet.draw(rows, axis, f"{chart.title}, {title}")))
    return Picture(chart.title, _interval_caption(chart, findings, points.values()), tuple(panels))


def _ratio_points(findings: Findings, label: str, figure: Figure) -> list[Point]:
    """Each run against the baseline's run of its block; the baseline's own against their geometric mean."""
    mean = findings.mean(findings.baseline, figure)
    mine = findings.runs(label, figure)
    itself = label == findings.baseline
    base: list[Run] = [(mean, False)] * len(mine) if itself else findings.runs(findings.baseline, figure)
    found = (_ratio_point(*one, *other, mean) for one, other in zip(mine, base, strict=True))
    return [point for point in found if point is not None]


def _ratio_point(
    mine: float | None, mine_bound: bool, base: float | None, base_bound: bool, mean: float | None
) -> Point | None:
    """None for what has no place on a logarithmic axis."""
    if not mine or mine < 0:
        return None
    if not base or base < 0 or (mine_bound and base_bound):
        return Point(mine / mean, _LOWER, Shape.ALONE) if mean else None
    shape = Shape.AT_LEAST if mine_bound else Shape.AT_MOST if base_bound else Shape.WHOLE
    return Point(mine / base, _LOWER, shape)


def _ratio_row(findings: Findings, label: str, figure: Figure, points: list[Point], axis: Axis) -> Row:
    marks = tuple(_thinned(points))
    mean, missing = findings.mean(label, figure), findings.summary(label, figure).missing
    if label == findings.baseline:
        text = "" if mean is None else findings.amount(mean, figure)
        return Row(f"{label} (baseline)", text, missing, points=marks)
    comparison = findings.comparison(label, figure)
    if comparison is None or (comparison.ratio is None and comparison.interval is None):
        why = missing or (comparison.why if comparison else "")
        return Row(label, "no ratio", "" if points else why, points=marks)
    colour = _COLOURS[words.leaning(comparison, findings.metric(figure))]
    bars = [
        (interval, thick)
        for interval, thick in ((comparison.adjusted, 1.2), (comparison.interval, 3.0))
        if interval is not None
    ]
    spans = tuple(_span(interval, axis, thick, colour) for interval, thick in bars)
    arrows = tuple(arrow for interval, _ in bars for arrow in _arrows(interval, axis, colour))
    centre = () if comparison.ratio is None else (Point(comparison.ratio, _UPPER, Shape.CENTRE, colour),)
    return Row(label, words.ratio(comparison), points=(*marks, *arrows, *centre), spans=spans)


_COLOURS = {
    words.Leaning.BETTER: "var(--better)",
    words.Leaning.WORSE: "var(--worse)",
    words.Leaning.NEITHER: "var(--ink)",
}


def _span(interval: Interval, axis: Axis, thick: float, colour: str) -> Span:
    low = axis.low if interval.low is None else max(interval.low, axis.low)
    high = axis.high if interval.high is None else min(interval.high, axis.high)
    return Span(low, high, _UPPER, thick, colour)


def _arrows(interval: Interval, axis: Axis, colour: str) -> list[Point]:
    """One at each end where the interval goes on beyond the axis."""
    arrows = []
    if interval.low is None or interval.low < axis.low:
        arrows.append(Point(axis.low, _UPPER, Shape.AT_MOST, colour))
    if interval.high is None or interval.high > axis.high:
        arrows.append(Point(axis.high, _UPPER, Shape.AT_LEAST, colour))
    return arrows


def _reach(ratios: Sequence[float], intervals: Sequence[Interval]) -> tuple[float, float]:
    """Every sample is within; intervals may add twice the samples' width to either side, then they are cut."""
    low = min(-_LEAST_REACH, *(math.log(ratio) for ratio in ratios))
    high = max(_LEAST_REACH, *(math.log(ratio) for ratio in ratios))
    most = 2 * (high - low)
    ends = [math.log(end) for one in intervals for end in (one.low, one.high) if end]
    low, high = max(low - most, min([low, *ends])), min(high + most, max([high, *ends]))
    margin = 0.03 * (high - low)
    return math.exp(low - margin), math.exp(high + margin)


def _interval_caption(chart: Chart, findings: Findings, points: Iterable[Sequence[Point]]) -> str:
    rows = list(points)
    shapes = {point.shape for row in rows for point in row}
    bounds = bool(shapes & {Shape.AT_LEAST, Shape.AT_MOST})
    parts = [
        chart.about,
        "Diamond and thick bar: the ratio with its 95 % interval. Thin bar: the interval adjusted for the number "
        f"of main comparisons. Dots: every run against the run of {findings.baseline} in its block; those of "
        f"{findings.baseline} against their mean.",
        "Triangles: failed runs; the true ratio lies on the side they point to." if bounds else "",
        "Squares: runs without a comparable one in their block, against the mean." if Shape.ALONE in shapes else "",
        _thinning(max(len(row) for row in rows), "at even steps of their order, lowest and highest among them"),
    ]
    return " ".join(filter(None, parts))


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """At most MOST_POINTS, at even ranks, so that they keep the shape and the extremes of all."""
    if len(points) <= MOST_POINTS:
        return points
    ordered = sorted(points, key=lambda point: point.x)
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [ordered[round(rank * step)] for rank in range(MOST_POINTS)]


def _thinning(most: int, how: str) -> str:
    return f"Of up to {most} runs per row, {MOST_POINTS} are drawn: {how}." if most > MOST_POINTS else ""


# Bars


def _bars(findings: Findings, chart: Chart) -> Picture:
    panels = []
    for figure in chart.figures:
        means = [mean for label in findings.labels if (mean := findings.mean(label, figure)) is not None]
        if means:
            metric = findings.metric(figure)
            divisor, name = words.scale(max(means), metric.unit)
            axis = _amounts(max(means) / divisor, name)
            rows = [_bar_row(findings, label, figure, divisor) for label in findings.labels]
            title = findings.title(figure) if len(chart.figures) > 1 else ""
            panels.append(Panel(title, _sheet.draw(rows, axis, f"{chart.title}, {metric.summary}")))
    return Picture(chart.title, f"{chart.about} Geometric means.".strip(), tuple(panels))


def _bar_row(findings: Findings, label: str, figure: Figure, divisor: float) -> Row:
    summary = findings.summary(label, figure)
    if summary.geometric_mean is None:
        return Row(label, "–", summary.missing)
    end = summary.geometric_mean / divisor
    bar = Span(0.0, end, 9.0, 12.0, "var(--bar)", "var(--edge)")
    text = words.cell(summary, findings.metric(figure).unit)
    return Row(label, text, points=_beyond(end, bool(summary.bounds)), spans=(bar,))


def _beyond(end: float, bound: bool) -> tuple[Point, ...]:
    """A pointer at the end of a bar that is only a lower bound."""
    return (Point(end, 9.0, Shape.AT_LEAST),) if bound else ()


def _amounts(high: float, name: str) -> Axis:
    return Axis(0.0, high * 1.01 or 1.0, name, ticks=amount_ticks(high))


# Stacked parts


@dataclass(frozen=True)
class _Part:
    """One segment: its name, and a filesystem's value in each run that has one."""

    name: str
    of: Callable[[str], Sequence[float]]


def _stacked(findings: Findings, chart: Chart) -> Picture:
    """Arithmetic means, the only ones that add up."""
    parts = _parts(findings, chart)
    means = {label: [_mean(part.of(label)) for part in parts] for label in findings.labels}
    highest = max((sum(filter(None, values)) for values in means.values()), default=0.0)
    if highest <= 0:
        return Picture(chart.title, chart.about, ())
    unit = findings.metric(chart.figures[0]).unit
    divisor, name = words.scale(highest, unit)
    rows = [_stacked_row(findings, chart, label, means[label], divisor) for label in findings.labels]
    lines = [
        (label, *("–" if mean is None else words.amount(mean, unit) for mean in means[label]))
        for label in findings.labels
    ]
    return Picture(
        chart.title,
        f"{chart.about} Arithmetic means, since parts must add up: a little above the geometric.".strip(),
        (Panel("", _sheet.draw(rows, _amounts(highest / divisor, name), chart.title)),),
        tuple(Key(str(index + 1), _segment(index), part.name) for index, part in enumerate(parts)),
        (("Filesystem", *(part.name for part in parts)), *lines),
    )


def _parts(findings: Findings, chart: Chart) -> list[_Part]:
    parts = [_Part(_part_name(findings, chart, figure), _values(findings, figure)) for figure in chart.figures]
    phases = {figure.phase for figure in chart.figures}
    if {figure.metric for figure in chart.figures} == set(_CPU) and len(phases) == 1:
        phase = phases.pop()
        parts.append(_Part("kernel threads and others", lambda label: _rest(findings, label, phase)))
    return parts


_CPU = {"user_s": "user", "sys_s": "system"}


def _part_name(findings: Findings, chart: Chart, figure: Figure) -> str:
    if chart.kind is ChartKind.PHASES:
        return findings.title(figure)
    return _CPU.get(figure.metric, findings.metric(figure).summary)


def _values(findings: Findings, figure: Figure) -> Callable[[str], Sequence[float]]:
    return lambda label: [value for value, _ in findings.runs(label, figure) if value is not None]


def _rest(findings: Findings, label: str, phase: str) -> list[float]:
    """Busy time of the whole machine beyond the workload's own; a little below 0 is the clocks' granularity."""
    columns = [findings.runs(label, Figure(phase, metric)) for metric in ("system_cpu_s", *_CPU)]
    runs = ([value for value, _ in run if value is not None] for run in zip(*columns, strict=True))
    return [max(0.0, run[0] - run[1] - run[2]) for run in runs if len(run) == len(columns)]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _segment(index: int) -> str:
    return f"var(--s{index % SEGMENTS + 1})"


def _stacked_row(findings: Findings, chart: Chart, label: str, means: Sequence[float | None], divisor: float) -> Row:
    spans, end = [], 0.0
    for index, mean in enumerate(means):
        if mean:
            begin, end = end, end + mean / divisor
            spans.append(Span(begin, end, 9.0, 14.0, _segment(index), "var(--edge)", str(index + 1)))
    summaries = [findings.summary(label, figure) for figure in chart.figures]
    if not spans:
        return Row(label, "–", next((one.missing for one in summaries if one.missing), ""))
    total = findings.amount(end * divisor, chart.figures[0])
    failed = max(one.failed for one in summaries)
    text = f"≥ {total}, {failed} failed" if failed else total
    return Row(label, text, points=_beyond(end, failed > 0), spans=tuple(spans))


# Block by block


_Step = tuple[int, float, bool]
"""The block's number from 1, the value's logarithm above the mean's, whether it is a lower bound."""


def _by_block(findings: Findings) -> Picture:
    """Each main figure along the blocks, every filesystem around its own mean and all on one scale."""
    title, blocks = "Block by block", len(findings.table.blocks)
    tracks = {
        figure: {label: _track(findings, label, figure) for label in findings.labels}
        for figure in findings.declaration.main
    }
    steps = [step for by_label in tracks.values() for track in by_label.values() for step in track]
    reach = max([math.log(1.02), *(abs(step[1]) for step in steps)])
    axis = Axis(0.5, blocks + 0.5, "block", ticks=block_ticks(blocks))
    panels = []
    for figure, by_label in tracks.items():
        if any(by_label.values()):
            rows = [_track_row(findings, label, figure, track, reach) for label, track in by_label.items()]
            name = findings.title(figure)
            panels.append(Panel(name, _sheet.draw(rows, axis, f"{title}, {name}", strip=_TALL)))
    parts = [
        "The main figures in the order of the run. What rises and falls for all filesystems at once is the machine: "
        "comparing within blocks removes it. Each strip is centred on its own geometric mean and reaches from "
        f"{math.exp(-reach):.3g} to {math.exp(reach):.3g} times that; its lowest and highest value stand above it.",
        "Triangles: failed runs, at least that." if any(step[2] for step in steps) else "",
        _thinning(blocks, "the lowest and the highest of each group of neighbours"),
    ]
    return Picture(title, " ".join(filter(None, parts)), tuple(panels))


def _track(findings: Findings, label: str, figure: Figure) -> list[_Step]:
    mean = findings.mean(label, figure)
    if not mean:
        return []
    runs = enumerate(findings.runs(label, figure), start=1)
    return [(block, math.log(value / mean), bound) for block, (value, bound) in runs if value]


def _track_row(findings: Findings, label: str, figure: Figure, track: list[_Step], reach: float) -> Row:
    summary = findings.summary(label, figure)
    if not track:
        return Row(label, "–", summary.missing)
    every = (*summary.values, *summary.bounds)
    middle = _TALL / 2
    points = tuple(
        Point(block, middle * (1 - 0.9 * height / reach), Shape.AT_LEAST if bound else Shape.WHOLE)
        for block, height, bound in _enveloped(track)
    )
    mean = Span(track[0][0] - 0.5, track[-1][0] + 0.5, middle, 0.8, "var(--rule)")
    text = words.extent(min(every), max(every), findings.metric(figure).unit)
    return Row(label, text, points=points, spans=(mean,), path=True)


def _enveloped(track: list[_Step]) -> list[_Step]:
    """Of many blocks, the lowest and the highest of each group of neighbours."""
    if len(track) <= MOST_POINTS:
        return track
    size = math.ceil(len(track) / (MOST_POINTS // 2))
    groups = (track[first : first + size] for first in range(0, len(track), size))
    kept = ({min(group, key=lambda step: step[1]), max(group, key=lambda step: step[1])} for group in groups)
    return [step for group in kept for step in sorted(group)]
