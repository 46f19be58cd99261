"""The page: complete in itself, safe against what it shows, and with every figure in it. Synthetic runs."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib import resources
from itertools import product

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from fakes.records import Fault, make_record
from fakes.strategies import run_records
from fstrial.model.record import RunRecord, RunState
from fstrial.model.trial import Outcome
from fstrial.report import html, words
from fstrial.report._results import MOST_TRIALS
from fstrial.stats.analysis import analyse

DATA = b'{"format": "fstrial", "trials": []}' * 50
VOID = {"meta", "link", "br", "hr", "img", "input"}
STYLE = resources.files("fstrial.report").joinpath("templates", "page.css").read_text()


@dataclass
class Page(HTMLParser):
    """What a browser would see: elements with their attributes, and the text outside of script and style."""

    source: str
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    script: str = ""
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script":
            self.script += data
        elif self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def attributes(self) -> Iterator[tuple[str, str, str]]:
        for tag, attributes in self.elements:
            for name, value in attributes.items():
                yield tag, name, value or ""


def render(record: RunRecord, plan: str = "") -> Page:
    return Page(html.render(record, analyse(record), DATA, plan))


@pytest.fixture(scope="module")
def page() -> Page:
    record = make_record(
        ("ext4", "xfs", "btrfs", "ntfs-3g"),
        aa=True,
        faults=(Fault("ntfs-3g", block=2),),
        warnings=("23 MB of other I/O on the disk below",),
    )
    return render(record, plan='[[filesystem]]\ntype = "ext4"')


# Complete in itself


def test_nothing_is_fetched(page: Page) -> None:
    loading = [(tag, name, value) for tag, name, value in page.attributes() if name in {"src", "href", "srcset"}]
    assert loading
    assert all(name == "href" and value.startswith(("#", "data:")) for _, name, value in loading)
    assert not page.all("link")
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|sendBeacon|WebSocket", page.script)


def test_its_own_script_is_the_only_one_a_browser_may_run(page: Page) -> None:
    policy = next(one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy
    assert len(page.all("script")) == 1
    assert not [name for _, name, _ in page.attributes() if name.startswith("on")]


def test_the_data_comes_out_as_it_went_in(page: Page) -> None:
    link = next(one for one in page.all("a") if "download" in one)
    assert link["download"] == "fstrial-run-1.json.gz"
    kind, _, packed = (link["href"] or "").partition(",")
    assert kind == "data:application/gzip;base64"
    assert gzip.decompress(base64.b64decode(packed)) == DATA


def test_every_link_within_the_page_leads_somewhere_and_names_are_unique(page: Page) -> None:
    names = [value for _, name, value in page.attributes() if name == "id"]
    assert len(names) == len(set(names))
    asked = {value.removeprefix("#") for _, name, value in page.attributes() if name == "href" and value[0] == "#"}
    asked |= {value for _, name, value in page.attributes() if name in {"aria-labelledby", "aria-describedby"}}
    assert asked <= set(names)


def test_the_same_run_gives_the_same_page() -> None:
    record = make_record(("ext4", "xfs"), blocks=1)
    assert html.render(record, analyse(record), DATA) == html.render(record, analyse(record), DATA)


# Safe

HOSTILE = "</script><b>bold</b> & \"quoted\" 'too'"


def test_text_of_others_stays_text() -> None:
    filesystem = f"ext4 {HOSTILE}"
    record = make_record(
        (filesystem, "xfs"),
        blocks=2,
        faults=(Fault("xfs", reason=f"rm said {HOSTILE}"),),
        warnings=(f"a note {HOSTILE}",),
        label=f"a label {HOSTILE}",
    )
    page = render(record, plan=f'label = "{HOSTILE}"')
    assert not page.all("b")
    assert len(page.all("script")) == 1
    for lead in ("ext4", "rm said", "a note", "a label", "label ="):
        assert lead in page.text
    assert page.text.count("<b>bold</b> &") > 10
    labels = [one["aria-label"] or "" for one in page.all("svg")]
    assert labels
    assert all(filesystem in label for label in labels)


@settings(max_examples=8, deadline=None)
@given(run_records())
def test_any_run_makes_a_page(record: RunRecord) -> None:
    page = render(record)
    assert len(page.all("h1")) == 1


# Whole


def test_every_filesystem_and_every_mean_is_in_the_table(page: Page) -> None:
    record = make_record(("ext4", "xfs"), blocks=3)
    text = render(record).text
    analysis = analyse(record)
    for declaration, label in product(record.declarations, ("ext4", "xfs")):
        for column in declaration.columns:
            found = [one for one in analysis.summaries if one.figure == column.figure]
            divisor, _ = words.scale(
                max(one.geometric_mean or 0 for one in found), words.metric(declaration, column.figure).unit
            )
            mean = next(one.geometric_mean for one in found if one.filesystem == label)
            assert mean is not None
            assert f" {words.number(mean / divisor)} " in text


def test_the_verdict_comes_first_and_the_noise_of_the_machine_with_it(page: Page) -> None:
    heading, verdict = page.text.index("ext4, xfs, btrfs and ntfs-3g"), page.text.index("ext4 is the fastest of 4.")
    noise, table = page.text.index("ext4 against itself"), page.text.index("Filesystem Copy in")
    assert heading < verdict < noise < table


def test_failures_and_warnings_are_shown_before_any_table(page: Page) -> None:
    before = page.text[: page.text.index("Filesystem Copy in")]
    assert "1 of 5 runs of tree on ntfs-3g failed" in before
    assert "23 MB of other I/O on the disk below (5 of" in before


def test_a_failed_figure_is_a_bound_with_its_count(page: Page) -> None:
    row = page.text[page.text.index("ntfs-3g", page.text.index("Filesystem Copy in")) :]
    row = row[: row.index("blind")]
    assert re.search(r">\d", row)
    assert "failed 1 of 5" in row


def test_wrong_content_is_louder_than_the_verdict() -> None:
    record = make_record(("ext4", "xfs"), blocks=1)
    *others, last = record.trials
    spoiled = replace(last, result=replace(last.result, outcome=Outcome.FAILED, wrong_content="linux/COPYING differs"))
    page = render(replace(record, trials=(*others, spoiled)))
    assert page.text.index("linux/COPYING differs") < page.text.index("too few blocks")
    assert any(one.get("role") == "alert" for one in page.all("p"))


def test_the_commands_the_machine_the_space_and_the_plan_are_there(page: Page) -> None:
    for wanted in (
        "mkfs.ext4 -q /dev/loop0 # mkfs, 50 ms",
        "cp -r --reflink=never --sparse=never source '/mnt/trial/copy one'",
        "6.1.0-synthetic",
        "ext4 on a synthetic disk",
        "after copy_in",
        '[[filesystem]] type = "ext4"',
        "docs/statistics.md",
    ):
        assert wanted in page.text


def test_of_too_many_trials_the_first_are_shown_and_the_rest_is_said_to_be_in_the_data() -> None:
    record = make_record(("ext4",), blocks=MOST_TRIALS + 7, verify=False)
    page = render(record)
    assert f"The first {MOST_TRIALS} are shown; the other 7 are in the data of this page." in page.text
    assert len(page.all("tr")) < MOST_TRIALS + 40


# Runs that are no comparison


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(make_record(blocks=0), id="no block"),
        pytest.param(make_record(blocks=1), id="one block"),
        pytest.param(make_record(("ext4",), blocks=5), id="one filesystem"),
        pytest.param(make_record(blocks=2, state=RunState.RUNNING), id="still running"),
        pytest.param(make_record(("ext4", "xfs"), faults=(Fault("ext4"), Fault("xfs"))), id="all failed"),
        pytest.param(make_record(("ext4", "xfs"), faults=(Fault("ext4", "copy_in"),)), id="the baseline failed"),
        pytest.param(
            make_record(("ext4", "xfs"), faults=tuple(Fault(one, outcome=Outcome.LOST) for one in ("ext4", "xfs"))),
            id="all lost",
        ),
        pytest.param(
            make_record(("ext4", "f2fs"), faults=(Fault("f2fs", outcome=Outcome.SKIPPED, reason="no mkfs.f2fs"),)),
            id="one skipped",
        ),
    ],
)
def test_a_run_that_came_to_little_still_makes_a_page(record: RunRecord) -> None:
    page = render(record)
    assert len(page.all("h1")) == 1
    assert "nan" not in page.text.lower().split()
    for candidate in record.plan.candidates():
        assert candidate.label in page.text


def test_a_missing_value_has_its_reason_below_the_table() -> None:
    fault = Fault("f2fs", outcome=Outcome.SKIPPED, reason="no mkfs.f2fs here")
    page = render(make_record(("ext4", "f2fs"), blocks=1, faults=(fault,)))
    notes = [value for _, name, value in page.attributes() if name == "id" and "-note-" in value]
    assert notes
    assert "no mkfs.f2fs here" in page.text


# Readable


def test_tables_have_scoped_headings_and_charts_have_words(page: Page) -> None:
    assert all(one.get("scope") in {"col", "row"} for one in page.all("th"))
    assert page.all("svg")
    assert all(one.get("role") == "img" and one.get("aria-label") for one in page.all("svg"))
    assert all(one.get("tabindex") == "0" for one in page.all("div") if one.get("class") == "scroll")


def test_a_tint_is_never_alone(page: Page) -> None:
    """Every tinted cell also says in a word what its colour says."""
    cells = re.findall(r'<td class="(better|worse)">(.*?)</td>', page.source, re.DOTALL)
    assert cells
    assert all(re.search(r'<span class="said">(faster|slower|better|worse)', cell) for _, cell in cells)


def palettes() -> tuple[dict[str, str], dict[str, str]]:
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part)) for part in STYLE.split("prefers-color-scheme: dark", 1)
    )
    return light, light | dark


def luminance(colour: str) -> float:
    """Relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_standard_has_it() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_text_and_marks_stand_out_from_what_is_below_them(palette: dict[str, str]) -> None:
    """WCAG 2.2: 4.5 for text (1.4.3), 3 for marks that carry meaning (1.4.11)."""
    texts = [
        *product(("ink", "quiet"), ("paper", "raised", "better-tint", "worse-tint")),
        *product(("better",), ("paper", "better-tint")),
        *product(("worse",), ("paper", "worse-tint")),
        *product(("on-segment",), (f"s{number}" for number in range(1, 9))),
        ("paper", "worse"),
    ]
    marks = product(("better", "worse", "ink", "edge", "notice", "quiet"), ("paper",))
    for least, pairs in ((4.5, texts), (3.0, marks)):
        faint = {pair: contrast(palette[pair[0]], palette[pair[1]]) for pair in pairs}
        assert {pair: ratio for pair, ratio in faint.items() if ratio < least} == {}


def test_every_colour_that_is_used_is_defined(page: Page) -> None:
    light, _ = palettes()
    used = set(re.findall(r"var\(--([\w-]+)\)", page.source)) - {"serif", "sans", "mono"}
    assert used <= set(light)
