"""`fstrial delete`: a run out of the store."""

from __future__ import annotations

import click

from fstrial.cli._output import store_option

__all__ = ["command"]


@click.command("delete")
@click.argument("run")
@store_option
def command(run: str, store: str | None) -> None:
    """Delete RUN (its number, its label, or `last`) with every figure of it."""
    from fstrial.store.store import Store

    with Store.open(store) as results:
        number = results.resolve(run)
        results.delete(number)
    click.echo(f"run {number} is deleted")
