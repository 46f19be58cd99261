"""Where the figures go: exports to files or standard output, the report to the screen."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fstrial.base.errors import DataError

if TYPE_CHECKING:
    from fstrial.model.analysis import Analysis
    from fstrial.model.record import RunRecord

__all__ = ["EXPORTS", "export", "export_options", "report_console", "store_option"]

EXPORTS = ("json", "csv", "markdown", "html", "plan")
"""Formats a run can be written in, by the name of the option."""


def export_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A `--NAME PATH` option for each of those formats."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            option = click.option(
                f"--{name}", metavar="PATH", help=f"Write {_ABOUT[name]} to PATH; - is standard output."
            )
            function = option(function)
        return function

    return decorate


_ABOUT = {
    "json": "everything, versioned JSON,",
    "csv": "every sample, tidy CSV,",
    "markdown": "the report as Markdown",
    "html": "the report as one self-contained page",
    "plan": "the plan as TOML",
}


def store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--store", metavar="URL", help="Results: an SQLite file or any SQLAlchemy URL (also FSTRIAL_STORE)."
    )(function)


def report_console(paths: dict[str, str | None]) -> Any:
    """A rich console for people: standard error when an export takes standard output."""
    from rich.console import Console

    return Console(stderr="-" in paths.values(), highlight=False)


def check_paths(paths: dict[str, str | None]) -> None:
    """Refuse, before anything runs, paths that could not be written at the end. Raises DataError."""
    given = [path for path in paths.values() if path is not None]
    if given.count("-") > 1:
        raise DataError("only one export can go to standard output", "give a file's name for the others")
    for path in given:
        folder = Path(path).resolve().parent
        if path != "-" and (Path(path).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK)):
            raise DataError(f"cannot write {path}", f"is {folder} a folder that you may write to?")


def export(record: RunRecord, analysis: Analysis, paths: dict[str, str | None]) -> None:
    """Write the run in each format for which a path is given. Files appear whole or not at all."""
    for name, path in paths.items():
        if path is None:
            continue
        content = _written(name, record, analysis)
        if path == "-":
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            _replace(Path(path), content)


def _written(name: str, record: RunRecord, analysis: Analysis) -> bytes:
    from fstrial.formats.contract import formats

    if name == "html":
        from fstrial.report import html

        data, plan = (formats.load(other).write(record, analysis) for other in ("json", "plan"))
        return html.render(record, analysis, data, plan.decode()).encode()
    if name == "markdown":
        from fstrial.report import markdown

        return markdown.render(record, analysis).encode()
    return formats.load(name).write(record, analysis)


def _replace(path: Path, content: bytes) -> None:
    """Write beside and rename over, so that a reader never sees half a file."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as beside:
            try:
                beside.write(content)
                beside.flush()
                os.fchmod(beside.fileno(), 0o666 & ~_umask())
                Path(beside.name).replace(path)
            except BaseException:
                Path(beside.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}", "give another path") from error


def _umask() -> int:
    """The umask can only be read by setting it (umask(2))."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
