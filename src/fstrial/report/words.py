"""How reports say numbers, names, ratios and verdicts; terminal, Markdown and HTML all say them alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from fstrial.base.units import GIB, KIB, MIB
from fstrial.model.analysis import Analysis, Comparison, Interval, Summary, Verdict
from fstrial.model.declaration import TOTAL, Declaration
from fstrial.model.metric import PHASE_METRICS, Direction, Figure, Metric, Unit
from fstrial.model.record import RunRecord
from fstrial.stats.verdict import BLOCKS_FOR_VERDICT, MARGIN
from fstrial.stats.words import listing, percent

__all__ = [
    "Leaning",
    "Said",
    "amount",
    "cell",
    "certainty",
    "count",
    "extent",
    "factor",
    "figure_title",
    "leaning",
    "metric",
    "number",
    "phase_title",
    "ratio",
    "scale",
    "sides",
    "span",
    "title",
    "verdict_sentences",
    "verdicts",
]

# Numbers

_TIMES = ((1.0, "s"), (1e-3, "ms"))
_SIZES = ((1024.0 * GIB, "TiB"), (float(GIB), "GiB"), (float(MIB), "MiB"), (float(KIB), "KiB"), (1.0, "B"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e4, "k"), (1.0, ""))
_STEPS = {Unit.SECONDS: _TIMES, Unit.BYTES: _SIZES, Unit.COUNT: _COUNTS, Unit.SHARE: ((1.0, ""), (0.01, "%"))}


def scale(largest: float, unit: Unit) -> tuple[float, str]:
    """What to divide by so that the largest of several values reads well, and the name of that unit."""
    steps = [step for step in _STEPS[unit] if largest or step[0] == 1.0]
    least, name = next((step for step in steps if abs(largest) >= step[0]), steps[-1])
    return (1e3 if name == "k" else least), name


def number(value: float) -> str:
    """Three significant digits, no exponent: `194`, `14.2`, `4.21`, `0.035`."""
    size = abs(value)
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    if 0.0 < size < 0.01:
        return f"{value:.2g}"
    return f"{value:.{digits}f}" if value else "0"


def amount(value: float, unit: Unit) -> str:
    """`4.21 s`, `65.5 MiB`, `6.2 k`."""
    divisor, name = scale(value, unit)
    return f"{number(value / divisor)} {name}".rstrip()


def extent(low: float, high: float, unit: Unit) -> str:
    """`3.9 to 4.3 s`."""
    divisor, name = scale(high, unit)
    return f"{number(low / divisor)} to {number(high / divisor)} {name}".rstrip()


def factor(value: float) -> str:
    """A ratio: `1.14`, `0.062`, `12.3`; three decimals where two would say that it is 1."""
    if 0.995 <= value < 1.005:
        return f"{value:.3f}" if value != 1.0 else "1"
    return f"{value:.2f}" if 0.1 <= value < 9.995 else number(value)


def count(things: int, name: str) -> str:
    """`1 block`, `5 blocks`."""
    return f"{things} {name}" if things == 1 else f"{things} {name}s"


# Names


def metric(declaration: Declaration, figure: Figure) -> Metric:
    known = (*declaration.metrics, *PHASE_METRICS)
    unknown = Metric(figure.metric, Unit.COUNT, Direction.NEITHER, figure.metric)
    return next((one for one in known if one.name == figure.metric), unknown)


def phase_title(declaration: Declaration, phase: str) -> str:
    """The declared title; harness phases go by their names."""
    titles = {one.name: one.title for one in declaration.phases}
    return titles.get(phase, "Total" if phase == TOTAL else phase)


def figure_title(declaration: Declaration, figure: Figure) -> str:
    """The heading of the figure's column; elsewhere the phase's title and the metric."""
    headings = {column.figure: column.title for column in declaration.columns}
    return headings.get(figure) or f"{phase_title(declaration, figure.phase)} ({figure.metric})"


def sides(of: Metric) -> tuple[str, str]:
    """What a ratio below 1 and one above 1 mean for a filesystem."""
    if of.direction is Direction.NEITHER:
        return "less", "more"
    better, worse = ("faster", "slower") if of.unit is Unit.SECONDS else ("better", "worse")
    return (better, worse) if of.direction is Direction.LOWER else (worse, better)


# Cells


class Leaning(Enum):
    """Which way a comparison may be coloured."""

    BETTER = "better"
    WORSE = "worse"
    NEITHER = "neither"


def leaning(comparison: Comparison, of: Metric) -> Leaning:
    """By the verdict where there is one, else by whether its own 95 % interval excludes 1."""
    if comparison.verdict is not None:
        return _BY_VERDICT.get(comparison.verdict, Leaning.NEITHER)
    interval = comparison.interval
    if interval is None or not comparison.uncorrected or of.direction is Direction.NEITHER:
        return Leaning.NEITHER
    more = interval.low is not None and interval.low > 1.0
    return Leaning.WORSE if more is (of.direction is Direction.LOWER) else Leaning.BETTER


_BY_VERDICT = {Verdict.FASTER: Leaning.BETTER, Verdict.SLOWER: Leaning.WORSE}


def cell(summary: Summary, unit: Unit, divisor: float | None = None) -> str:
    """`4.21 s`; `> 194 s, 2 of 5 failed` for a lower bound; `–` where there is no value.

    With a `divisor` only the number, `4.21` or `>194`: the unit is in the heading.
    """
    mean = summary.geometric_mean
    if mean is None:
        return "–"
    if divisor is not None:
        return f"{'>' if summary.bounds else ''}{number(mean / divisor)}"
    text = f"{'> ' if summary.bounds else ''}{amount(mean, unit)}"
    return f"{text}, {summary.failed} of {summary.runs} failed" if summary.failed else text


def span(interval: Interval, joint: str = " to ") -> str:
    """`1.10 to 1.18`, `at least 1.10`, `at most 0.92`."""
    if interval.low is None:
        return f"at most {factor(interval.high)}" if interval.high is not None else "anything"
    if interval.high is None:
        return f"at least {factor(interval.low)}"
    return f"{factor(interval.low)}{joint}{factor(interval.high)}"


def ratio(comparison: Comparison) -> str:
    """`1.14 (1.10 to 1.18)`; what there is of it, or nothing."""
    interval = "" if comparison.interval is None else span(comparison.interval)
    if comparison.ratio is None:
        return interval
    return f"{factor(comparison.ratio)} ({interval})" if interval else factor(comparison.ratio)


# Sentences


def title(record: RunRecord) -> str:
    """What was compared, under what: the run's label where it has one."""
    plan = record.plan
    compared = listing([choice.label for choice in plan.filesystems])
    names = f"{compared}: {listing([choice.name for choice in plan.workloads])}"
    return f"{plan.label} · {names}" if plan.label else names


