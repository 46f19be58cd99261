"""The one drawing that all charts are: rows of text, each above a strip of marks, over one axis. Rows to SVG.

The SVG stands in a page by itself: no script, no font, no colour of its own. Colours are CSS values and may be
variables of the page (`var(--ink)`), so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup, escape

__all__ = ["HEIGHT", "WIDTH", "Axis", "Point", "Row", "Shape", "Span", "draw"]

WIDTH = 340
"""Pixels at which a panel's text of 12 px is 12 px: what a phone held upright shows."""

HEIGHT = 22
"""Pixels of a row's strip; y counts from its top."""

_TEXT = 12
_SMALL = 11
_LETTER = 6.6
"""Pixels of the text, of the text on axes and bars, and of a usual letter's width."""

_TOP, _GAP = 17, 7
"""Pixels of a row's text above its strip, and of the room below."""


_PLACES = {"left": 0, "center": WIDTH / 2, "right": WIDTH}

Mark = dict[str, Any]


class Shape(Enum):
    """What a point says. The values are Vega's names of symbols."""

    WHOLE = "circle"
    ALONE = "square"
    AT_LEAST = "triangle-right"
    AT_MOST = "triangle-left"
    CENTRE = "diamond"


_AREA = {Shape.WHOLE: 22, Shape.ALONE: 22, Shape.AT_LEAST: 44, Shape.AT_MOST: 44, Shape.CENTRE: 90}
_STRENGTH = {Shape.WHOLE: 0.55, Shape.ALONE: 0.55}


@dataclass(frozen=True)
class Point:
    """x in units of the axis, y in pixels."""

    x: float
    y: float
    shape: Shape = Shape.WHOLE
    colour: str = "var(--ink)"


@dataclass(frozen=True)
class Span:
    """A bar from low to high, `thick` pixels, its middle at y; `sign` is written into it where there is room."""

    low: float
    high: float
    y: float
    thick: float
    colour: str
    edge: str = "transparent"
    sign: str = ""


@dataclass(frozen=True)
class Row:
    """`note` stands in the strip where there is nothing to draw. `path` joins the points in their order."""

    label: str
    text: str = ""
    note: str = ""
    points: tuple[Point, ...] = ()
    spans: tuple[Span, ...] = ()
    path: bool = False


@dataclass(frozen=True)
class Axis:
    """What all rows share: the range drawn, its ticks with their labels, and a line through all strips at one x.

    `title` stands below the middle, `ends` below the left and the right end.
    """

    low: float
    high: float
    title: str = ""
    ends: tuple[str, str] = ("", "")
    ticks: tuple[tuple[float, str], ...] = ()
    logarithmic: bool = False
    line: float | None = None


Placed = Sequence[tuple[int, Row]]
"""Rows with the y of their strips."""


def draw(rows: Sequence[Row], axis: Axis, name: str, strip: int = HEIGHT) -> Markup:
    """An `<svg>` with a text alternative: `name`, then what each row says. `strip`: pixels of each row's strip."""
    placed = [(index * (_TOP + strip + _GAP) + _TOP, row) for index, row in enumerate(rows)]
    height = len(rows) * (_TOP + strip + _GAP)
    values = {
        "low": axis.low,
        "high": axis.high,
        "tall": height,
        "ticks": [tick for tick, _ in axis.ticks],
        "labels": [label for _, label in axis.ticks],
    }
    filled = _specification(axis.logarithmic) | {
        "height": height,
        "params": [{"name": name, "value": value} for name, value in values.items()],
        "datasets": {
            "line": [] if axis.line is None else [_line(axis.line, top, strip) for top, _ in placed],
            "spans": _spans(placed),
            "signs": _signs(placed, axis),
            "paths": _points(placed, joined=True),
            "points": _points(placed),
            "texts": _texts(placed, axis, height),
        },
    }
    says = "; ".join(" ".join(filter(None, (row.label, row.text, row.note))) for row in rows)
    return _tidy(vl_convert.vegalite_to_svg(filled), f"{name}: {says}")


