"""The source that a word means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fstrial.base.errors import UsageError
from fstrial.base.registry import nearest
from fstrial.trees.folders import Folder, System
from fstrial.trees.generated import Generated
from fstrial.trees.member import Source
from fstrial.trees.tarballs import Tarball, linux

__all__ = ["BUILT_IN", "source_of"]

BUILT_IN: dict[str, Callable[[], Source]] = {"system": System, "linux": linux, "generated": Generated}


def source_of(word: str) -> Source:
    """`system`, `linux`, `generated`, or the path of a folder or tarball.

    Raises UsageError when there is nothing by that name, MissingRequirement when `linux` is not installed.
    """
    if word in BUILT_IN:
        return BUILT_IN[word]()
    path = Path(word).expanduser()
    if path.is_dir():
        return Folder(path)
    if path.is_file():
        return Tarball(path)
    close = nearest(word, BUILT_IN)
    raise UsageError(
        f"source: there is no folder or tarball {word!r}",
        (f"did you mean {close!r}? " if close else "") + f"built in: {', '.join(BUILT_IN)}",
    )
