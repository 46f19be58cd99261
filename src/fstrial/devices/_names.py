"""Names of files as a person can read and type them, whatever bytes they are made of."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

__all__ = ["typed"]


def typed(name: str | Path) -> str:
    """A name as one word of a shell, always printable: `/mnt`, `'/mnt/sp ace'`, `$'/mnt/new\\nline\\xff'`.

    `name` is text by `os.fsdecode`. What is not printable is written as the `$'…'` of bash(1) and POSIX 2024, so that
    a message fits on its line, can be encoded, and its remedy can be pasted.
    """
    text = str(name)
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(_escaped(character) for character in text) + "'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" if byte != 0x0A else "\\n" for byte in os.fsencode(character))
