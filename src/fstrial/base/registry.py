"""Rooms whose parts are found by file name: one file a filesystem, workload, format or host.

A part named `ntfs-3g` lives in `ntfs_3g.py`. Listing the names imports nothing; a part is imported when it is
first asked for. Files whose name begins with `_` and the room's `contract.py` are not parts.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable
from functools import cached_property
from typing import Generic, TypeVar

from fstrial.base.errors import UsageError

__all__ = ["Registry", "nearest", "unknown"]

Part = TypeVar("Part")


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like the one given, or an empty text."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else ""


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name nobody knows: it suggests the nearest one and lists the others."""
    names = sorted(known)
    close = nearest(name, names)
    hint = f"did you mean {close!r}? " if close else ""
    return UsageError(f"unknown {what} {name!r}", f"{hint}known: {', '.join(names)}")


class Registry(Generic[Part]):
    """The parts of one room.

    `package` is the room's dotted name, `attribute` the name each part's module gives to what it brings
    (a class or an object), `what` the field's word for it in errors. `apart` are files of the room that are no
    parts.
    """

    def __init__(self, package: str, attribute: str, what: str, apart: tuple[str, ...] = ()) -> None:
        self._package = package
        self._attribute = attribute
        self._what = what
        self._apart = {*apart, "contract"}

    def names(self) -> tuple[str, ...]:
        return self._names

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Looked up once: a trial asks several times, and a room's files do not change under it."""
        room = importlib.import_module(self._package)
        return tuple(
            sorted(
                module.name.replace("_", "-")
                for module in pkgutil.iter_modules(room.__path__)
                if not module.name.startswith("_") and module.name not in self._apart
            )
        )

    def load(self, name: str) -> Part:
        """The part of that name. Raises UsageError with the nearest known name."""
        if name not in self.names():
            raise unknown(self._what, name, self.names())
        module = importlib.import_module(f"{self._package}.{name.replace('-', '_')}")
        part: Part = getattr(module, self._attribute)
        return part
