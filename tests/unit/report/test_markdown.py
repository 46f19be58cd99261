"""The report as Markdown: tables that hold, text that stays text, the same words as on a terminal. Synthetic runs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from fakes.records import Fault, make_record
from fakes.strategies import run_records
from fstrial.model.record import RunRecord
from fstrial.model.trial import Outcome
from fstrial.report import markdown, words
from fstrial.stats.analysis import analyse


def rendered(record: RunRecord) -> str:
    return markdown.render(record, analyse(record))


def tables(text: str) -> list[list[list[str]]]:
    """Each table's rows of cells; a bar counts unless a backslash is before it (GFM 4.10)."""
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def test_the_table_has_a_row_a_filesystem_and_a_column_a_test() -> None:
    (table,) = tables(rendered(make_record(blocks=5)))
    assert [cell.split("<br>")[0] for cell in table[0]] == [
        "", "Copy in", "Disk usage", "Copy within", "tar -czf", "tar -xzf", "Delete all", "Total"
    ]  # fmt: skip
    assert table[1] == ["---", *["---:"] * 7]
    assert [row[0] for row in table[2:]] == ["**ext4**<br>baseline", "**xfs**", "**btrfs**"]
    assert {len(row) for row in table} == {8}


def test_each_workload_has_its_table() -> None:
    text = rendered(make_record(blocks=2, workloads=("tree", "bonnie")))
    assert len(tables(text)) == 2
    assert "\n## tree\n" in text
    assert "\n## bonnie\n" in text


def test_it_says_the_same_sentences_as_the_terminal() -> None:
    record = make_record(blocks=6, aa=True)
    found = analyse(record)
    text = markdown.render(record, found).replace("\\", "")
    for sentence in (*words.verdict_sentences(record, found), *words.certainty(record, found)):
        assert f"\n- {sentence}\n" in text


def test_a_cell_has_mark_interval_and_failures_on_lines_of_its_own() -> None:
    (table,) = tables(rendered(make_record(("ext4", "ntfs-3g"), blocks=5, faults=(Fault("ntfs-3g"),))))
    assert re.fullmatch(r"\\>5\.\d\d <sup>1</sup> ▼<br>×≥5\.\d\d<br>5 of 5 failed", table[3][6])


def test_bars_stars_and_angles_in_names_stay_text() -> None:
    label = "ext4 | a*b* <i> _x_ [y](z) `c` \\ \n new line"
    text = rendered(make_record((label, "xfs"), blocks=5))
    (table,) = tables(text)
    assert {len(row) for row in table} == {8}
    assert table[2][0] == r"**ext4 \| a\*b\* \<i\> \_x\_ \[y\](z) \`c\` \\ new line**<br>baseline"


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_an_incomplete_run_is_shown_as_far_as_it_got(blocks: int) -> None:
    text = rendered(make_record(blocks=blocks, faults=(Fault("xfs", outcome=Outcome.LOST, reason="silent"),)))
    assert "## Verdict" in text
    assert text.endswith("\n")


@settings(max_examples=25, deadline=None)
@given(run_records())
def test_any_run_can_be_written(record: RunRecord) -> None:
    for table in tables(rendered(record)):
        assert len({len(row) for row in table}) == 1
