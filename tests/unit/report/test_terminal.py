"""The report on a terminal: the table's cells, what reads without colour, what fits into a window. Synthetic runs."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from fakes.records import Fault, make_record
from fakes.strategies import run_records
from fstrial.model.analysis import Analysis, Comparison, Interval, Method, Outlook, Summary, Verdict
from fstrial.model.metric import Figure
from fstrial.model.plan import StoppingRule
from fstrial.model.record import RunRecord, RunState
from fstrial.model.trial import Outcome
from fstrial.report import terminal
from fstrial.stats.analysis import analyse

TOTAL, COPY, USED = Figure("total", "durable_s"), Figure("copy_in", "durable_s"), Figure("disk_usage", "used_bytes")


def printed(record: RunRecord, analysis: Analysis | None = None, width: int = 120, colour: bool = False) -> str:
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, color_system="standard" if colour else None)
    terminal.render(record, analyse(record) if analysis is None else analysis, console)
    return text.getvalue()


def folded(text: str) -> str:
    return " ".join(text.split())


def cell(filesystem: str, figure: Figure, mean: float | None, **more: object) -> Summary:
    return Summary("tree", figure, filesystem, mean, **{"runs": 8, **more})


def against(filesystem: str, figure: Figure, low: float | None, high: float | None, **more: object) -> Comparison:
    plain = Comparison("tree", figure, filesystem, "ext4", False, 8, Method.PAIRED_T, 1.0, Interval(low, high))
    return replace(plain, **more)


def by_hand(summaries: Sequence[Summary], comparisons: Sequence[Comparison] = ()) -> Analysis:
    return Analysis(8, 6, tuple(summaries), tuple(comparisons), (), Outlook(True, text="Sure."))


def row(text: str, label: str) -> list[str]:
    """The words of a table's line and of the one below it, its label left out."""
    lines = text.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith(f"{label} "))
    return [*lines[at].split()[1:], *lines[at + 1].split()]


def test_a_table_has_filesystems_down_tests_across_and_units_in_the_headings() -> None:
    analysis = by_hand([cell("ext4", COPY, 4.0), cell("xfs", COPY, 4.56), cell("ext4", USED, 65.5 * 1024**2)])
    text = printed(make_record(("ext4", "xfs"), blocks=0), analysis)
    headings, units = (line.split() for line in text.splitlines()[4:6])
    assert headings[:4] == ["Copy", "in", "Disk", "usage"]
    assert units[:4] == ["s", "•", "main", "MiB"]
    assert row(text, "ext4")[:2] == ["4.00*", "65.5"]
    assert row(text, "ext4")[-1] == "baseline"
    assert row(text, "xfs")[0] == "4.56"


def test_cells_show_the_ratios_interval_and_signs_for_better_worse_and_same() -> None:
    summaries = [cell(name, COPY, 4.0) for name in ("ext4", "xfs", "btrfs", "jfs")]
    comparisons = [
        against("xfs", COPY, 1.10, 1.18, verdict=Verdict.SLOWER),
        against("btrfs", COPY, 0.80, 0.90, verdict=Verdict.FASTER),
        against("jfs", COPY, 0.99, 1.02, verdict=Verdict.SAME),
    ]
    text = printed(make_record(("ext4", "xfs", "btrfs", "jfs"), blocks=0), by_hand(summaries, comparisons))
    signs = {name: row(text, name)[1] for name in ("xfs", "btrfs", "jfs")}
    assert signs == {"xfs": "▼", "btrfs": "▲", "jfs": "="}
    assert [word for word in row(text, "xfs") if word.startswith("×")] == ["×1.10–1.18"]


def test_a_main_figure_that_cannot_be_told_has_no_sign_and_another_one_has_by_its_own_interval() -> None:
    other = Figure("tar_gz", "durable_s")
    summaries = [cell(name, figure, 4.0) for name in ("ext4", "xfs") for figure in (COPY, other)]
    comparisons = [
        against("xfs", COPY, 1.01, 1.2, verdict=Verdict.CANNOT_TELL, main=True),
        against("xfs", other, 1.02, 1.2, uncorrected=True),
    ]
    text = printed(make_record(("ext4", "xfs"), blocks=0), by_hand(summaries, comparisons))
    line = next(line for line in text.splitlines() if line.startswith("xfs "))
    assert line.count("▼") == 1
    assert "uncorrected" in text


def test_a_failure_is_a_bound_with_its_count_and_its_side() -> None:
    failed = cell("ntfs-3g", COPY, 194.0, failed=2, bounds=(190.0, 198.0))
    comparison = against(
        "ntfs-3g", COPY, 3.1, None, ratio=None, verdict=Verdict.SLOWER, why="ntfs-3g failed 2 of 8: one side"
    )
    text = printed(
        make_record(("ext4", "ntfs-3g"), blocks=0), by_hand([cell("ext4", COPY, 51.0), failed], [comparison])
    )
    assert row(text, "ntfs-3g")[:3] == [">194", "[2]", "▼"]
    assert "×≥3.10" in text
    assert "2 of 8 failed" in text
    assert "[2] ntfs-3g failed 2 of 8: one side" in text


def test_a_missing_cell_is_a_dash_with_its_reason_once_below_the_table() -> None:
    record = make_record(
        ("ext4", "vfat"), blocks=2, faults=(Fault("vfat", outcome=Outcome.SKIPPED, reason="no symlinks"),)
    )
    text = printed(record)
    assert row(text, "vfat")[:2] == ["–", "[1]"]
    assert text.count("[1] no symlinks") == 1


