"""One cell of the table: a candidate's figure over its blocks, nothing left out."""

from __future__ import annotations

import itertools

import numpy as np

from fstrial.model.analysis import Summary
from fstrial.model.metric import Figure
from fstrial.stats.estimators import Array
from fstrial.stats.series import Series, Table

__all__ = ["SHORTEST_S", "geometric_mean", "summarise"]

SHORTEST_S = 0.1
"""A phase below this is too short to time: start-up of a program and the timer's tick are a share of it."""


def geometric_mean(values: Array) -> float | None:
    """None where there is none: no value, or one that is not above 0 while others are. Only zeros give 0."""
    if values.size == 0:
        return None
    if (values > 0.0).all():
        return float(np.exp(np.log(values).mean()))
    return None if values.any() else 0.0


def summarise(table: Table) -> tuple[Summary, ...]:
    """Every figure of every candidate of one workload."""
    short = {
        (candidate.label, figure.phase)
        for candidate in table.candidates
        for figure in table.figures
        if figure.metric == "elapsed_s" and _is_short(table.series[candidate.label, figure])
    }
    return tuple(
        _cell(table, candidate.label, figure, (candidate.label, figure.phase) in short)
        for figure in table.figures
        for candidate in table.candidates
    )


def _is_short(series: Series) -> bool:
    """Of the runs that passed: one that failed early is no short phase."""
    mean = geometric_mean(series.values[series.known & ~series.failed])
    return mean is not None and mean < SHORTEST_S


def _cell(table: Table, label: str, figure: Figure, short: bool) -> Summary:
    series = table.series[label, figure]
    whole = series.known & ~series.bound
    mean = geometric_mean(series.values[series.known])
    missing = series.missing
    if mean is None and not missing:
        missing = "no geometric mean: a value is not above 0"
    return Summary(
        workload=table.workload,
        figure=figure,
        filesystem=label,
        geometric_mean=mean,
        values=tuple(series.values[whole].tolist()),
        blocks=table.blocks if whole.all() else tuple(itertools.compress(table.blocks, whole)),
        failed=int(series.failed.sum()),
        runs=series.runs,
        bounds=tuple(series.values[series.bound].tolist()),
        missing=missing,
        too_short=short and table.is_time(figure),
    )
