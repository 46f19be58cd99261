"""A share of a source: its first files, in its stable order, until the bytes wanted are reached."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fstrial.base.errors import UsageError
from fstrial.base.units import format_size
from fstrial.trees.manifest import Tally, digester, folders_of
from fstrial.trees.member import LeftOut, Member, Source
from fstrial.trees.names import Names

__all__ = [
    "PUBLISHED_BYTES",
    "Survey",
    "TooSmall",
    "describe",
    "fitting_scale",
    "share_bytes",
    "survey",
    "take",
]

PUBLISHED_BYTES = 655 * 1024 * 1024
"""The three kernel source trees of the published test of 2007, without metadata and block rounding."""


@dataclass(frozen=True)
class Survey:
    """A share as it looks before its content is read. `key` changes when the source does, as far as it can tell."""

    tally: Tally
    largest_file_bytes: int
    longest_name_bytes: int
    key: str


class TooSmall(UsageError):
    """A source has fewer bytes than are wanted."""

    def __init__(self, message: str, held_bytes: int) -> None:
        super().__init__(message, "take a smaller share, or name another source")
        self.held_bytes = held_bytes


def share_bytes(scale: float, published_bytes: int = PUBLISHED_BYTES) -> int:
    """Bytes of a share of a published tree."""
    return round(scale * published_bytes)


def fitting_scale(held_bytes: int, published_bytes: int = PUBLISHED_BYTES) -> float:
    """The largest share of a published tree that a source of so many bytes holds, to three significant digits."""
    return _round_down(held_bytes / published_bytes)


def take(source: Source, wanted_bytes: int, left_out: Counter[str]) -> Iterator[Member]:
    """The share's members. `left_out` counts, by reason, what was met and cannot be in the tree.

    The member that reaches `wanted_bytes` is the last. Raises TooSmall when there is less.
    """
    names = Names()
    largest = wanted_bytes if source.largest_share is None else int(wanted_bytes * source.largest_share)
    taken_bytes = 0
    for member in source.members():
        reason = _reason_against(member, names, largest if source.largest_share else None)
        if reason or isinstance(member, LeftOut):
            left_out[reason] += 1
            continue
        yield member
        taken_bytes += member.size
        if taken_bytes >= wanted_bytes:
            return
    raise _too_small(source, wanted_bytes, taken_bytes, left_out)


def _reason_against(member: Member | LeftOut, names: Names, largest: int | None) -> str:
    if isinstance(member, LeftOut):
        return member.reason
    if largest is not None and member.size > largest:
        return f"files above {format_size(largest)}"
    return names.refuse(member.path)


def _too_small(source: Source, wanted_bytes: int, held_bytes: int, left_out: Counter[str]) -> TooSmall:
    without = f", without {describe(left_out)}" if left_out else ""
    return TooSmall(
        f"{source.where} holds {format_size(held_bytes)}{without}; {format_size(wanted_bytes)} are wanted", held_bytes
    )


def _round_down(value: float) -> float:
    """To three significant digits."""
    if value <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.floor(value / step) * step


def describe(left_out: Mapping[str, int]) -> str:
    """`symbolic links (29), devices (1)`: most frequent first."""
    return ", ".join(f"{reason} ({number})" for reason, number in sorted(left_out.items(), key=lambda one: -one[1]))


def survey(source: Source, wanted_bytes: int) -> Survey:
    """Look at a share without reading it. Raises what `take` raises."""
    key = digester()
    folders: set[str] = set()
    files = size_bytes = largest = longest = 0
    for member in take(source, wanted_bytes, Counter()):
        folder = member.path.rpartition("/")[0]
        if folder and folder not in folders:
            folders.update(folders_of(member.path))
        key.update(f"{member.path}\0{member.size}\0{member.stamp}\0".encode())
        files += 1
        size_bytes += member.size
        largest = max(largest, member.size)
        longest = max(longest, *(len(name.encode()) for name in member.path.split("/")))
    tally = Tally(files, len(folders), size_bytes)
    return Survey(tally, largest, longest, key.hexdigest())
