"""`fstrial list`: what there is, what this machine can do of it, and why not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

import click

from fstrial.cli._output import store_option

__all__ = ["command"]


@click.group("list")
def command() -> None:
    """List filesystems, workloads or runs."""


@command.command("filesystems")
def _filesystems() -> None:
    """Each filesystem: whether it runs here, and the reason if not."""
    from fstrial.base.units import format_size
    from fstrial.filesystems.contract import filesystems

    rows = []
    for name in filesystems.names():
        filesystem = filesystems.load(name)()
        reasons = filesystem.unsupported_here()
        if os.geteuid() != 0:
            reasons = (*reasons, "making and mounting it needs root")
        state = "no: " + "; ".join(reasons) if reasons else "yes"
        how = "FUSE" if filesystem.fuse else "kernel"
        rows.append((name, state, how, format_size(filesystem.minimum_bytes), filesystem.package))
    _table(("filesystem", "runs here", "by", "minimum", "package"), rows)


@command.command("workloads")
@click.argument("name", required=False)
def _workloads(name: str | None) -> None:
    """Each workload, and with NAME its settings."""
    from fstrial.base.proc import find
    from fstrial.workloads.contract import workloads

    if name is None:
        rows = []
        for one in workloads.names():
            load = workloads.load(one)
            absent = [program for program in load().requires() if find(program) is None]
            rows.append((one, "no: not installed: " + ", ".join(absent) if absent else "yes", load.summary))
        _table(("workload", "runs here", "what it does"), rows)
        click.echo("\nIts settings:  fstrial list workloads NAME")
        return
    load = workloads.load(name)
    click.echo(f"{name}: {load.summary}\n")
    _table(("--set", "default", "meaning"), [(f"{name}.{key.name}", key.default, key.about) for key in load.keys])


@command.command("runs")
@store_option
def _runs(store: str | None) -> None:
    """Runs in the store, the newest last."""
    from fstrial.store.store import Store

    with Store.open(store) as results:
        kept = results.runs()
    if not kept:
        click.echo("no runs yet:  fstrial run ext4 xfs")
        return
    _table(
        ("run", "begun", "state", "trials", "filesystems", "workloads", "label"),
        [
            (
                str(run.id),
                datetime.fromtimestamp(run.created_at).strftime("%Y-%m-%d %H:%M"),
                run.state.value,
                str(run.trials),
                ", ".join(run.filesystems),
                ", ".join(run.workloads),
                run.label,
            )
            for run in kept
        ],
    )


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Columns on a terminal; one whole line a row on a pipe, so that grep and cut work."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        for row in (headings, *rows):
            click.echo("\t".join(row))
        return
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
