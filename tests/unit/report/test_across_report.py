"""Two runs on a terminal: every figure with its ratio, verdicts, and the caveat. Synthetic runs."""

from __future__ import annotations

import io

from rich.console import Console

from fakes.records import Fault, make_record
from fstrial.report.across import render
from fstrial.stats.across import compare_runs, differences


def _shown(width: int = 80, **second: object) -> str:
    first, other = make_record(blocks=8, seed=1, run_id=3), make_record(blocks=8, seed=2, run_id=4, **second)
    screen = io.StringIO()
    console = Console(file=screen, width=width)
    render(first, other, differences(first, other), compare_runs(first, other), console)
    return screen.getvalue()


def test_every_column_of_the_workload_is_a_row_that_fits_into_eighty_columns() -> None:
    text = _shown()
    assert "run 4 / run 3" in text
    for title in ("Copy in", "tar -czf", "Delete all", "Total"):
        assert title in text
    assert "…" not in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_caveat_is_always_said() -> None:
    assert "not interleaved" in " ".join(_shown().split())


def test_failed_trials_are_counted_not_compared() -> None:
    text = " ".join(_shown(faults=(Fault("xfs", "copy_in"),)).split())
    assert "failed 0 of 8 then, 8 of 8 now" in text


def test_what_only_one_run_has_is_named() -> None:
    first, other = make_record(("ext4", "xfs"), 5, run_id=3), make_record(("ext4",), 5, run_id=4)
    screen = io.StringIO()
    render(first, other, {}, compare_runs(first, other), Console(file=screen, width=80))
    assert "only in run 3: xfs, tree" in screen.getvalue()
