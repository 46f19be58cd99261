"""A run on a terminal: the table, the verdict in sentences, what to mind, and how it came about.

Colour only repeats what signs say, so that it reads as well on a pipe or without colours (https://no-color.org).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fstrial.model.analysis import Analysis
from fstrial.model.record import RunRecord
from fstrial.report import _closing, _grid, words
from fstrial.report._results import Head

__all__ = ["render"]

_TINTS = {_grid.BETTER: "green", _grid.WORSE: "red", _grid.SAME: "cyan"}
_WIDEST_LABEL = 26
_READABLE = 110
"""Sentences are not set wider than this, however wide the window."""


def render(record: RunRecord, analysis: Analysis, console: Console) -> None:
    """Print the whole report. Lines are folded to the console's width; a wide table is split."""
    _print(console, Text(words.title(record), style="bold"))
    for sentence in _closing.wrong_content(record):
        _print(console, Text(sentence, style="bold white on red"))
    for grid in _grid.grids(record, analysis):
        _grid_on(console, grid)
    if analysis.comparisons:
        best = "underlined" if console.is_terminal else "starred"
        _print(console, Text(_grid.legend(record.plan.baseline, best), style="dim"))
    _verdicts_on(console, record, analysis)
    _section(console, "How sure", words.certainty(record, analysis))
    _section(console, "To know before quoting this", _closing.notices(record, analysis), "!", "yellow")
    facts = (_closing.ending(record), _closing.cost(record), _closing.system(record))
    _section(console, f"Run {record.id}", facts)


def _print(console: Console, text: Text) -> None:
    console.print(text, width=min(console.width, _READABLE), highlight=False)


def _verdicts_on(console: Console, record: RunRecord, analysis: Analysis) -> None:
    """What is said of each main figure, its name once above."""
    console.print()
    _print(console, Text("Verdict", style="bold"))
    for said in words.verdicts(record, analysis):
        subject = f"{said.subject}: " if said.best else said.subject
        _print(console, Text.assemble(" ", (subject if said.subject else "", "bold"), _coloured(" ".join(said.best))))
        _points(console, [_coloured(sentence) for sentence in said.others], "  •", "dim")


def _section(console: Console, title: str, sentences: Sequence[str], bullet: str = "•", style: str = "dim") -> None:
    if sentences:
        console.print()
        _print(console, Text(title, style="bold"))
        _points(console, [Text(sentence) for sentence in sentences], f" {bullet}", style)


def _points(console: Console, sentences: Sequence[Text], bullet: str, style: str) -> None:
    points = Table.grid(padding=(0, 1))
    for sentence in sentences:
        points.add_row(Text(bullet, style=style), sentence)
    console.print(points, width=min(console.width, _READABLE), highlight=False)


def _coloured(sentence: str) -> Text:
    text = Text(sentence)
    text.highlight_words([" is faster than", " is better than", " is the fastest", " is the best"], "green")
    text.highlight_words([" is slower than", " is worse than"], "red")
    text.highlight_words([" are the same"], "cyan")
    text.highlight_words(["cannot tell", "too few blocks"], "yellow")
    return text


# The table


def _grid_on(console: Console, grid: _grid.Grid) -> None:
    console.print()
    _print(console, Text.assemble((grid.workload, "bold"), "  ", (grid.about, "dim")))
    for columns in _split(grid, console.width):
        console.print()
        console.print(_table(grid, columns, marks_best=not console.is_terminal), highlight=False)
    console.print()
    for number, reason in enumerate(grid.notes, start=1):
        _print(console, Text(f"[{number}] {reason}", style="dim"))


def _split(grid: _grid.Grid, width: int) -> list[list[int]]:
    """The columns of each table that fits into that width: as few tables as will do, about equally wide."""
    tables = len(_packed(grid, width, len(grid.heads)))
    return _packed(grid, width, math.ceil(len(grid.heads) / max(tables, 1)))


def _packed(grid: _grid.Grid, width: int, most: int) -> list[list[int]]:
    """At most `most` columns a table, and at least one however narrow the window is."""
    tables: list[list[int]] = []
    room = 0
    for index, head in enumerate(grid.heads):
        need = 1 + max(cell_len(text) for text in _texts(grid, index, head))
        if not tables or need > room or len(tables[-1]) == most:
            tables.append([])
            room = width - _label_width(grid)
        tables[-1].append(index)
        room -= need
    return tables


def _label_width(grid: _grid.Grid) -> int:
    longest = max((cell_len(text) for line in grid.lines for text in (line.label, line.about)), default=0)
    return min(longest, _WIDEST_LABEL)


def _texts(grid: _grid.Grid, index: int, head: Head) -> Iterable[str]:
    yield from (head.title, _grid.below(head))
    for line in grid.lines:
        place = line.places[index]
        yield _first(place, marks_best=True)
        yield from (_below_mark(text) for text in place.lines)


def _table(grid: _grid.Grid, columns: Sequence[int], marks_best: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, leading=1, show_edge=False, header_style="")
    table.add_column("", width=_label_width(grid), overflow="fold")
    for index in columns:
        head = grid.heads[index]
        named = Text(head.title, style="bold" if head.main else "")
        table.add_column(Text.assemble(named, "\n", (_grid.below(head), "dim")), justify="right", no_wrap=True)
    for line in grid.lines:
        label = Text.assemble((line.label, "bold"), *([("\n" + line.about, "dim")] if line.about else []))
        table.add_row(label, *(_cell(line.places[index], marks_best) for index in columns))
    return table


def _first(place: _grid.Place, marks_best: bool) -> str:
    """The value's line. A mark takes two places, there or not, so that figures stand in line."""
    note = f" [{place.note}]" if place.note else ""
    best = "*" if marks_best and place.best else ""
    return f"{place.value}{best}{note} {place.mark or ' '}"


def _cell(place: _grid.Place, marks_best: bool) -> Text:
    tint = _TINTS.get(place.mark, "")
    text = Text(_first(place, marks_best), style=tint)
    if place.best:
        text.stylize("underline", 0, len(place.value))
    for line in place.lines:
        text.append(f"\n{_below_mark(line)}", style=f"{tint} dim".strip())
    return text


def _below_mark(line: str) -> str:
    return f"{line}  "