def verdict_sentences(record: RunRecord, analysis: Analysis) -> tuple[str, ...]:
    """What is sure, what is not, and how far: one sentence for each main comparison, after who is best."""
    return tuple(
        f"{one.subject}: {text}" if one.subject else text
        for one in verdicts(record, analysis)
        for text in (*one.best, *one.others)
    )


@dataclass(frozen=True)
class Said:
    """What is said of one main figure: who is best, where that is certain, and each filesystem's comparison.

    Without a subject: why there is nothing to say.
    """

    subject: str
    best: tuple[str, ...]
    others: tuple[str, ...]


def verdicts(record: RunRecord, analysis: Analysis) -> tuple[Said, ...]:
    """The verdicts by main figure, for a page that sets them apart."""
    if not analysis.blocks:
        return (Said("", ("No block is complete yet: there is nothing to compare.",), ()),)
    if len(record.plan.candidates()) == 1:
        return (Said("", (f"{record.plan.baseline} ran alone: there is nothing to compare it with.",), ()),)
    return tuple(
        _said(declaration, figure, analysis) for declaration in record.declarations for figure in declaration.main
    )


def _said(declaration: Declaration, figure: Figure, analysis: Analysis) -> Said:
    found = _main_comparisons(analysis, declaration, figure)
    early = [one for one in found if one.verdict is Verdict.TOO_FEW and one.ratio is not None]
    later = (_sentence(declaration, one, analysis.main_comparisons) for one in found if one not in early)
    return Said(
        _subject(declaration, figure),
        tuple(_best(declaration, figure, found)),
        (*_so_far(declaration, early), *later),
    )


def certainty(record: RunRecord, analysis: Analysis) -> tuple[str, ...]:
    """How sure the answer is, what more it would take, and what an A/A pair says about the machine."""
    done = count(analysis.blocks, "complete block") if analysis.blocks else "No complete block"
    outlook, until = analysis.outlook, record.plan.rule.until
    aim = f"; ±{percent(until)} is asked for" if until and outlook.more_blocks and record.plan.rule.runs is None else ""
    return (f"{done}{aim}. {outlook.text}", *_noise(record, analysis))


