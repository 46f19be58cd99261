"""`fstrial report`: a stored run again, on the screen or in any format."""

from __future__ import annotations

import click

from fstrial.cli._output import EXPORTS, check_paths, export, export_options, report_console, store_option

__all__ = ["command"]


@click.command("report")
@click.argument("run")
@export_options(*EXPORTS)
@store_option
def command(run: str, store: str | None, **paths: str | None) -> None:
    """Show RUN again: its number, its label, or `last`.

    Without options the terminal report; with them only the files asked for. `--plan` writes a plan that
    `fstrial run --plan` runs again; it carries no consent to erase anything.
    """
    from fstrial.report import terminal
    from fstrial.stats.analysis import analyse
    from fstrial.store.store import Store

    check_paths(paths)
    with Store.open(store) as results:
        record = results.load(results.resolve(run))
    analysis = analyse(record)
    export(record, analysis, paths)
    if not any(paths.values()):
        terminal.render(record, analysis, report_console(paths))
