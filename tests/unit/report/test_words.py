"""Numbers, ratios and verdicts as reports say them. Synthetic figures, sentences written by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.records import Fault, declaration, make_record
from fstrial.model.analysis import Analysis, Comparison, Interval, Method, Outlook, Summary, Verdict
from fstrial.model.metric import Direction, Figure, Metric, Unit
from fstrial.report import words
from fstrial.report.words import Leaning
from fstrial.stats.analysis import analyse

TOTAL, COPY, DELETE = (Figure(phase, "durable_s") for phase in ("total", "copy_in", "delete_all"))
USED = Figure("disk_usage", "used_bytes")
TIME = Metric("durable_s", Unit.SECONDS, Direction.LOWER, "")
RATE = Metric("rate", Unit.COUNT, Direction.HIGHER, "")
FACT = Metric("fact", Unit.COUNT, Direction.NEITHER, "")

SLOWER = Comparison(
    workload="tree",
    figure=TOTAL,
    filesystem="xfs",
    baseline="ext4",
    main=True,
    blocks=8,
    method=Method.PAIRED_T,
    ratio=1.14,
    interval=Interval(1.10, 1.18),
    adjusted=Interval(1.08, 1.20),
    p=0.001,
    p_adjusted=0.006,
    verdict=Verdict.SLOWER,
)


def analysis(*comparisons: Comparison, main: int = 6, blocks: int = 8, outlook: Outlook | None = None) -> Analysis:
    return Analysis(blocks, main, (), comparisons, (), outlook or Outlook(True, text="Sure."))


def verdicts(*comparisons: Comparison, main: int = 6) -> tuple[str, ...]:
    return words.verdict_sentences(make_record(blocks=0), analysis(*comparisons, main=main))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (0.000123, "0.00012"), (0.0349, "0.035"), (0.99949, "0.999"), (0.9996, "1.00"), (4.214, "4.21"),
        (9.996, "10.0"), (14.24, "14.2"), (99.96, "100"), (194.4, "194"), (1234.0, "1234"), (-4.214, "-4.21"),
    ],
)  # fmt: skip
def test_numbers_have_three_significant_digits(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.214, Unit.SECONDS, "4.21 s"), (0.0382, Unit.SECONDS, "38.2 ms"), (1333.0, Unit.SECONDS, "1333 s"),
        (0.0, Unit.SECONDS, "0 s"), (0.0, Unit.BYTES, "0 B"), (512.0, Unit.BYTES, "512 B"),
        (68_681_728.0, Unit.BYTES, "65.5 MiB"), (3.5 * 1024**4, Unit.BYTES, "3.50 TiB"),
        (6200.0, Unit.COUNT, "6200"), (62_000.0, Unit.COUNT, "62.0 k"), (1_740_000.0, Unit.COUNT, "1.74 M"),
        (0.25, Unit.SHARE, "25.0 %"),
    ],
)  # fmt: skip
def test_amounts_have_the_unit_that_reads_best(value: float, unit: Unit, text: str) -> None:
    assert words.amount(value, unit) == text


@given(st.floats(1e-9, 1e15), st.sampled_from(Unit))
def test_an_amount_says_its_value_to_half_a_percent(value: float, unit: Unit) -> None:
    divisor, name = words.scale(value, unit)
    text = words.amount(value, unit)
    assert text.endswith(name)
    assert float(text.removesuffix(name)) * divisor == pytest.approx(
        value, rel=0.051 if value / divisor < 0.1 else 0.006
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (1.0004, "1.000"),
        (0.9962, "0.996"),
        (1.0051, "1.01"),
        (1.14, "1.14"),
        (0.0621, "0.062"),
        (12.34, "12.3"),
    ],
)
def test_a_ratio_is_said_to_be_1_only_when_it_is(value: float, text: str) -> None:
    assert words.factor(value) == text


def test_an_extent_is_in_one_unit() -> None:
    assert words.extent(0.9, 1.2, Unit.SECONDS) == "0.900 to 1.20 s"


def test_a_verdict_says_ratio_interval_correction_and_blocks() -> None:
    assert verdicts(SLOWER) == (
        "tree total: xfs is slower than ext4: 1.14 × its time "
        "(95 % 1.10 to 1.18; adjusted for 6 comparisons 1.08 to 1.20; 8 blocks).",
    )


def test_a_single_comparison_needs_no_correction() -> None:
    assert verdicts(replace(SLOWER, adjusted=SLOWER.interval), main=1) == (
        "tree total: xfs is slower than ext4: 1.14 × its time (95 % 1.10 to 1.18; 8 blocks).",
    )


def test_same_and_cannot_tell_are_said_in_their_own_words() -> None:
    same = replace(
        SLOWER, ratio=1.01, interval=Interval(0.99, 1.02), adjusted=Interval(0.98, 1.03), verdict=Verdict.SAME
    )
    assert verdicts(same) == (
        "tree total: xfs and ext4 are the same within 3 %: 1.01 × its time "
        "(95 % 0.99 to 1.02; adjusted for 6 comparisons 0.98 to 1.03; 8 blocks).",
    )
    (unsure,) = verdicts(replace(same, verdict=Verdict.CANNOT_TELL))
    assert unsure.startswith("tree total: cannot tell xfs from ext4: 1.01 × its time (95 % 0.99 to 1.02;")


def test_a_failure_is_known_from_one_side_and_says_so() -> None:
    failed = replace(
        SLOWER,
        method=Method.ONE_SIDED,
        ratio=None,
        interval=Interval(3.1, None),
        adjusted=Interval(2.9, None),
        failed=2,
        why="xfs failed 2 of 8: the ratio is known from one side only",
    )
    assert verdicts(failed) == (
        "tree total: xfs is slower than ext4: at least 3.10 × its time (95 %; adjusted for 6 comparisons at least "
        "2.90; 8 blocks; xfs failed 2 of 8: the ratio is known from one side only).",
    )


def test_what_has_no_value_cannot_be_compared() -> None:
    nothing = replace(
        SLOWER,
        ratio=None,
        interval=None,
        adjusted=None,
        verdict=Verdict.CANNOT_TELL,
        why="xfs has no value: no symlinks",
    )
    assert verdicts(nothing) == ("tree total: cannot compare xfs with ext4: xfs has no value: no symlinks.",)


def test_too_few_blocks_take_one_sentence_for_all() -> None:
    early = [
        replace(SLOWER, filesystem=name, ratio=ratio, interval=None, adjusted=None, verdict=Verdict.TOO_FEW, blocks=2)
        for name, ratio in (("xfs", 1.14), ("btrfs", 1.3))
    ]
    assert verdicts(*early) == (
        "tree total: too few blocks for a verdict (5 are needed); so far, × the time of ext4: xfs 1.14, btrfs 1.30.",
    )


def test_figures_that_are_no_times_are_better_or_worse() -> None:
    saving = replace(SLOWER, figure=USED, ratio=0.5, interval=Interval(0.4, 0.6), adjusted=Interval(0.3, 0.7))
    spaces = replace(declaration(), main=(USED,))
    record = replace(make_record(blocks=0), declarations=(spaces,))
    said = [
        words.verdict_sentences(record, analysis(replace(saving, verdict=verdict)))[0].split(" (")[0]
        for verdict in (Verdict.FASTER, Verdict.SLOWER)
    ]
    assert said == [
        "tree disk usage: xfs is better than ext4: 0.50 × its bytes",
        "tree disk usage: xfs is worse than ext4: 0.50 × its bytes",
    ]


@pytest.mark.parametrize(
    ("others", "best"),
    [
        ((Verdict.SLOWER, Verdict.SLOWER), "ext4"),
        ((Verdict.FASTER, Verdict.SLOWER), "xfs"),
        ((Verdict.FASTER, Verdict.SAME), "xfs"),
        ((Verdict.FASTER, Verdict.FASTER), ""),
        ((Verdict.FASTER, Verdict.CANNOT_TELL), ""),
        ((Verdict.SLOWER, Verdict.SAME), ""),
        ((Verdict.SLOWER, Verdict.TOO_FEW), ""),
        ((Verdict.SAME, Verdict.SAME), ""),
    ],
)
def test_the_fastest_is_named_only_when_the_verdicts_leave_no_doubt(others: tuple[Verdict, Verdict], best: str) -> None:
    said = verdicts(
        *(
            replace(SLOWER, filesystem=name, verdict=verdict)
            for name, verdict in zip(("xfs", "btrfs"), others, strict=True)
        )
    )
    assert [one for one in said if "fastest" in one] == ([f"tree total: {best} is the fastest of 3."] if best else [])


def test_sentences_follow_the_declared_order_of_main_figures() -> None:
    said = verdicts(*(replace(SLOWER, figure=figure) for figure in (DELETE, TOTAL, COPY)))
    assert [one.split(":")[0] for one in said] == ["tree total", "tree copy in", "tree delete all"]


def test_a_comparison_that_is_not_main_has_no_sentence() -> None:
    assert verdicts(replace(SLOWER, main=False, verdict=None)) == ()


def test_an_incomplete_run_and_a_lonely_filesystem_say_so() -> None:
    record = make_record(blocks=0)
    assert words.verdict_sentences(record, analyse(record)) == (
        "No block is complete yet: there is nothing to compare.",
    )
    alone = make_record(("ext4",), blocks=2)
    assert words.verdict_sentences(alone, analyse(alone)) == ("ext4 ran alone: there is nothing to compare it with.",)


def test_how_sure_it_is_names_the_aim_and_the_noise_floor() -> None:
    record = make_record(blocks=5, aa=True)
    outlook = Outlook(False, 0.09, 12, True, "About 12 more (6 to 24).")
    pair = replace(SLOWER, filesystem="blind", ratio=1.004, interval=Interval(0.98, 1.03), verdict=None, aa=True)
    assert words.certainty(record, analysis(pair, blocks=5, outlook=outlook)) == (
        "5 complete blocks; ±5 % is asked for. About 12 more (6 to 24).",
        "ext4 against itself under a blind name: tree total 1.004 (0.98 to 1.03). "
        "Differences of that size are this machine's noise.",
    )


@pytest.mark.parametrize(
    ("change", "of", "leaning"),
    [
        ({"verdict": Verdict.SLOWER}, TIME, Leaning.WORSE),
        ({"verdict": Verdict.FASTER}, TIME, Leaning.BETTER),
        ({"verdict": Verdict.CANNOT_TELL, "uncorrected": True}, TIME, Leaning.NEITHER),
        ({"verdict": Verdict.SAME, "uncorrected": True}, TIME, Leaning.NEITHER),
        ({"verdict": None, "uncorrected": True}, TIME, Leaning.WORSE),
        ({"verdict": None, "uncorrected": True}, RATE, Leaning.BETTER),
        ({"verdict": None, "uncorrected": True}, FACT, Leaning.NEITHER),
        ({"verdict": None, "uncorrected": True, "interval": Interval(0.5, 0.9)}, TIME, Leaning.BETTER),
        ({"verdict": None, "uncorrected": True, "interval": Interval(None, 0.9)}, TIME, Leaning.BETTER),
        ({"verdict": None, "uncorrected": True, "interval": Interval(1.2, None)}, TIME, Leaning.WORSE),
        ({"verdict": None, "uncorrected": False}, TIME, Leaning.NEITHER),
        ({"verdict": None, "uncorrected": True, "interval": None}, TIME, Leaning.NEITHER),
    ],
)
def test_colour_follows_the_verdict_and_else_the_own_interval(
    change: dict[str, object], of: Metric, leaning: Leaning
) -> None:
    assert words.leaning(replace(SLOWER, **change), of) is leaning


def test_cells_say_bounds_failures_and_gaps() -> None:
    cell = Summary("tree", TOTAL, "xfs", 4.2, (4.2,), (0,), runs=5)
    assert words.cell(cell, Unit.SECONDS) == "4.20 s"
    assert words.cell(replace(cell, failed=2, bounds=(3.0, 3.1)), Unit.SECONDS) == "> 4.20 s, 2 of 5 failed"
    assert words.cell(replace(cell, geometric_mean=None, missing="never ran"), Unit.SECONDS) == "–"


def test_titles_name_what_was_compared() -> None:
    assert words.title(make_record(blocks=0)) == "synthetic · ext4, xfs and btrfs: tree"
    assert words.title(make_record(("ext4",), blocks=0, label="")) == "ext4: tree"


def test_every_sentence_of_a_whole_run_is_one_line_that_ends_with_a_stop() -> None:
    record = make_record(
        ("ext4", "xfs", "ntfs-3g"), blocks=6, aa=True, faults=(Fault("ntfs-3g"), Fault("xfs", block=2))
    )
    found = analyse(record)
    for sentence in (*words.verdict_sentences(record, found), *words.certainty(record, found)):
        assert sentence.endswith(".")
        assert "\n" not in sentence
