"""Miner's test with the real cp, sync, du, rm and tar, in plain folders."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from fakes.bench import FakeBench, run_phases
from fstrial.base.errors import MissingRequirement, UsageError
from fstrial.model.declaration import TOTAL
from fstrial.model.metric import Figure
from fstrial.model.plan import Setting, SyncPolicy
from fstrial.trees.compare import tally_of
from fstrial.trees.manifest import Tally
from fstrial.workloads.contract import PhaseFailed, Stage, WrongContent, workloads
from fstrial.workloads.miner import Load

NAMES = ["copy", "sync1", "recopy1", "recopy2", "sync2", "du", "delete", "tar", "sync3"]
COPY = ("cp", "-a", "--reflink=never", "--sparse=never")
FORMS = pytest.mark.parametrize("second", ["faithful", "intended"])


def load(**settings: str) -> Load:
    chosen = {"source": "generated", "scale": "0.001", **settings}
    return Load([Setting(key, value) for key, value in chosen.items()])


@pytest.fixture
def place(tmp_path: Path) -> Stage:
    (tmp_path / "memory").mkdir()
    return Stage(tmp_path / "memory", tmp_path / "sources", may_drop=False)


@pytest.fixture
def bench(tmp_path: Path) -> FakeBench:
    (tmp_path / "trial").mkdir()
    return FakeBench(tmp_path / "trial")


def source_tally(place: Stage) -> Tally:
    assert place.memory is not None
    return tally_of(place.memory / "source-1/tree")


def spoil(folder: Path) -> Path:
    """Change one byte of a file in the folder, or of the file."""
    files = [folder] if folder.is_file() else [path for path in sorted(folder.rglob("*")) if path.is_file()]
    victim = next(path for path in files if path.stat().st_size > 10)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2 if folder.is_file() else 7] ^= 0x20
    victim.write_bytes(content)
    return victim


def test_the_room_finds_it() -> None:
    assert workloads.load("miner") is Load


def test_the_faithful_form_nests_the_second_copy_and_packs_two_trees(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)
    assert run_phases(work.phases(bench.root), bench) == NAMES
    assert sorted(path.name for path in bench.root.iterdir()) == ["mozilla-2", "mozilla.tar"]
    one = source_tally(place)
    assert tally_of(bench.root / "mozilla-2/mozilla") == one
    with tarfile.open(bench.root / "mozilla.tar") as archive:
        assert sum(member.isfile() for member in archive) == 2 * one.files
    assert bench.figures == {"tar": {"archive_bytes": (bench.root / "mozilla.tar").stat().st_size}}


def test_the_intended_form_makes_three_names_and_packs_one_tree(place: Stage, bench: FakeBench) -> None:
    work = load(second="intended")
    work.prepare(place)
    assert run_phases(work.phases(bench.root), bench) == NAMES
    assert sorted(path.name for path in bench.root.iterdir()) == ["mozilla-2", "mozilla-3", "mozilla.tar"]
    one = source_tally(place)
    assert tally_of(bench.root / "mozilla-2") == tally_of(bench.root / "mozilla-3") == one
    with tarfile.open(bench.root / "mozilla.tar") as archive:
        assert sum(member.isfile() for member in archive) == one.files


@FORMS
def test_what_each_phase_did_is_counted(place: Stage, bench: FakeBench, second: str) -> None:
    work = load(second=second)
    work.prepare(place)
    run_phases(work.phases(bench.root), bench)
    one, trees = source_tally(place), 2 if second == "faithful" else 1
    assert bench.operations == {
        "copy": one.files, "recopy1": one.files, "recopy2": one.files, "du": one.files + one.directories + 1,
        "delete": one.files, "tar": trees * one.files,
    }  # fmt: skip
    assert bench.moved["copy"] == bench.moved["recopy1"] == bench.moved["recopy2"] == one.size_bytes
    assert bench.moved["tar"] == trees * one.size_bytes
    assert bench.moved["delete"] == bench.moved["du"] == 0


@FORMS
def test_the_commands_are_the_published_ones_and_those_a_dry_run_shows(
    place: Stage, bench: FakeBench, second: str
) -> None:
    work, root = load(second=second), str(bench.root)
    shown = [shows for phase in work.phases(bench.root) for shows in phase.shows]
    again = "mozilla-2" if second == "faithful" else "mozilla-3"
    assert shown == [
        (*COPY, "SOURCE/tree", f"{root}/mozilla"),
        ("sync", "-f", root),
        (*COPY, f"{root}/mozilla", f"{root}/mozilla-2"),
        (*COPY, f"{root}/mozilla", f"{root}/{again}"),
        ("sync", "-f", root),
        ("du", f"{root}/mozilla"),
        ("rm", "-rf", f"{root}/mozilla"),
        ("tar", "-cf", f"{root}/mozilla.tar", "-C", root, "mozilla-2"),
        ("sync", "-f", root),
    ]
    work.prepare(place)
    run_phases(work.phases(bench.root), bench)
    assert bench.commands == [(*COPY, f"{place.memory}/source-1/tree", f"{root}/mozilla"), *shown[1:]]


@FORMS
@pytest.mark.parametrize("damage", ["missing", "extra", "truncated"])
def test_a_wrong_count_or_size_stops_before_the_delete(
    place: Stage, bench: FakeBench, second: str, damage: str
) -> None:
    work = load(second=second)
    work.prepare(place)

    def harm(phase: str) -> None:
        if phase != "delete":
            return
        copy = bench.root / "mozilla-2"
        victim = next(path for path in sorted(copy.rglob("*")) if path.is_file() and path.stat().st_size > 10)
        match damage:
            case "missing":
                victim.unlink()
            case "extra":
                (copy / "extra").touch()
            case _:
                os.truncate(victim, 3)

    with pytest.raises(WrongContent, match=r"^mozilla-2 holds "):
        run_phases(work.phases(bench.root), bench, harm)
    assert bench.commands[-1][0] == "du", "nothing was deleted"


def test_a_first_tree_that_is_still_there_after_the_delete_fails_it(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)
    delete = next(phase for phase in work.phases(bench.root) if phase.name == "delete")
    (bench.root / "mozilla").mkdir()
    assert delete.after is not None
    with pytest.raises(PhaseFailed, match="mozilla is still there"):
        delete.after(bench)


@pytest.mark.parametrize("harm", ["archive", "tree", "extra"])
def test_a_wrong_end_state_is_wrong_content(place: Stage, bench: FakeBench, harm: str) -> None:
    work = load()
    work.prepare(place)

    def meddle(phase: str) -> None:
        if phase != "sync3":
            return
        match harm:
            case "archive":
                os.truncate(bench.root / "mozilla.tar", 1024)
            case "tree":
                next(path for path in (bench.root / "mozilla-2").rglob("*") if path.is_file()).unlink()
            case _:
                (bench.root / "extra").touch()

    says = {"archive": "mozilla.tar has 1024 bytes", "tree": "mozilla-2 holds", "extra": "the end holds extra"}
    with pytest.raises(WrongContent, match=says[harm]):
        run_phases(work.phases(bench.root), bench, meddle)


@FORMS
def test_the_verification_passes_what_is_right_and_reads_it_cold(place: Stage, bench: FakeBench, second: str) -> None:
    work = load(second=second)
    work.prepare(place)
    phases = work.verification(bench.root)
    assert run_phases(phases, bench) == ["copy", "recopy1", "recopy2", "verify", "delete", "tar", "verify_end"]
    assert [phase.name for phase in phases if phase.cold] == ["verify", "verify_end"]
    assert not any(phase.timed for phase in phases if phase.cold)


@pytest.mark.parametrize(
    ("second", "where", "when"),
    [
        ("faithful", "mozilla", "verify"),
        ("faithful", "mozilla-2/mozilla", "verify"),
        ("intended", "mozilla-2", "verify"),
        ("intended", "mozilla-3", "verify"),
        ("intended", "mozilla-3", "verify_end"),
    ],
)
def test_the_verification_finds_one_wrong_byte_in_any_tree(
    place: Stage, bench: FakeBench, second: str, where: str, when: str
) -> None:
    work = load(second=second)
    work.prepare(place)
    spoiled: list[Path] = []

    def harm(phase: str) -> None:
        if phase == when:
            spoiled.append(spoil(bench.root / where))

    with pytest.raises(WrongContent, match="holds other bytes than were written") as caught:
        run_phases(work.verification(bench.root), bench, harm)
    assert str(caught.value).startswith(f"{spoiled[0].relative_to(bench.root)}: ")


def test_the_verification_finds_a_wrong_byte_in_the_archive(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)

    def harm(phase: str) -> None:
        if phase == "verify_end":
            with tarfile.open(bench.root / "mozilla.tar") as archive:
                offset = next(member.offset_data for member in archive if member.isfile() and member.size > 10)
            with (bench.root / "mozilla.tar").open("r+b") as file:
                file.seek(offset + 3)
                file.write(b"\xff")

    with pytest.raises(WrongContent, match=r"mozilla\.tar differs from what it packed: .*differ"):
        run_phases(work.verification(bench.root), bench, harm)


def test_a_source_that_holds_its_own_name_is_nested_and_found_whole(
    tmp_path: Path, place: Stage, bench: FakeBench
) -> None:
    source = tmp_path / "mine"
    (source / "mozilla").mkdir(parents=True)
    (source / "mozilla/file").write_bytes(b"a" * 4000)
    (source / "file").write_bytes(b"b" * 4000)
    work = load(source=str(source), scale="0.00002")
    work.prepare(place)
    run_phases(work.verification(bench.root), bench)
    assert (bench.root / "mozilla-2/mozilla/file").read_bytes() == b"b" * 4000


def test_a_cold_source_needs_root(place: Stage) -> None:
    with pytest.raises(MissingRequirement, match=r"miner\.cache=cold needs root"):
        load(cache="cold").prepare(place)


def test_too_small_a_source_says_which_scale_fits() -> None:
    with pytest.raises(UsageError) as caught:
        load(source="/usr/share/doc/tar", scale="5").needs()
    assert "are wanted" in caught.value.message
    assert "--set miner.scale=" in caught.value.hint


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"scale": "0"}, "miner.scale"),
        ({"second": "intend"}, "did you mean 'intended'"),
        ({"cache": "wram"}, "did you mean 'warm'"),
        ({"clone": "yes"}, "unknown setting of miner"),
    ],
)
def test_a_bad_setting_is_named(settings: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(**settings)
    assert says in f"{caught.value.message} {caught.value.hint}"


def test_the_defaults_are_a_tenth_of_the_published_tree_and_the_script_as_it_was() -> None:
    assert {setting.key: setting.value for setting in Load().settings} == {
        "source": "system", "scale": "0.1", "cache": "warm", "second": "faithful"
    }  # fmt: skip


def test_needs_hold_what_is_there_at_once() -> None:
    tree_bytes = 29.5 * 1024 * 1024
    faithful, intended = load(scale="0.1").needs(), load(scale="0.1", second="intended").needs()
    assert faithful.device_bytes > 4 * tree_bytes
    assert faithful.largest_file_bytes > 2 * tree_bytes > intended.largest_file_bytes > tree_bytes
    assert faithful.write_bytes > 5 * tree_bytes
    assert faithful.write_bytes - intended.write_bytes > tree_bytes


@pytest.mark.parametrize("sync", SyncPolicy)
def test_the_declaration_holds_together(sync: SyncPolicy) -> None:
    declared = load().declare(sync)
    metrics = {metric.name for metric in declared.metrics}
    phases = {phase.name for phase in declared.phases} | {TOTAL}
    figures = [
        *declared.main,
        *(column.figure for column in declared.columns),
        *(figure for chart in declared.charts for figure in chart.figures),
    ]
    assert {figure.metric for figure in figures} <= metrics
    assert {figure.phase for figure in figures} <= phases
    assert [phase.name for phase in declared.phases] == NAMES
    assert [column.title for column in declared.columns] == [
        "copy", "sync 1", "recopy1", "recopy2", "sync 2", "du", "delete", "tar", "sync 3", "Overall"
    ]  # fmt: skip
    time = "durable_s" if sync is SyncPolicy.PHASE else "elapsed_s"
    assert declared.main == (Figure(TOTAL, "durable_s"), Figure("copy", time), Figure("delete", time))
