"""Text like that of C sources, made fast and alike on every machine: only integers and bytes decide.

A line is a beginning, an operand and an end. There are 4096 of each, and near ones share their identifiers; a file
draws from a window of 256 of each, the first of them most often, and files of one directory have windows close
together. So a compressor finds what it finds in real sources: the language everywhere, names in one place.

Randomness is SHAKE-128 (FIPS 202) of a text that says what it is for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache

__all__ = ["WINDOWS", "random_bytes", "text", "word"]

_PIECES = 4096
_WINDOW = 256
_PIECES_A_WORD = 8
_WORDS_NEAR = 48
WINDOWS = _PIECES - _WINDOW
"""`text` takes a window from 0 to this, exclusive."""

_SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghklmnprstvw" for vowel in "aeio")

# {a} and {b} become identifiers, {A} and {B} the same in capitals, {n} and {m} numbers.
_BEGINNINGS = (
    "\t", "\t\t", "\tif (", "\tif (!", "\treturn ", "\t{a} = ", "\t{a}->{b} = ", "\t\t{a} = ", "\t\t{a}->{b} = ",
    "\t\treturn ", "\tfor ({a} = 0; {a} < ", "\tstruct {a} *", "\tint ", "\tu32 ", "\tunsigned long ",
    "static int {a}_", "static void {a}_", "#define {A}_{B} ", "\tcase {A}_", "\t{a}_{b}(", "\t\t{a}_{b}(",
    "\terr = {a}_{b}(", "\tret = {a}_{b}(", "/* {a} {b} ", "\t * {a} the {b} ", "\tmutex_lock(&", "\tmutex_unlock(&",
    "\tkfree(", "\tdev_err(", "struct {a}_{b} {{\n\t", "#include <linux/", "\twhile (", "\t.{a} = ", "\t{{ {A}_{B}, ",
    "\tgoto ", " * @{a}: ",
)  # fmt: skip
_OPERANDS = (
    "{a}", "{a}_{b}", "{a}->{b}", "{A}_{B}", "0x{n:x}", "{a}[{m}]", "&{a}", "{n}", "{a}.{b}", "{a}{m}",
)  # fmt: skip
_ENDS = (
    ";\n", ") {{\n", ", {b});\n", " & {A}_{B});\n", "(struct {b} *{a})\n{{\n", "->{b});\n", ";\n\n", " }},\n",
    " << {m};\n", " < 0)\n\t\treturn {b};\n", ", {n});\n", "_{b}.h>\n", ":\n", " is not {b} */\n", " of the {a}\n",
    "(-EINVAL);\n", ', "{a} {b} %d\\n", {b});\n', ";\n}}\n\n", ";\n\tbreak;\n", " || {b})\n", "), GFP_KERNEL);\n",
    ",\n", " */\n",
)  # fmt: skip

_MOST_OFTEN_FIRST = bytes(index**3 >> 16 for index in range(256))
"""Turns a uniform byte into one that is small more often: piece k with a probability of about k^(-2/3)."""
_OFTEN_FIRST = bytes(index**2 >> 8 for index in range(256))


def random_bytes(purpose: str, count: int) -> bytes:
    """`count` bytes that are the same for the same purpose, everywhere and always."""
    return hashlib.shake_128(purpose.encode()).digest(count)


def text(purpose: str, window: int, size: int) -> bytes:
    """`size` bytes of text, the same for the same arguments; `window` from 0 to WINDOWS says which names it uses."""
    parts: list[bytes] = []
    missing = size
    while missing > 0:
        part = b"".join(_pieces(f"{purpose}, part {len(parts)}", window, missing // 22 + 4))
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)[:size]


def _pieces(purpose: str, window: int, lines: int) -> list[bytes]:
    beginnings, operands, ends = (pool[window : window + _WINDOW] for pool in _pools())
    drawn = random_bytes(purpose, 3 * lines)
    pieces = [b""] * (3 * lines)
    pieces[0::3] = map(beginnings.__getitem__, drawn[:lines].translate(_MOST_OFTEN_FIRST))
    pieces[1::3] = map(operands.__getitem__, drawn[lines : 2 * lines].translate(_OFTEN_FIRST))
    pieces[2::3] = map(ends.__getitem__, drawn[2 * lines :].translate(_MOST_OFTEN_FIRST))
    return pieces


@cache
def _pools() -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Every beginning, operand and end there is."""
    words = [word(f"word {number}") for number in range(_PIECES // _PIECES_A_WORD + _WORDS_NEAR)]
    return (
        list(_pool("beginnings", _BEGINNINGS, words)),
        list(_pool("operands", _OPERANDS, words)),
        list(_pool("ends", _ENDS, words)),
    )


def word(purpose: str) -> str:
    """An identifier of two to four syllables."""
    count, *chosen = random_bytes(purpose, 5)
    return "".join(_SYLLABLES[index % len(_SYLLABLES)] for index in chosen[: 2 + count % 3])


def _pool(purpose: str, templates: tuple[str, ...], words: list[str]) -> Iterator[bytes]:
    drawn = random_bytes(purpose, 6 * _PIECES)
    for number in range(_PIECES):
        which, first, second, low, high, small = drawn[6 * number : 6 * number + 6]
        here = number // _PIECES_A_WORD
        a = words[here + (first * _WORDS_NEAR >> 8)]
        b = words[here + (second * _WORDS_NEAR >> 8)]
        filled = templates[which % len(templates)].format(
            a=a, b=b, A=a.upper(), B=b.upper(), n=low * high, m=small % 64
        )
        yield filled.encode()
