"""Words of the command line: a filesystem with its options, and the KEY=VALUE of `--set`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fstrial.base.errors import UsageError
from fstrial.base.registry import unknown
from fstrial.model.plan import FilesystemChoice

__all__ = [
    "Assignment",
    "assignment",
    "comma_list",
    "filesystem_choice",
    "label_for",
    "split_words",
    "switch",
]

_KEYS = ("mkfs", "mount", "label")
_SAFE_IN_DOUBLE_QUOTES = re.compile(r"[^\"\\$`]+")


@dataclass(frozen=True)
class Assignment:
    """`tree.scale=0.1`: owner `tree`, key `scale`; `sync=end`: no owner, it is the plan's own."""

    owner: str
    key: str
    value: str


def filesystem_choice(word: str) -> FilesystemChoice:
    """The filesystem that a word means, such as `ext3 mkfs="-J size=16" mount=noatime label="ext3 big journal"`.

    The word is split as a shell would, the value of `mkfs` once more into arguments, that of `mount` at its
    commas. Raises UsageError, with the nearest key for one it does not know.
    """
    parts = split_words(word, f"filesystem {word!r}")
    if not parts:
        raise UsageError("a filesystem's name is empty", "name one, such as ext4")
    kind, given = parts[0], _keys(word, parts[1:])
    mkfs = split_words(given.get("mkfs", ""), f"mkfs options of {word!r}")
    mount = comma_list(given.get("mount", ""))
    label = given.get("label")
    if label is not None and not label.strip():
        raise UsageError(f"filesystem {word!r}: its label is empty", "leave label= out for the default")
    return FilesystemChoice(kind, label or label_for(kind, mkfs, mount), mkfs, mount)


def label_for(kind: str, mkfs: Sequence[str] = (), mount: Sequence[str] = ()) -> str:
    """What tables call a filesystem without a label of its own: type and options, as a word that means the same."""
    words = [kind]
    if mkfs:
        words.append(f"mkfs={_quoted(shlex.join(mkfs))}")
    if mount:
        words.append(f"mount={_quoted(','.join(mount))}")
    return " ".join(words)


def assignment(word: str) -> Assignment:
    """The parts of a `--set` word. Raises UsageError when it is no KEY=VALUE."""
    name, equals, value = word.partition("=")
    owner, dot, key = name.strip().partition(".")
    if not dot:
        owner, key = "", owner
    if not (equals and key):
        raise UsageError(f"--set {word!r} is no KEY=VALUE", "write it as tree.scale=0.1 or sync=end")
    return Assignment(owner, key, value.strip())


def switch(text: str, what: str) -> bool:
    """True of `yes`, False of `no`. Raises UsageError."""
    if text not in ("yes", "no"):
        raise UsageError(f"{what}: {text!r} is neither yes nor no")
    return text == "yes"


def split_words(text: str, what: str) -> tuple[str, ...]:
    """The words of a text as a shell would split it. Raises UsageError for a quote that does not end."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{what}: {str(error).lower()}", "quotes come in pairs") from None


def comma_list(text: str) -> tuple[str, ...]:
    """The items between commas, without empty ones."""
    return tuple(item for part in text.split(",") if (item := part.strip()))


def _keys(word: str, parts: Iterable[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(
                f"filesystem {word!r}: {part!r} is no key=value",
                f'the keys are {", ".join(_KEYS)}; quote a value that has spaces: mkfs="-b 1024"',
            )
        if key not in _KEYS:
            raise unknown(f"key in filesystem {word!r}:", key, _KEYS)
        if key in given:
            raise UsageError(f"filesystem {word!r}: {key}= is given twice")
        given[key] = value
    return given


def _quoted(text: str) -> str:
    """Bare where a shell would leave it so, in double quotes where that is enough: people read these."""
    if shlex.quote(text) == text:
        return text
    return f'"{text}"' if _SAFE_IN_DOUBLE_QUOTES.fullmatch(text) else shlex.quote(text)
