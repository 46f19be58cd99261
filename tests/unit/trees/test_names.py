"""Which names a tree may hold: those that the strictest filesystem takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fstrial.trees.names import CLASHING, UNPORTABLE, Names, is_portable


@pytest.mark.parametrize(
    "name", ["a", "Makefile", ".gitignore", "a b.c", "Ünïcode.txt", "aux_bus.c", "console.c", "x" * 255, "com1x"]
)
def test_ordinary_names_are_portable(name: str) -> None:
    assert is_portable(name)


@pytest.mark.parametrize(
    "name",
    ["a:b", "a*", "what?", 'say"', "a<b", "a>b", "a|b", "a\\b", "a\nb", "a\x7f", "end.", "end ", "..", ".", "",
     "aux", "AUX.c", "con.h", "nul", "LPT1.txt", "x" * 256, "ü" * 128, b"\xff.c".decode("utf-8", "surrogateescape")],
)  # fmt: skip
def test_names_that_some_filesystem_refuses_are_not(name: str) -> None:
    assert not is_portable(name)


def test_a_bad_folder_refuses_everything_below_it() -> None:
    names = Names()
    assert names.refuse("a:b/c/d.txt") == UNPORTABLE
    assert names.refuse("a:b/c/e.txt") == UNPORTABLE
    assert names.refuse("ab/c/d.txt") == ""


def test_names_that_differ_in_case_only_clash() -> None:
    names = Names()
    assert names.refuse("net/xt_DSCP.c") == ""
    assert names.refuse("net/xt_dscp.c") == CLASHING
    assert names.refuse("NET/other.c") == CLASHING
    assert names.refuse("net/other.c") == ""


def test_a_file_and_a_folder_of_one_name_clash() -> None:
    names = Names()
    assert names.refuse("a/b") == ""
    assert names.refuse("a/b/c") == CLASHING


@given(st.lists(st.text("abAB/.", min_size=1, max_size=6)))
def test_whatever_is_accepted_is_unique_without_case(paths: list[str]) -> None:
    names = Names()
    accepted = [path for path in paths if not names.refuse(path)]
    assert len({path.casefold() for path in accepted}) == len(accepted)
