"""`fstrial completion`: words for the shell's Tab key."""

from __future__ import annotations

import click

__all__ = ["command"]

_FILES = {
    "bash": "~/.local/share/bash-completion/completions/fstrial",
    "zsh": "~/.zfunc/_fstrial",
    "fish": "~/.config/fish/completions/fstrial.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(sorted(_FILES)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash: fstrial completion bash > ~/.local/share/bash-completion/completions/fstrial
    zsh:  fstrial completion zsh > ~/.zfunc/_fstrial
    fish: fstrial completion fish > ~/.config/fish/completions/fstrial.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click brings all three"
    click.echo(found(ctx.find_root().command, {}, "fstrial", "_FSTRIAL_COMPLETE").source())
