"""A tree like a kernel's source tree, the same on every machine: two machines that use it can be compared.

Depth, files a directory and sizes follow Debian's linux-source-6.1 (6.1.192) without its 84 files above 1 MiB, which
are tables of register names and hold 27 % of its bytes: 78 495 files of 12 069 bytes on average in 5 094
directories, 4.8 times smaller by gzip.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, count

from fstrial.trees.language import WINDOWS, random_bytes, text, word
from fstrial.trees.member import Member, Source

__all__ = ["Generated"]

_VERSION = 1
"""Names the tree: change it whenever the tree changes."""

# All three measured in that tree. Index k counts what lies from 2^(k-1) up to 2^k, exclusive; index 0 counts zero.
_FILES_BY_SIZE = (
    30, 0, 0, 2, 51, 140, 393, 985, 2366, 5088, 7503, 11022, 12778, 12886, 11014, 7655, 4229, 1723, 450, 129, 51,
)  # fmt: skip
_DIRECTORIES_BY_FILES = (319, 410, 964, 1254, 990, 634, 324, 126, 56, 12, 3, 1, 1)
_DIRECTORIES_BY_DEPTH = (0, 24, 608, 1504, 1383, 835, 286, 233, 164, 56)

_ENDINGS = (".c",) * 13 + (".h",) * 10 + (".rst", ".txt", ".yaml", ".dts", ".dtsi", ".S", ".json", ".sh", ".mk")
_NEIGHBOURS = 1024
"""How far apart the windows of one directory's files lie."""


class Generated(Source):
    where = f"generated files like those of a kernel's source tree (generator {_VERSION})"

    def members(self) -> Iterator[Member]:
        newest = [""]
        for number in count():
            purpose = f"fstrial tree {_VERSION}, directory {number}"
            depth_draw, files_draw, within_draw, window = _draws(purpose, 4)
            depth = min(_bin(_BY_DEPTH, depth_draw), len(newest))
            folder = f"{newest[depth - 1]}{word(purpose)}{number}/"
            newest[depth:] = [folder, *newest[depth + 1 :]]
            files = _within(_bin(_BY_FILES, files_draw), within_draw)
            for index in range(files):
                yield _file(f"{purpose}, file {index}", folder, index, window)


def _file(purpose: str, folder: str, index: int, near: int) -> Member:
    size_draw, within_draw, offset, ending = _draws(purpose, 4)
    window = (near % (WINDOWS - _NEIGHBOURS)) + offset % _NEIGHBOURS
    size = _within(_bin(_BY_SIZE, size_draw), within_draw)
    name = f"{word(purpose)}{index}{_ENDINGS[ending % len(_ENDINGS)]}"
    return Member(folder + name, size, _VERSION, lambda: iter((text(purpose, window, size),)))


def _draws(purpose: str, wanted: int) -> tuple[int, ...]:
    """Integers of 32 bits."""
    return struct.unpack(f"<{wanted}I", random_bytes(purpose, 4 * wanted))


def _bin(cumulative: list[int], draw: int) -> int:
    """The index whose weight the draw falls into."""
    return bisect_right(cumulative, draw * cumulative[-1] >> 32)


def _within(index: int, draw: int) -> int:
    """A number from 2^(index-1) up to 2^index, small ones more often.

    low * 2^u for a uniform u, with the parabola 1 + u (u + 2) / 3 in place of 2^u: no floating point, so no machine
    differs in a last digit.
    """
    if index == 0:
        return 0
    low = 1 << (index - 1)
    return low + (low * draw * (draw + (2 << 32)) // 3 >> 64)


_BY_SIZE = list(accumulate(_FILES_BY_SIZE))
_BY_FILES = list(accumulate(_DIRECTORIES_BY_FILES))
_BY_DEPTH = list(accumulate(_DIRECTORIES_BY_DEPTH))