def _noise(record: RunRecord, analysis: Analysis) -> Iterator[str]:
    for declaration in record.declarations:
        pairs = [one for one in analysis.comparisons if one.aa and one.main and one.workload == declaration.workload]
        told = [f"{_subject(declaration, one.figure)} {ratio(one)}" for one in pairs if one.ratio is not None]
        if told:
            yield (
                f"{record.plan.baseline} against itself under a blind name: {', '.join(told)}. "
                "Differences of that size are this machine's noise."
            )


def _main_comparisons(analysis: Analysis, declaration: Declaration, figure: Figure) -> list[Comparison]:
    return [
        one
        for one in analysis.comparisons
        if one.main and not one.aa and one.workload == declaration.workload and one.figure == figure
    ]


def _best(declaration: Declaration, figure: Figure, found: Sequence[Comparison]) -> Iterator[str]:
    """The best of all, where the verdicts against the baseline alone make that certain."""
    verdicts = [one.verdict for one in found]
    behind = {Verdict.SLOWER, Verdict.SAME}
    winners = [one.filesystem for one in found if one.verdict is Verdict.FASTER]
    if len(found) < 2:
        return
    name = ""
    if set(verdicts) == {Verdict.SLOWER}:
        name = found[0].baseline
    elif len(winners) == 1 and set(verdicts) <= {Verdict.FASTER, *behind}:
        name = winners[0]
    if name:
        word = "fastest" if metric(declaration, figure).unit is Unit.SECONDS else "best"
        yield f"{name} is the {word} of {len(found) + 1}."


def _subject(declaration: Declaration, figure: Figure) -> str:
    title = figure_title(declaration, figure)
    return f"{declaration.workload} {title[:1].lower()}{title[1:]}"


def _so_far(declaration: Declaration, early: Sequence[Comparison]) -> Iterator[str]:
    """One sentence for all that have too few blocks for a verdict."""
    if early:
        noun = _NOUNS[metric(declaration, early[0].figure).unit]
        told = ", ".join(f"{one.filesystem} {ratio(one)}" for one in early)
        yield (
            f"too few blocks for a verdict ({BLOCKS_FOR_VERDICT} are needed); "
            f"so far, × the {noun} of {early[0].baseline}: {told}."
        )


def _sentence(declaration: Declaration, one: Comparison, comparisons: int) -> str:
    of = metric(declaration, one.figure)
    measured = _measured(one, of, comparisons)
    return f"{_judgement(one, of)}{': ' if measured else ''}{measured}."


def _judgement(one: Comparison, of: Metric) -> str:
    mine, base = one.filesystem, one.baseline
    if one.ratio is None and one.interval is None:
        return f"cannot compare {mine} with {base}"
    less, more = sides(of)
    better, worse = (less, more) if of.direction is Direction.LOWER else (more, less)
    return {
        Verdict.FASTER: f"{mine} is {better} than {base}",
        Verdict.SLOWER: f"{mine} is {worse} than {base}",
        Verdict.SAME: f"{mine} and {base} are the same within {percent(MARGIN)}",
        Verdict.CANNOT_TELL: f"cannot tell {mine} from {base}",
        Verdict.TOO_FEW: f"too few blocks to judge {mine}",
        None: f"{mine} against {base}",
    }[one.verdict]


def _measured(one: Comparison, of: Metric, comparisons: int) -> str:
    """`1.14 × its time (95 % 1.10 to 1.18; adjusted for 6 comparisons 1.08 to 1.20; 8 blocks)`, or why not."""
    details = []
    interval = one.interval
    if one.ratio is not None:
        head = f"{factor(one.ratio)} × its {_NOUNS[of.unit]}"
        details += [f"95 % {span(interval)}"] if interval is not None else []
    elif interval is not None:
        head = f"{span(interval)} × its {_NOUNS[of.unit]}"
        details.append("95 %")
    else:
        return one.why
    if one.adjusted is not None and comparisons > 1:
        details.append(f"adjusted for {comparisons} comparisons {span(one.adjusted)}")
    details.append(count(one.blocks, "block"))
    details += [one.why] if one.failed or one.baseline_failed else []
    return f"{head} ({'; '.join(details)})"


_NOUNS = {Unit.SECONDS: "time", Unit.BYTES: "bytes", Unit.COUNT: "count", Unit.SHARE: "share"}
