"""`fstrial compare`: two stored runs, the second against the first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from fstrial.base.errors import UsageError
from fstrial.cli._output import store_option

if TYPE_CHECKING:
    from fstrial.model.record import RunRecord

__all__ = ["command"]


@click.command("compare")
@click.argument("run_a")
@click.argument("run_b")
@click.option(
    "--allow",
    multiple=True,
    metavar="FACT",
    help="Compare although the runs differ in this fact too (kernel, device, ...).",
)
@store_option
def command(run_a: str, run_b: str, allow: tuple[str, ...], store: str | None) -> None:
    """Compare RUN_B with RUN_A, filesystem by filesystem.

    One fact may differ between the two (a kernel, a device, a mount option): it is what is compared. Runs that differ
    in more are refused unless each further fact is named with --allow. The runs were not interleaved: what else
    changed on the machine in between is part of the ratio.
    """
    from fstrial.stats.across import compare_runs, differences
    from fstrial.store.store import Store

    with Store.open(store) as results:
        first, second = (results.load(results.resolve(name)) for name in (run_a, run_b))
    unlike = differences(first, second)
    _refuse_unlike(unlike, allow)
    across = compare_runs(first, second)
    if not across.comparisons:
        raise UsageError(
            f"runs {first.id} and {second.id} have no filesystem and workload in common",
            "compare runs that share labels: `fstrial list runs`",
        )
    _print(first, second, unlike, across)


def _refuse_unlike(unlike: dict[str, tuple[str, str]], allow: Iterable[str]) -> None:
    from fstrial.base.registry import unknown

    allowed = set(allow)
    for name in allowed - set(unlike):
        raise unknown("differing fact", name, unlike or ("none: the runs differ in nothing",))
    others = [name for name in unlike if name not in allowed]
    if len(others) > 1:
        told = "\n".join(
            f"{name}: {unlike[name][0] or 'none'}  against  {unlike[name][1] or 'none'}" for name in others
        )
        raise UsageError(
            "the runs differ in more than one fact, so a difference could come from any of them",
            f"{told}\nto compare all the same, allow all but the one that is meant:  "
            + " ".join(f"--allow {name}" for name in others[1:]),
        )


def _print(first: RunRecord, second: RunRecord, unlike: dict[str, tuple[str, str]], across: object) -> None:
    from rich.console import Console

    from fstrial.report.across import render
    from fstrial.stats.across import Across

    assert isinstance(across, Across)
    render(first, second, unlike, across, Console(highlight=False))
