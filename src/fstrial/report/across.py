"""Two runs against each other, on the terminal: what differs between them, and what that did to each figure."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fstrial.model.analysis import Comparison, Verdict
from fstrial.model.declaration import Declaration
from fstrial.model.record import RunRecord
from fstrial.report import words
from fstrial.report._grid import BETTER, WORSE
from fstrial.stats.across import Across

__all__ = ["render"]

_CAVEAT = (
    "The two runs were not interleaved: whatever else changed on the machine between them is part of each ratio, "
    "and no interval covers that. A difference found within one run is worth more."
)


def render(
    first: RunRecord, second: RunRecord, unlike: dict[str, tuple[str, str]], across: Across, console: Console
) -> None:
    """Print the second run's figures over the first's."""
    console.print(Text(f"run {second.id} against run {first.id}", style="bold"))
    console.print(Text(_what_differs(unlike)))
    for declaration in first.declarations:
        found = [one for one in across.comparisons if one.workload == declaration.workload]
        columns = [column.figure for column in declaration.columns]
        shown = [one for one in found if one.figure in columns]
        if shown:
            console.print()
            console.print(_table(declaration, shown))
        for sentence in _sentences(declaration, found, first.id, second.id):
            console.print(Text(sentence))
    for run, places in ((first, across.only_first), (second, across.only_second)):
        if places:
            console.print(Text(f"only in run {run.id}: {'; '.join(places)}"))
    console.print()
    console.print(Text(_CAVEAT, style="dim"))


def _what_differs(unlike: dict[str, tuple[str, str]]) -> str:
    if not unlike:
        return "They differ in no recorded fact: what is compared is the machine with itself, at another time."
    return "They differ in " + "; ".join(
        f"{name}: {then or 'none'} → {now or 'none'}" for name, (then, now) in unlike.items()
    )


def _table(declaration: Declaration, shown: list[Comparison]) -> Table:
    table = Table(title=declaration.workload, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("filesystem")
    for column in declaration.columns:
        table.add_column(column.title, justify="right")
    for label in dict.fromkeys(one.filesystem for one in shown):
        by_figure = {one.figure: one for one in shown if one.filesystem == label}
        cells = [by_figure.get(column.figure) for column in declaration.columns]
        table.add_row(Text(label), *(_cell(declaration, one) for one in cells))
    return table


def _cell(declaration: Declaration, one: Comparison | None) -> Text:
    if one is None or one.ratio is None:
        return Text("–", style="dim")
    leaning = words.leaning(one, words.metric(declaration, one.figure))
    style = {words.Leaning.BETTER: "green", words.Leaning.WORSE: "red", words.Leaning.NEITHER: ""}[leaning]
    interval = "" if one.interval is None else f"\n{words.span(one.interval, '–')}"
    mark = {words.Leaning.BETTER: f"{BETTER} ", words.Leaning.WORSE: f"{WORSE} ", words.Leaning.NEITHER: ""}[leaning]
    return Text(f"{mark}{words.factor(one.ratio)} ×{interval}", style=style)


def _sentences(declaration: Declaration, found: list[Comparison], first: int, second: int) -> Iterator[str]:
    for one in found:
        if one.main:
            title = words.figure_title(declaration, one.figure)
            yield f"{one.filesystem}, {title[:1].lower()}{title[1:]}: {_judgement(one, first, second)}"


def _judgement(one: Comparison, first: int, second: int) -> str:
    told = f": {words.ratio(one)} × run {first}" if one.ratio is not None else (f": {one.why}" if one.why else "")
    match one.verdict:
        case Verdict.SAME:
            return f"the same within 3 %{told}"
        case Verdict.FASTER | Verdict.SLOWER:
            return f"{one.verdict.value} in run {second}{told}"
        case Verdict.TOO_FEW:
            return f"too few runs for a verdict{told}"
        case _:
            return f"cannot tell{told}"
