"""The whole run at once: summaries, comparisons with Holm's correction, flags, and the outlook.

The procedure and the reasons for it: docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fstrial.base.errors import DataError
from fstrial.model.analysis import Analysis, Comparison, Flag
from fstrial.model.record import RunRecord
from fstrial.stats import holm
from fstrial.stats.compare import Draft, compare, family_p, finish
from fstrial.stats.flags import run_flags, workload_flags
from fstrial.stats.series import Table, complete_blocks, tables
from fstrial.stats.stopping import inflation, outlook
from fstrial.stats.summaries import summarise
from fstrial.stats.verdict import ALPHA

__all__ = ["analyse"]


def analyse(record: RunRecord) -> Analysis:
    """All that the statistics say about a run, finished or not.

    Raises DataError when the record's baseline is none of its candidates.
    """
    plan = record.plan
    if plan.baseline not in [candidate.label for candidate in plan.candidates()]:
        raise DataError(f"the baseline {plan.baseline!r} is not among the filesystems of this run")
    workloads = tables(record)
    drafts = [draft for table in workloads for draft in _compare_all(table, plan.baseline, inflation(plan.rule))]
    comparisons = _correct(drafts)
    tested = [draft for draft in drafts if draft.tested]
    blocks = complete_blocks(record)
    summaries = {table.workload: summarise(table) for table in workloads}
    flags: list[Flag] = []
    for table in workloads:
        own = [draft for draft in drafts if draft.table is table]
        flags.extend(workload_flags(table, summaries[table.workload], own))
    flags.extend(run_flags(plan.rule, blocks, len(tested), comparisons))
    return Analysis(
        blocks=blocks,
        main_comparisons=len(tested),
        summaries=tuple(one for cells in summaries.values() for one in cells),
        comparisons=comparisons,
        flags=tuple(flags),
        outlook=outlook(plan.rule, blocks, tested),
    )


def _compare_all(table: Table, baseline: str, widening: float) -> Iterator[Draft]:
    for figure in table.figures:
        for candidate in table.candidates:
            if candidate.label != baseline:
                yield compare(table, figure, candidate, baseline, widening)


def _correct(drafts: Sequence[Draft]) -> tuple[Comparison, ...]:
    """Holm's correction over the main comparisons of the whole run, whether or not each has a value yet."""
    tested = [index for index, draft in enumerate(drafts) if draft.tested]
    p = np.array([family_p(drafts[index]) for index in tested])
    corrected = zip(holm.adjust(p).tolist(), holm.levels(p, ALPHA).tolist(), strict=True)
    by_index = dict(zip(tested, corrected, strict=True))
    return tuple(finish(draft, *by_index.get(index, (None, None))) for index, draft in enumerate(drafts))
