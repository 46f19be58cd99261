"""The command `fstrial`: its verbs are the files of this room, imported when asked for."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from fstrial import __version__
from fstrial.base.errors import ExitCode, FstrialError

__all__ = ["main"]

_VERBS = ("run", "list", "report", "compare", "doctor", "delete", "completion")
"""In the order a newcomer meets them; a file of this room each."""

_EPILOG = """\b
Examples:
  fstrial run ext4 xfs btrfs                       which does the tree test best here
  fstrial run ext4 'ext4 mount=data=writeback'     two settings of one filesystem
  fstrial run ext4 xfs --on loop:8G --dry-run      what would happen, exactly
  fstrial report last --html trial.html            the last run as a page
\b
Exit status: 0 fine, 1 trials failed, 2 usage, 3 something is missing, 4 the guard refused,
5 the machine failed, 6 damaged or missing data, 70 a defect of fstrial, 130 interrupted.
Data: results are kept in ~/.local/share/fstrial (--store or FSTRIAL_STORE for another place).
"""


class _Verbs(click.Group):
    """A verb is imported when it is used: nothing heavy stands between a person and `--help`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command: click.Command = import_module(f"fstrial.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from fstrial.base.registry import unknown

        if args and not args[0].startswith("-") and args[0] not in _VERBS:
            raise unknown("command", args[0], _VERBS)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Verbs,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="fstrial")
@click.option("-v", "--verbose", is_flag=True, help="Log every program that is run, ready to paste.")
def cli(verbose: bool) -> None:
    """Puts filesystems on trial: a fresh filesystem for each trial, interleaved repetitions, confidence
    intervals, and a verdict that may say "cannot tell"."""
    from fstrial.base.log import speak

    speak(verbose)


def main() -> NoReturn:
    """Run the command line and exit with the code of what happened (base/errors.py)."""
    sys.exit(_guarded())


def _guarded() -> int:
    try:
        outcome = cli.main(standalone_mode=False)
        return outcome if isinstance(outcome, int) else ExitCode.FINE
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except FstrialError as error:
        _complain(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("fstrial: interrupted", err=True)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has seen enough; Python would complain again when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FINE
    except Exception:
        import traceback  # its import is a tenth of the time that --help takes

        traceback.print_exc()
        click.echo("fstrial: this is a defect of fstrial; please report it with the lines above", err=True)
        return ExitCode.DEFECT


def _complain(error: FstrialError) -> None:
    click.echo(f"fstrial: {error.message}", err=True)
    for line in error.hint.splitlines():
        click.echo(f"  → {line}", err=True)


if __name__ == "__main__":
    main()
