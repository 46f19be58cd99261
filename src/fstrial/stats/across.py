"""Two runs against each other: the same filesystem in both, by Welch's t on logarithms (Welch 1947).

The runs were not interleaved, so blocks cannot pair them: whatever the machine did differently between the two is
part of the ratio, and no interval covers that. Within a run, where blocks pair, stats.compare is used instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from fstrial.model.analysis import Comparison, Interval, Method, Summary, Verdict
from fstrial.model.metric import PHASE_METRICS, Direction, Figure
from fstrial.model.record import RunRecord
from fstrial.stats import holm
from fstrial.stats.analysis import analyse
from fstrial.stats.estimators import Array, Estimate
from fstrial.stats.stopping import inflation
from fstrial.stats.verdict import ALPHA, BLOCKS_FOR_INTERVAL, decide

__all__ = ["Across", "compare_runs", "differences", "welch"]


@dataclass(frozen=True)
class Across:
    """`comparisons`: the second run's figures over the first's; `only_first` and `only_second`: filesystems and
    workloads (`xfs, tree`) that the other run lacks."""

    comparisons: tuple[Comparison, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def welch(first: Array, second: Array, inflation_first: float = 1.0, inflation_second: float = 1.0) -> Estimate:
    """The log ratio second / first of two independent samples, at least two values each; variances may differ."""
    means = [float(np.log(values).mean()) for values in (first, second)]
    errors = [
        float(np.log(values).var(ddof=1)) / values.size * widening**2
        for values, widening in ((first, inflation_first), (second, inflation_second))
    ]
    freedom_below = sum(error**2 / (values.size - 1) for error, values in zip(errors, (first, second), strict=True))
    freedom = sum(errors) ** 2 / freedom_below if freedom_below > 0 else float(first.size + second.size - 2)
    return Estimate(
        np.asarray(means[1] - means[0]), np.asarray(math.sqrt(sum(errors))), np.asarray(freedom), np.asarray(False)
    )


def compare_runs(first: RunRecord, second: RunRecord) -> Across:
    """Every figure that both runs have, for every filesystem (by label) that both have."""
    cells = [{_key(cell): cell for cell in analyse(record).summaries} for record in (first, second)]
    directions = _directions(first)
    main = {(one.workload, figure) for one in first.declarations for figure in one.main}
    widening = (inflation(first.plan.rule), inflation(second.plan.rule))
    drafts: list[tuple[Comparison, Estimate | None]] = []
    for key, cell in cells[0].items():
        other = cells[1].get(key)
        if other is not None:
            drafts.append(_draft(cell, other, (cell.workload, cell.figure) in main, widening))
    places = [{f"{cell.filesystem}, {cell.workload}" for cell in some.values() if cell.filesystem} for some in cells]
    return Across(
        _correct(drafts, directions), tuple(sorted(places[0] - places[1])), tuple(sorted(places[1] - places[0]))
    )


def _key(cell: Summary) -> tuple[str, str, Figure]:
    return cell.workload, cell.filesystem, cell.figure


def _directions(record: RunRecord) -> dict[tuple[str, str], Direction]:
    return {
        (one.workload, metric.name): metric.direction
        for one in record.declarations
        for metric in (*PHASE_METRICS, *one.metrics)
    }


def _draft(
    first: Summary, second: Summary, main: bool, widening: tuple[float, float]
) -> tuple[Comparison, Estimate | None]:
    counts = min(len(first.values), len(second.values))
    failed = bool(first.failed or second.failed)
    positive = all(value > 0 for cell in (first, second) for value in cell.values)
    found = None
    if counts >= BLOCKS_FOR_INTERVAL and positive and not failed:
        found = welch(np.asarray(first.values), np.asarray(second.values), *widening)
    comparison = Comparison(
        workload=first.workload,
        figure=first.figure,
        filesystem=first.filesystem,
        baseline=first.filesystem,
        main=main,
        blocks=counts,
        method=Method.COUNTS if found is None else Method.WELCH,
        ratio=None if found is None else math.exp(float(found.centre)),
        interval=None if found is None else _interval(found, ALPHA),
        p=None if found is None else float(found.p()),
        failed=second.failed,
        baseline_failed=first.failed,
        why=_why(first, second, counts, positive),
    )
    return comparison, found


def _why(first: Summary, second: Summary, counts: int, positive: bool) -> str:
    if first.failed or second.failed:
        return f"failed {first.failed} of {first.runs} then, {second.failed} of {second.runs} now"
    if first.missing or second.missing:
        return first.missing or second.missing
    if not positive:
        return "a value is not above 0"
    return "" if counts >= BLOCKS_FOR_INTERVAL else f"only {counts} runs on one side"


def _correct(
    drafts: list[tuple[Comparison, Estimate | None]], directions: dict[tuple[str, str], Direction]
) -> tuple[Comparison, ...]:
    """Holm's correction over the main comparisons."""
    tested = [index for index, (comparison, _) in enumerate(drafts) if comparison.main]
    p = np.array([1.0 if drafts[index][0].p is None else drafts[index][0].p for index in tested], dtype=float)
    corrected = zip(holm.adjust(p).tolist(), holm.levels(p, ALPHA).tolist(), strict=True) if tested else ()
    by_index = dict(zip(tested, corrected, strict=True))
    return tuple(
        _finish(comparison, found, directions, *by_index[index])
        if index in by_index
        else msgspec.structs.replace(comparison, uncorrected=_excludes_one(comparison.interval))
        for index, (comparison, found) in enumerate(drafts)
    )


