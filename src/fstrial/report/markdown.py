"""A run as Markdown: the same table and sentences as on a terminal, for issues, mailing lists and READMEs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fstrial.model.analysis import Analysis
from fstrial.model.record import RunRecord
from fstrial.report import _closing, _grid, words
from fstrial.report._results import Head

__all__ = ["render"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def render(record: RunRecord, analysis: Analysis) -> str:
    """GitHub's Markdown (https://github.github.com/gfm/): its tables, nothing else beyond CommonMark."""
    return "\n".join(_lines(record, analysis))


def _lines(record: RunRecord, analysis: Analysis) -> Iterator[str]:
    yield f"# {_plain(words.title(record))}"
    for sentence in _closing.wrong_content(record):
        yield from ("", f"**{_plain(sentence)}**")
    yield from _section("Verdict", words.verdict_sentences(record, analysis))
    yield from _section("How sure", words.certainty(record, analysis))
    for grid in _grid.grids(record, analysis):
        yield from _table(grid)
    if analysis.comparisons:
        yield from ("", _plain(_grid.legend(record.plan.baseline, "bold")))
    yield from _section("To know before quoting this", _closing.notices(record, analysis))
    facts = (_closing.ending(record), _closing.cost(record), _closing.system(record))
    yield from _section(f"Run {record.id}", facts)
    yield ""


def _section(title: str, sentences: Iterable[str]) -> Iterator[str]:
    points = [f"- {_plain(sentence)}" for sentence in sentences]
    if points:
        yield from ("", f"## {title}", "", *points)


def _table(grid: _grid.Grid) -> Iterator[str]:
    yield from ("", f"## {_plain(grid.workload)}", "", _plain(grid.about), "")
    yield _row(("", *(_heading(one) for one in grid.heads)))
    yield _row(("---", *("---:" for _ in grid.heads)))
    for line in grid.lines:
        about = f"<br>{_plain(line.about)}" if line.about else ""
        yield _row((f"**{_plain(line.label)}**{about}", *(_cell(place) for place in line.places)))
    if grid.notes:
        yield ""
    for number, reason in enumerate(grid.notes, start=1):
        yield f"{number}. {_plain(reason)}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _heading(head: Head) -> str:
    return f"{_plain(head.title)}<br>{_grid.below(head)}"


def _cell(place: _grid.Place) -> str:
    value = _plain(place.value)
    first = (f"**{value}**" if place.best else value, f"<sup>{place.note}</sup>" if place.note else "", place.mark)
    return "<br>".join((" ".join(part for part in first if part), *(_plain(line) for line in place.lines)))


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