def test_the_best_of_a_column_is_starred_on_a_pipe_and_underlined_on_a_terminal() -> None:
    analysis = by_hand([cell("ext4", COPY, 4.0), cell("xfs", COPY, 3.5)])
    record = make_record(("ext4", "xfs"), blocks=0)
    assert row(printed(record, analysis), "xfs")[0] == "3.50*"
    assert "\x1b[4m3.50\x1b[0m" in printed(record, analysis, colour=True)


def test_a_pipe_gets_no_escape_codes_and_a_terminal_gets_green_and_red() -> None:
    record = make_record(blocks=6)
    assert "\x1b" not in printed(record)
    coloured = printed(record, colour=True)
    assert "\x1b[31m" in coloured
    assert "\x1b[32m" in coloured


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_window_and_no_figure_is_cut(width: int) -> None:
    record = make_record(
        ("ext4", "xfs", "btrfs mount=compress-force=zstd,noatime", "ntfs-3g"),
        blocks=5,
        faults=(Fault("ntfs-3g"),),
        aa=True,
    )
    text = printed(record, width=width)
    assert max(cell_len(line.rstrip()) for line in text.splitlines()) <= width
    assert "…" not in text
    wide = printed(record, width=400)
    figures = re.compile(r"×[\d.–≥]+|>[\d.]+")
    assert sorted(figures.findall(text)) == sorted(figures.findall(wide))


def test_a_wide_table_is_split_into_even_parts() -> None:
    text = printed(make_record(blocks=5), width=80)
    assert text.count("Copy within") == 1
    assert [
        len(re.findall(r"Copy|Disk|tar|Delete|Total", line))
        for line in text.splitlines()
        if "tar -xzf" in line or "Copy in" in line
    ] == [4, 3]


def test_verdict_noise_warnings_and_system_follow_the_table() -> None:
    record = make_record(blocks=5, aa=True, warnings=("the governor is powersave",), stop_reason="5 blocks, as asked")
    text = folded(printed(record))
    order = ("Geometric means", "Verdict", "How sure", "this machine's noise", "To know before quoting this",
             "the governor is powersave (5 of 23 trials)", "Finished: 5 blocks, as asked.", "23 trials in",
             "written to the device", "content checked after a remount on ext4, xfs and btrfs",
             "Linux 6.1.0-synthetic", "direct I/O", "page cache bound to 512 MiB")  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_bytes_written_are_those_of_all_phases_once() -> None:
    """The total repeats the workload's phases: it stands for them here, beside those of the harness."""
    record = make_record(("ext4",), blocks=1, verify=False)
    written = 0.0
    for name in ("mkfs", "mount", "total", "unmount"):
        phase = record.trials[0].result.phase(name)
        sample = phase and phase.sample("device_write_bytes")
        assert sample
        assert sample.value
        written += sample.value
    assert f"{written / 1024**2:.0f} MiB written to the device" in folded(printed(record))


def test_what_a_lost_trial_wrote_is_not_counted_as_nothing() -> None:
    lost = Fault("xfs", outcome=Outcome.LOST, reason="the worker fell silent")
    text = folded(printed(make_record(("ext4", "xfs"), blocks=1, faults=(lost,))))
    assert re.search(r"; at least [\d.]+ MiB written to the device", text)


@pytest.mark.parametrize(
    ("state", "reason", "says"),
    [
        (RunState.FINISHED, "the answer is sure", "Finished: the answer is sure."),
        (RunState.RUNNING, "", "Not finished: it is running, or was killed; then `fstrial run --resume 4` goes on."),
        (RunState.INTERRUPTED, "interrupted", "Interrupted; `fstrial run --resume 4` goes on."),
        (RunState.FAILED, "disk full", "Failed: disk full. Once that is mended, `fstrial run --resume 4` goes on."),
    ],
)
def test_how_the_run_ended_and_how_to_go_on(state: RunState, reason: str, says: str) -> None:
    assert says in folded(printed(make_record(blocks=1, run_id=4, state=state, stop_reason=reason)))


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 4])
def test_a_run_with_few_blocks_is_shown_as_far_as_it_got(blocks: int) -> None:
    text = folded(printed(make_record(blocks=blocks, aa=True, rule=StoppingRule(None, 9, 20, None))))
    assert "Verdict" in text
    assert ("No block is complete yet" in text) is (blocks == 0)
    assert ("too few blocks" in text) is (blocks > 0)


def test_wrong_content_is_the_first_thing_said() -> None:
    record = make_record(blocks=1)
    check = record.trials[-1]
    wrong = replace(
        check, result=replace(check.result, outcome=Outcome.FAILED, wrong_content="copy/a differs at byte 4096")
    )
    lines = printed(replace(record, trials=(*record.trials[:-1], wrong)), width=200).splitlines()
    label = check.trial.candidate.label
    assert (
        " ".join(lines[1:3]).split()
        == (f"WRONG CONTENT: {label} gave back other bytes than were written: copy/a differs at byte 4096").split()
    )


def test_square_brackets_in_labels_and_reasons_are_no_markup() -> None:
    fault = Fault("xfs [bold]", outcome=Outcome.SKIPPED, reason="mount [/red] refused")
    text = printed(make_record(("ext4", "xfs [bold]"), blocks=1, faults=(fault,)))
    assert "xfs [bold]" in text
    assert "mount [/red] refused" in text


@settings(max_examples=25, deadline=None)
@given(run_records())
def test_any_run_can_be_shown(record: RunRecord) -> None:
    assert "Verdict" in printed(record)
