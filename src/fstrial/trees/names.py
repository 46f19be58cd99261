"""Names that any filesystem can hold, so that every candidate gets the same tree.

The strictest common rules are those of Windows, which exFAT, vfat and NTFS keep: forbidden characters, no dot or
space at the end, no device names, case ignored ("Naming Files, Paths, and Namespaces", Microsoft).
"""

from __future__ import annotations

import re

__all__ = ["CLASHING", "UNPORTABLE", "Names", "is_portable"]

UNPORTABLE = "names that FAT or NTFS cannot hold"
CLASHING = "names that are taken when case is ignored"

_MAXIMUM_NAME_BYTES = 255
_PORTABLE = re.compile(
    r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$))"
    r'[^\\:*?"<>|\x00-\x1f\x7f\ud800-\udfff]+'  # surrogates: bytes that are no UTF-8
    r"(?<![. ])",
    re.IGNORECASE,
)


def is_portable(name: str) -> bool:
    """Whether every filesystem can hold one component of a path."""
    return _PORTABLE.fullmatch(name) is not None and len(name.encode()) <= _MAXIMUM_NAME_BYTES


class Names:
    """The names of one tree so far."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {"": ""}
        self._spelled: set[str] = set()

    def refuse(self, path: str) -> str:
        """Why a file of that path cannot be in the tree, or an empty text: then the name is taken."""
        folder, _, name = path.rpartition("/")
        return self._refuse_folder(folder) or self._refuse_new(path, name)

    def _refuse_folder(self, folder: str) -> str:
        """Files come folder by folder, so the answer for each is kept."""
        if folder not in self._folders:
            parent, _, name = folder.rpartition("/")
            self._folders[folder] = self._refuse_folder(parent) or self._refuse_new(folder, name)
        return self._folders[folder]

    def _refuse_new(self, path: str, name: str) -> str:
        if not is_portable(name):
            return UNPORTABLE
        key = path.casefold()
        if key in self._spelled:
            return CLASHING
        self._spelled.add(key)
        return ""
