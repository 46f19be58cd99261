"""`fstrial run`: from words to a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fstrial.base.errors import ExitCode, TrialsFailed, UsageError
from fstrial.cli._output import check_paths, export, export_options, report_console, store_option

if TYPE_CHECKING:
    from rich.console import Console

    from fstrial.model.plan import Plan
    from fstrial.model.record import RunRecord
    from fstrial.planning.contract import Catalogue
    from fstrial.run.cost import Cost
    from fstrial.store.store import Store

__all__ = ["command"]

_ASK_ABOVE_S = 3600.0
_ASK_ABOVE_BYTES = 200 * 1024**3
_EXPORTS = ("json", "csv", "markdown", "html")


@click.command("run")
@click.argument("filesystems", nargs=-1, metavar="FILESYSTEM...")
@click.option(
    "-w",
    "--workload",
    "workloads",
    multiple=True,
    help="Workload (tree unless given); see `fstrial list workloads`.",
)
@click.option(
    "--on",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="loop:SIZE[@FOLDER] (default), ram:SIZE, /dev/..., dir:PATH. Given twice, targets are compared.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of a workload (tree.scale=0.1), or sync=phase|end, fsck=yes, verify=no.",
)
@click.option("--baseline", metavar="LABEL", help="What the others are compared with (the first named unless given).")
@click.option("--until", metavar="5%", help="Go on until every main ratio is known to ± this (default 5%).")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Exactly N blocks instead.")
@click.option("--max-runs", type=click.IntRange(1), metavar="N", help="No more than N blocks (default 20).")
@click.option("--budget", metavar="10m", help="No new block after this time (default 10m with --until).")
@click.option(
    "--aa",
    is_flag=True,
    default=None,
    help="Run the baseline twice, blindly: their difference is the machine's noise floor.",
)
@click.option("--memory", metavar="SIZE", help="Bound the page cache of the trials, by a memory cgroup.")
@click.option("--seed", type=int, metavar="N", help="Of the shuffled order (recorded in any case).")
@click.option(
    "--plan",
    "plan_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.toml",
    help="Take the plan from a file; options given here override it.",
)
@click.option("--resume", metavar="RUN", help="Go on with a run that was interrupted or killed.")
@click.option("--label", metavar="TEXT", help="A name for the run.")
@store_option
@click.option(
    "--erase",
    multiple=True,
    metavar="IDENTITY",
    help="Consent to erase the real device with this serial or UUID.",
)
@click.option("--yes", is_flag=True, help="Answer yes to questions about time and bytes; never about data.")
@click.option("--dry-run", is_flag=True, help="Print what would run, on what, in which order, and its cost.")
@export_options(*_EXPORTS)
def command(
    resume: str | None,
    store: str | None,
    erase: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    **words: Any,
) -> int:
    """Put filesystems on trial.

    FILESYSTEM is a type with options in one shell word: ext4, 'ext3 mount=data=writeback,noatime',
    'ext3 mkfs="-J size=16" label="ext3 big journal"'. The first is the baseline. The same type twice with other
    options compares the two settings.

    \b
      fstrial run ext4 xfs btrfs
      fstrial run ext4 'btrfs mount=compress-force=zstd' --set tree.scale=0.3
      fstrial run ext4 xfs --on /dev/sdb --erase S3Z9NB0K --until 2% --budget 2h
      fstrial run --on dir:/mnt/nfs --on dir:/mnt/local     (needs no root)
    """
    paths = {name: words.pop(name) for name in _EXPORTS}
    check_paths(paths)
    console = report_console(paths)
    from fstrial.store.store import Store

    with Store.open(store) as results:
        if resume is not None:
            _refuse_with_resume(words)
            run_id = results.resolve(resume)
            plan = results.load(run_id).plan
        else:
            run_id, plan = None, _plan(words)
        return _run(plan, run_id, results, console, erase, paths, yes=yes, dry_run=dry_run)


def _run(
    plan: Plan,
    run_id: int | None,
    results: Store,
    console: Console,
    erase: tuple[str, ...],
    paths: dict[str, str | None],
    *,
    yes: bool,
    dry_run: bool,
) -> int:
    from fstrial.base.place import mount_root
    from fstrial.cli._progress import Estimate, watching
    from fstrial.hosts.contract import hosts
    from fstrial.model.wire import Start
    from fstrial.report import terminal
    from fstrial.run.cost import expected_cost
    from fstrial.run.machine import environment
    from fstrial.run.preflight import preflight
    from fstrial.run.preview import preview
    from fstrial.run.session import run_session
    from fstrial.stats.analysis import analyse

    ready = preflight(plan, erase)
    cost = expected_cost(plan, ready, results)
    if dry_run:
        for line in preview(plan, ready, cost, mount_root(make=False)):
            click.echo(line)
        return ExitCode.FINE
    _ask(cost, yes)
    here = environment(ready.programs)
    if run_id is None:
        run_id = results.begin(plan, here, ready.declarations)
    else:
        _check_same_machine(results.load(run_id), here.kernel)
        results.reopen(run_id)
    start = Start(plan, ready.sizes, erase, str(mount_root()))
    try:
        with watching(console, Estimate(plan, cost.trial_s)) as events:
            ending = run_session(run_id, start, hosts.load("native")(), results, events)
    except KeyboardInterrupt:
        kept = len(results.load(run_id).trials)
        click.echo(
            f"\nfstrial: interrupted; {kept} finished trials are kept as run {run_id}\n"
            f"  → go on:   fstrial run --resume {run_id}\n  → look:    fstrial report {run_id}",
            err=True,
        )
        return ExitCode.INTERRUPTED
    record = results.load(run_id)
    analysis = analyse(record)
    terminal.render(record, analysis, console)
    export(record, analysis, paths)
    if ending.content:
        raise TrialsFailed(f"WRONG CONTENT: {ending.reason}: {ending.content}", f"fstrial report {run_id}")
    return _exit_code(record)


def _exit_code(record: RunRecord) -> ExitCode:
    from fstrial.model.trial import Outcome

    failed = any(kept.result.outcome in (Outcome.FAILED, Outcome.LOST) for kept in record.trials)
    return ExitCode.TRIALS_FAILED if failed else ExitCode.FINE


def _plan(words: dict[str, Any]) -> Plan:
    from fstrial.planning.contract import Request
    from fstrial.planning.plans import plan_from

    request = Request(**words)
    return plan_from(request, _catalogue())


def _catalogue() -> Catalogue:
    from fstrial.devices.contract import target_of
    from fstrial.filesystems.contract import filesystems
    from fstrial.planning.contract import Catalogue
    from fstrial.workloads.contract import workloads

    return Catalogue(
        filesystems=filesystems.names(),
        workloads=workloads.names(),
        configure=lambda name, settings: workloads.load(name)(settings),
        detected=lambda word: target_of(word).detected_filesystem(),
    )


def _refuse_with_resume(words: dict[str, Any]) -> None:
    """A resumed run has its plan; what would change it is refused rather than ignored."""
    given = [name for name, value in words.items() if value not in (None, (), False)]
    if given:
        raise UsageError(
            f"--resume goes on with the stored plan; it takes no {', '.join(sorted(given))}",
            "start a new run for another plan",
        )


def _check_same_machine(record: RunRecord, kernel: str) -> None:
    if record.environment.kernel != kernel:
        raise UsageError(
            f"run {record.id} was begun on kernel {record.environment.kernel}; this is {kernel}",
            "its blocks would not compare; start a new run and `fstrial compare` the two",
        )


def _ask(cost: Cost, yes: bool) -> None:
    """Ask about a large cost; where nobody can answer, refuse rather than wait."""
    import sys

    from fstrial.base.units import format_duration, format_size

    if yes or (cost.least_s < _ASK_ABOVE_S and cost.write_bytes_least < _ASK_ABOVE_BYTES):
        return
    what = f"this takes at least {format_duration(cost.least_s)} and writes {format_size(cost.write_bytes_least)}"
    if not sys.stdin.isatty():
        raise UsageError(what, "give --yes if that is meant, or look closer with --dry-run")
    click.confirm(f"{what}. Go on?", abort=True)
