"""Words of the command line."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fstrial.base.errors import UsageError
from fstrial.model.plan import FilesystemChoice
from fstrial.planning.words import Assignment, assignment, filesystem_choice, label_for

_text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=15)
_option = _text.filter(lambda text: text.strip() == text and "," not in text)


@pytest.mark.parametrize(
    ("word", "choice"),
    [
        ("ext4", FilesystemChoice("ext4", "ext4")),
        (
            "ext3 mount=data=writeback,noatime",
            FilesystemChoice("ext3", "ext3 mount=data=writeback,noatime", (), ("data=writeback", "noatime")),
        ),
        (
            'ext3 mkfs="-J size=16" mount=noatime label="ext3 big journal"',
            FilesystemChoice("ext3", "ext3 big journal", ("-J", "size=16"), ("noatime",)),
        ),
        (
            '  xfs   mkfs="-b size=1024"  ',
            FilesystemChoice("xfs", 'xfs mkfs="-b size=1024"', ("-b", "size=1024")),
        ),
        (
            "ext4 mkfs='-L \"my disk\" -m 0'",
            FilesystemChoice("ext4", "ext4 mkfs=\"-L 'my disk' -m 0\"", ("-L", "my disk", "-m", "0")),
        ),
        ("btrfs mount=,compress=zstd,", FilesystemChoice("btrfs", "btrfs mount=compress=zstd", (), ("compress=zstd",))),
    ],
)
def test_a_filesystem_word_is_read_as_a_shell_would(word: str, choice: FilesystemChoice) -> None:
    assert filesystem_choice(word) == choice


@settings(deadline=None)
@given(_text, st.lists(_text, max_size=4), st.lists(_option, max_size=4), _text.filter(str.strip))
def test_what_was_quoted_for_a_shell_comes_back(kind: str, mkfs: list[str], mount: list[str], label: str) -> None:
    parts = {"mkfs": shlex.join(mkfs), "mount": ",".join(mount), "label": label}
    word = shlex.join([kind, *(f"{key}={value}" for key, value in parts.items())])
    assert filesystem_choice(word) == FilesystemChoice(kind, label, tuple(mkfs), tuple(mount))


@settings(deadline=None)
@given(_text, st.lists(_text, max_size=4), st.lists(_option, max_size=4))
def test_a_default_label_is_itself_a_word_for_the_same(kind: str, mkfs: list[str], mount: list[str]) -> None:
    kind = kind.replace(" ", "") or "ext4"
    read = filesystem_choice(label_for(shlex.quote(kind), mkfs, mount))
    assert (read.type, read.mkfs, read.mount) == (kind, tuple(mkfs), tuple(mount))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("ext4 moutn=noatime", "did you mean 'mount'?"),
        ("ext4 noatime", "no key=value"),
        ('ext4 mkfs="-b 1024', "no closing quotation"),
        ("ext4 mkfs='-L \"x'", "mkfs options of"),
        ("ext4 mount=ro mount=rw", "mount= is given twice"),
        ("ext4 label=''", "label is empty"),
        ("", "name is empty"),
        ("   ", "name is empty"),
    ],
)
def test_a_word_that_cannot_be_read_says_why(word: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        filesystem_choice(word)
    assert said in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("tree.scale=0.1", Assignment("tree", "scale", "0.1")),
        ("sync=end", Assignment("", "sync", "end")),
        ("tree.source=/srv/a=b.tar", Assignment("tree", "source", "/srv/a=b.tar")),
        ("tree.source=", Assignment("tree", "source", "")),
    ],
)
def test_a_setting_is_owner_key_and_value(word: str, expected: Assignment) -> None:
    assert assignment(word) == expected


@pytest.mark.parametrize("word", ["scale", "=1", "tree.=1", ""])
def test_what_is_no_setting_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="no KEY=VALUE"):
        assignment(word)
