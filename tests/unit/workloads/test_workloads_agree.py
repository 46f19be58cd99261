"""What all workloads must share, so that any of them can be in one run."""

from __future__ import annotations

from itertools import combinations

import pytest

from fstrial.model.metric import PHASE_METRICS, Metric
from fstrial.model.plan import SyncPolicy
from fstrial.workloads.contract import workloads

DECLARED = {(name, sync): workloads.load(name)().declare(sync) for name in workloads.names() for sync in SyncPolicy}


def test_one_metric_name_means_one_thing_everywhere() -> None:
    metrics: dict[str, Metric] = {metric.name: metric for metric in PHASE_METRICS}
    for declaration in DECLARED.values():
        for metric in declaration.metrics:
            assert metrics.setdefault(metric.name, metric) == metric


@pytest.mark.parametrize(("name", "sync"), list(DECLARED))
def test_figures_are_of_declared_phases_and_metrics(name: str, sync: SyncPolicy) -> None:
    declaration = DECLARED[name, sync]
    phases = {phase.name for phase in declaration.phases} | {"total", "mkfs", "mount", "unmount"}
    metrics = {metric.name for metric in (*PHASE_METRICS, *declaration.metrics)}
    figures = [
        *declaration.main,
        *(column.figure for column in declaration.columns),
        *(figure for chart in declaration.charts for figure in chart.figures),
    ]
    assert {figure.phase for figure in figures} <= phases
    assert {figure.metric for figure in figures} <= metrics
    assert 1 <= len(declaration.main) <= 3


@pytest.mark.parametrize("name", workloads.names())
def test_the_file_and_the_workload_have_one_name(name: str) -> None:
    assert workloads.load(name).name == name
    assert workloads.load(name).summary


def test_headings_within_a_table_differ() -> None:
    for declaration in DECLARED.values():
        for one, other in combinations(declaration.columns, 2):
            assert one.title != other.title