def _finish(
    comparison: Comparison,
    found: Estimate | None,
    directions: dict[tuple[str, str], Direction],
    p_adjusted: float,
    level: float,
) -> Comparison:
    direction = directions[comparison.workload, comparison.figure.metric]
    if comparison.failed or comparison.baseline_failed:
        return msgspec.structs.replace(comparison, verdict=Verdict.CANNOT_TELL)
    return msgspec.structs.replace(
        comparison,
        p_adjusted=None if found is None else p_adjusted,
        adjusted=None if found is None else _interval(found, level),
        verdict=decide(found, p_adjusted, direction, comparison.blocks, failures=False),
    )


def _interval(found: Estimate, alpha: float) -> Interval:
    centre, half = float(found.centre), float(found.half_width(alpha))
    return Interval(math.exp(centre - half), math.exp(centre + half))


def _excludes_one(interval: Interval | None) -> bool:
    if interval is None or interval.low is None or interval.high is None:
        return False
    return interval.low > 1.0 or interval.high < 1.0


def differences(first: RunRecord, second: RunRecord) -> dict[str, tuple[str, str]]:
    """Facts in which two runs differ, by name, each with its text in the first and in the second.

    Only facts that change what figures mean, and only of what both runs have: filesystems (by label), workloads and
    tools that one of them lacks are not compared. One such difference is what a comparison is about.
    """
    facts = [_facts(record) for record in (first, second)]
    common = sorted(set(facts[0]) & set(facts[1]))
    return {name: (facts[0][name], facts[1][name]) for name in common if facts[0][name] != facts[1][name]}


def _facts(record: RunRecord) -> dict[str, str]:
    plan, here = record.plan, record.environment
    devices = {kept.result.device for kept in record.trials if kept.result.device is not None}
    shown = {f"{one.kind} {one.model} {one.serial} {one.size_bytes} direct={one.direct_io}" for one in devices}
    facts = {
        "kernel": here.kernel,
        "cpu": f"{here.cpu} × {here.cores}",
        "machine-memory": str(here.memory_bytes),
        "memory": str(plan.memory_bytes),
        "sync": plan.sync.value,
        "targets": " ".join(plan.targets),
        "host": " ".join(sorted({kept.result.host for kept in record.trials})),
        "device": " ".join(sorted(shown)),
    }
    facts |= {f"tool-{tool.name}": tool.version for tool in here.tools}
    facts |= {
        f"workload-{load.name}": " ".join(f"{one.key}={one.value}" for one in load.settings) for load in plan.workloads
    }
    facts |= {
        f"filesystem-{choice.label}": " ".join((choice.type, *choice.mkfs, *choice.mount))
        for choice in plan.filesystems
    }
    return facts
