"""Two runs against each other, on the terminal: what differs between them, and what that did to each figure."""

from __future__ import annotations

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
            console.print(_table(declaration, shown, first.id, second.id))
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


def _table(declaration: Declaration, shown: list[Comparison], first: int, second: int) -> Table:
    """A row a figure: seven columns of ratios would not fit into a terminal."""
    table = Table(title=declaration.workload, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("filesystem")
    table.add_column("figure")
    table.add_column(f"run {second} / run {first}", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("")
    for label in dict.fromkeys(one.filesystem for one in shown):
        by_figure = {one.figure: one for one in shown if one.filesystem == label}
        name = label
        for column in declaration.columns:
            one = by_figure.get(column.figure)
            if one is not None:
                table.add_row(Text(name), column.title, *_cells(declaration, one))
                name = ""
    return table


def _cells(declaration: Declaration, one: Comparison) -> tuple[Text, Text, Text]:
    if one.ratio is None:
        return Text("–"), Text(""), Text(one.why, style="dim")
    leaning = words.leaning(one, words.metric(declaration, one.figure))
    style = {words.Leaning.BETTER: "green", words.Leaning.WORSE: "red", words.Leaning.NEITHER: ""}[leaning]
    mark = {words.Leaning.BETTER: f"{BETTER} ", words.Leaning.WORSE: f"{WORSE} ", words.Leaning.NEITHER: ""}[leaning]
    interval = "" if one.interval is None else words.span(one.interval)
    return Text(f"{mark}× {words.factor(one.ratio)}", style=style), Text(interval), Text(_judgement(one))


def _judgement(one: Comparison) -> str:
    """The verdict of a main figure; of any other only what its own interval says."""
    match one.verdict:
        case None:
            return "differs, uncorrected" if one.uncorrected else ""
        case Verdict.SAME:
            return "the same within 3 %"
        case Verdict.TOO_FEW:
            return "too few runs for a verdict"
        case Verdict.CANNOT_TELL:
            return f"cannot tell{': ' + one.why if one.why else ''}"
        case verdict:
            return str(verdict.value)
