"""One workload's figures by place, with the names that people read."""

from __future__ import annotations

import math

from fstrial.model.analysis import Analysis, Comparison, Summary
from fstrial.model.metric import Figure, Metric
from fstrial.report import words
from fstrial.stats.series import Table

__all__ = ["Findings", "Run"]

Run = tuple[float | None, bool]
"""A run's value, None where there is none, and whether it is only a lower bound."""


class Findings:
    """What the statistics say about each filesystem's figures, and the runs behind it."""

    def __init__(self, table: Table, analysis: Analysis, baseline: str) -> None:
        self.table = table
        self.declaration = table.declaration
        self.baseline = baseline
        self.candidates = table.candidates
        self.labels = tuple(candidate.label for candidate in table.candidates)
        self._summaries = {
            (one.filesystem, one.figure): one for one in analysis.summaries if one.workload == table.workload
        }
        self._comparisons = {
            (one.filesystem, one.figure): one for one in analysis.comparisons if one.workload == table.workload
        }

    def summary(self, label: str, figure: Figure) -> Summary:
        found = self._summaries.get((label, figure))
        return found or Summary(self.table.workload, figure, label, None, missing="not measured")

    def comparison(self, label: str, figure: Figure) -> Comparison | None:
        """None for the baseline itself."""
        return self._comparisons.get((label, figure))

    def metric(self, figure: Figure) -> Metric:
        return words.metric(self.declaration, figure)

    def title(self, figure: Figure) -> str:
        return words.phase_title(self.declaration, figure.phase)

    def mean(self, label: str, figure: Figure) -> float | None:
        return self.summary(label, figure).geometric_mean

    def amount(self, value: float, figure: Figure) -> str:
        return words.amount(value, self.metric(figure).unit)

    def runs(self, label: str, figure: Figure) -> list[Run]:
        """One for each of the table's blocks."""
        series = self.table.series.get((label, figure))
        if series is None:
            return [(None, False)] * len(self.table.blocks)
        pairs = zip(series.values.tolist(), series.bound.tolist(), strict=True)
        return [(None if math.isnan(value) else value, bound) for value, bound in pairs]