@cache
def _specification(logarithmic: bool) -> dict[str, Any]:
    """The one chart, in Vega-Lite, without its data: making it takes Altair longer than drawing it."""
    reach = [alt.expr("low"), alt.expr("high")]
    scale = alt.Scale(type="log" if logarithmic else "linear", domain=reach, nice=False, zero=False)
    across = alt.Axis(
        values=alt.expr("ticks"),
        labelExpr="labels[indexof(ticks, datum.value)]",
        title=None,
        labelFontSize=_SMALL,
        labelColor="var(--quiet)",
        labelFlush=6,
        labelOverlap=False,
        gridColor="var(--hair)",
        tickColor="var(--rule)",
        tickSize=4,
        domainColor="var(--rule)",
    )
    pixels = alt.Scale(domain=[0, alt.expr("tall")], range=[0, alt.expr("tall")], nice=False, zero=False)
    x, y = alt.X("x:Q", scale=scale, axis=across), alt.Y("y:Q", scale=pixels, axis=None)
    colour, edge = alt.Fill("colour:N", scale=None), alt.Stroke("edge:N", scale=None)
    chart = alt.layer(
        _layer("line").mark_rule(color="var(--quiet)").encode(x, y, alt.Y2("y2:Q")),
        _layer("spans").mark_rect(strokeWidth=0.75).encode(x, y, alt.X2("x2:Q"), alt.Y2("y2:Q"), colour, edge),
        _layer("signs")
        .mark_text(fontSize=_SMALL, color="var(--on-segment)", baseline="middle")
        .encode(x, y, text="says:N"),
        _layer("paths").mark_line(strokeWidth=1, color="var(--quiet)").encode(x, y, detail="row:N", order="step:Q"),
        _layer("points")
        .mark_point(filled=True, strokeWidth=0)
        .encode(
            x,
            y,
            colour,
            shape=alt.Shape("shape:N", scale=None),
            size=alt.Size("area:Q", scale=None),
            opacity=alt.Opacity("strength:Q", scale=None),
        ),
        _layer("texts")
        .mark_text(align=alt.expr("datum.side"), baseline="alphabetic", fontSize=_TEXT)
        .encode(y, colour, x=alt.value(alt.expr("datum.place")), text="says:N"),
    )
    plain = chart.properties(width=WIDTH, padding=1).configure(background="transparent", aria=False, font="inherit")
    drawn: dict[str, Any] = plain.configure_view(stroke=None).to_dict(validate=False)
    return drawn


def _layer(name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name))


def _line(x: float, top: int, strip: int) -> Mark:
    """A piece for each strip: text is easier to read without a line through it."""
    return {"x": x, "y": top - 1, "y2": top + strip + 1}


def _spans(placed: Placed) -> list[Mark]:
    return [
        {
            "x": span.low,
            "x2": span.high,
            "y": top + span.y - span.thick / 2,
            "y2": top + span.y + span.thick / 2,
            "colour": span.colour,
            "edge": span.edge,
        }
        for top, row in placed
        for span in row.spans
    ]


def _signs(placed: Placed, axis: Axis) -> list[Mark]:
    pixel = (axis.high - axis.low) / WIDTH
    return [
        {"x": (span.low + span.high) / 2, "y": top + span.y + 0.5, "says": span.sign}
        for top, row in placed
        for span in row.spans
        if span.sign and span.high - span.low > pixel * (len(span.sign) * _LETTER + 4)
    ]


def _points(placed: Placed, joined: bool = False) -> list[Mark]:
    """`joined`: only those that a path joins."""
    return [
        {
            "x": point.x,
            "y": top + point.y,
            "shape": point.shape.value,
            "area": _AREA[point.shape],
            "strength": _STRENGTH.get(point.shape, 1.0),
            "colour": point.colour,
            "row": top,
            "step": step,
        }
        for top, row in placed
        for step, point in enumerate(row.points)
        if row.path or not joined
    ]


def _texts(placed: Placed, axis: Axis, height: int) -> list[Mark]:
    """Labels left and figures right above each strip, notes within it, the axis' title below all."""
    lines: list[tuple[str, str, int, str]] = [
        (axis.ends[0], "left", height + 32, "var(--quiet)"),
        (axis.title, "center", height + 32, "var(--quiet)"),
        (axis.ends[1], "right", height + 32, "var(--quiet)"),
    ]
    for top, row in placed:
        lines += [
            (_shortened(row.label, WIDTH - len(row.text) * _LETTER - 10), "left", top - 4, "var(--ink)"),
            (row.text, "right", top - 4, "var(--ink)"),
            (_shortened(row.note, WIDTH), "left", top + HEIGHT - 6, "var(--quiet)"),
        ]
    return [
        {"says": says, "side": side, "place": _PLACES[side], "y": y, "colour": colour}
        for says, side, y, colour in lines
        if says
    ]


def _shortened(text: str, room: float) -> str:
    """By letters: asking Vega to fit the text into pixels doubles the time a drawing takes."""
    letters = int(room / _LETTER)
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


_LONG_NUMBER = re.compile(r"(\d+\.\d\d)\d+")
_EMPTY = re.compile(r'<path class="(?:background|foreground)"[^>]*/>')
_USELESS = re.compile(
    r' (?:pointer-events="none"|aria-[a-z]+="[^"]*"|role="[^"]*"|font-family="inherit"|opacity="1"|class="[^"]*")'
)


def _tidy(svg: str, says: str) -> Markup:
    """Vega's SVG without what it does not need here (most of its bytes), with a name, and as wide as its place."""
    head, _, body = svg.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None, "Vega gives every SVG a viewBox"
    for useless in (_EMPTY, _USELESS):
        body = useless.sub("", body)
    body = _LONG_NUMBER.sub(r"\1", body)
    return Markup(f'<svg xmlns="http://www.w3.org/2000/svg" {box[0]} role="img" aria-label="{escape(says)}">{body}')
