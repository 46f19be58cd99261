"""The tree test with the real cp, tar and rm, in plain folders."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fakes.bench import FakeBench, run_phases
from fstrial.base import kernel
from fstrial.base.errors import FstrialError, MissingRequirement, UsageError
from fstrial.model.declaration import TOTAL, ChartKind
from fstrial.model.metric import Figure
from fstrial.model.plan import Setting, SyncPolicy
from fstrial.trees.compare import tally_of
from fstrial.workloads.contract import PhaseFailed, Stage, WrongContent, workloads
from fstrial.workloads.tree import Load

NAMES = ["copy_in", "disk_usage", "copy_within", "tar_gz", "untar_gz", "delete_all"]


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


def test_the_room_finds_it() -> None:
    assert workloads.load("tree") is Load


def test_the_whole_test_runs_and_leaves_nothing(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)
    assert run_phases(work.phases(bench.root), bench) == NAMES
    assert list(bench.root.iterdir()) == []
    files = work.needs().files // 3
    assert bench.operations == {
        "copy_in": files, "copy_within": files, "tar_gz": files, "untar_gz": files, "delete_all": 3 * files + 1
    }  # fmt: skip
    assert len({bench.moved[name] for name in ("copy_in", "copy_within", "tar_gz", "untar_gz")}) == 1
    assert bench.moved["delete_all"] == 0
    assert bench.spaces == ["after copy_in"]


def test_the_commands_are_the_published_ones(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)
    run_phases(work.phases(bench.root), bench)
    root = str(bench.root)
    copy = ("cp", "-r", "--reflink=never", "--sparse=never")
    assert bench.commands == [
        (*copy, f"{place.memory}/source-1/tree", f"{root}/"),
        (*copy, f"{root}/tree", f"{root}/copy2/"),
        ("tar", "-czf", f"{root}/copy2/6.tar.gz", "-C", f"{root}/copy2", "tree"),
        ("tar", "-xzf", f"{root}/copy2/6.tar.gz", "-C", f"{root}/copy3"),
        ("rm", "-rf", f"{root}/tree", f"{root}/copy2", f"{root}/copy3"),
    ]


def test_three_equal_copies_and_an_archive_are_there_before_the_delete(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)
    seen: list[object] = []

    def look(phase: str) -> None:
        if phase == "delete_all":
            seen.extend(tally_of(bench.root / copy) for copy in ("tree", "copy2/tree", "copy3/tree"))
            seen.append((bench.root / "copy2/6.tar.gz").stat().st_size)

    run_phases(work.phases(bench.root), bench, look)
    first, second, third, archive_bytes = seen
    assert first == second == third
    assert bench.figures["tar_gz"] == {"archive_bytes": archive_bytes}


def test_a_dry_run_shows_the_same_commands_before_anything_is_staged() -> None:
    shown = [shows for phase in load().phases(Path("/mnt")) for shows in phase.shows]
    assert shown == [
        ("cp", "-r", "--reflink=never", "--sparse=never", "SOURCE/tree", "/mnt/"),
        ("du", "-s", "/mnt"),
        ("mkdir", "/mnt/copy2"),
        ("cp", "-r", "--reflink=never", "--sparse=never", "/mnt/tree", "/mnt/copy2/"),
        ("tar", "-czf", "/mnt/copy2/6.tar.gz", "-C", "/mnt/copy2", "tree"),
        ("mkdir", "/mnt/copy3"),
        ("tar", "-xzf", "/mnt/copy2/6.tar.gz", "-C", "/mnt/copy3"),
        ("rm", "-rf", "/mnt/tree", "/mnt/copy2", "/mnt/copy3"),
    ]


def test_cloning_concerns_the_copy_within_alone() -> None:
    phases = {phase.name: phase for phase in load(clone="yes").phases(Path("/mnt"))}
    assert "--reflink=auto" in phases["copy_within"].shows[-1]
    assert "--reflink=never" in phases["copy_in"].shows[-1]


@pytest.mark.parametrize("damage", ["missing", "extra", "truncated", "gone"])
def test_a_wrong_count_or_size_stops_before_the_delete(place: Stage, bench: FakeBench, damage: str) -> None:
    work = load()
    work.prepare(place)

    def harm(phase: str) -> None:
        if phase != "delete_all":
            return
        copy = bench.root / "copy3/tree"
        victim = next(path for path in sorted(copy.rglob("*")) if path.is_file() and path.stat().st_size > 10)
        match damage:
            case "missing":
                victim.unlink()
            case "extra":
                (copy / "extra").touch()
            case "truncated":
                os.truncate(victim, 3)
            case _:
                shutil.rmtree(copy)

    with pytest.raises(WrongContent, match=r"^copy3/tree holds "):
        run_phases(work.phases(bench.root), bench, harm)
    assert bench.commands[-1][0] == "tar", "nothing was deleted"


@pytest.mark.parametrize("copy", ["tree", "copy2/tree", "copy3/tree"])
def test_the_verification_finds_one_wrong_byte_in_any_copy(place: Stage, bench: FakeBench, copy: str) -> None:
    work = load()
    work.prepare(place)
    names: list[Path] = []

    def harm(phase: str) -> None:
        if phase == "verify":
            files = (path for path in sorted((bench.root / copy).rglob("*")) if path.is_file())
            names.append(next(path for path in files if path.stat().st_size > 10))
            content = bytearray(names[0].read_bytes())
            content[7] ^= 0x20
            names[0].write_bytes(content)

    with pytest.raises(WrongContent) as caught:
        run_phases(work.verification(bench.root), bench, harm)
    assert str(caught.value).startswith(f"{names[0].relative_to(bench.root)}: holds other bytes than were written")
    assert "from byte 7 on" in str(caught.value)


def test_the_verification_passes_what_is_right(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)
    phases = work.verification(bench.root)
    assert run_phases(phases, bench) == ["copy_in", "copy_within", "tar_gz", "untar_gz", "verify"]
    assert phases[-1].cold, "what is in the page cache proves nothing"
    assert not phases[-1].timed


def test_something_left_by_the_delete_fails_the_phase(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)

    def drop(phase: str) -> None:
        if phase == "delete_all":
            (bench.root / "left").touch()

    with pytest.raises(PhaseFailed, match="left is still there"):
        run_phases(work.phases(bench.root), bench, drop)


def test_a_failing_program_fails_the_phase_with_its_words(place: Stage, bench: FakeBench) -> None:
    work = load()
    work.prepare(place)

    def block(phase: str) -> None:
        if phase == "copy_in":
            (bench.root / "tree").touch()

    with pytest.raises(PhaseFailed, match="cannot overwrite non-directory"):
        run_phases(work.phases(bench.root), bench, block)


def test_the_facts_state_count_bytes_and_ratio(place: Stage) -> None:
    source, staged = load().prepare(place)
    assert "generated files like those of a kernel's source tree" in source
    for part in ("files in", "directories", "996 KiB", "gzip ratio about 4.", "digest "):
        assert part in source
    assert staged == "the source is staged in memory and read before every copy"


def test_two_tree_tests_of_one_run_have_a_source_each(place: Stage) -> None:
    assert place.memory is not None
    load().prepare(place)
    load(clone="yes").prepare(place)
    assert sorted(folder.name for folder in place.memory.iterdir()) == ["source-1", "source-2"]


def test_without_a_place_in_memory_the_source_is_kept_on_disk(tmp_path: Path, bench: FakeBench) -> None:
    work = load()
    facts = work.prepare(Stage(None, tmp_path / "sources", may_drop=False))
    assert facts[-1] == "the source is staged on disk and read into memory before every copy"
    assert run_phases(work.phases(bench.root), bench) == NAMES


def test_a_cold_source_is_dropped_before_every_copy(
    tmp_path: Path, bench: FakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[str] = []
    monkeypatch.setattr(kernel, "drop_caches", lambda: dropped.append(bench.phase))
    work = load(cache="cold")
    facts = work.prepare(Stage(tmp_path, tmp_path / "sources", may_drop=True))
    assert facts[-1] == "the source is staged on disk and dropped from memory before every copy"
    run_phases(work.phases(bench.root), bench)
    assert dropped == ["copy_in"]


def test_a_cold_source_needs_root(place: Stage) -> None:
    with pytest.raises(MissingRequirement, match=r"tree\.cache=cold needs root"):
        load(cache="cold").prepare(place)


def test_a_folder_and_its_tarball_are_one_source(tmp_path: Path, place: Stage) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    (source / "file").write_bytes(b"x" * 7000)
    archive = shutil.make_archive(str(tmp_path / "mine"), "xztar", source)
    facts = [load(source=word, scale="0.00001").prepare(place)[0] for word in (str(source), archive)]
    digests = {fact.rpartition("digest ")[2] for fact in facts}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("settings", "says", "hint"),
    [
        ({"source": "/not/here"}, "there is no folder or tarball '/not/here'", "built in"),
        ({"source": "/etc/passwd"}, "no tarball", "source="),
        ({"source": "/usr/share/doc/tar", "scale": "5"}, "are wanted", "tree.scale="),
    ],
)
def test_a_source_that_will_not_do_is_said_before_anything_runs(settings: dict[str, str], says: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(**settings).needs()
    assert says in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"scale": "-1"}, "tree.scale"),
        ({"scale": "much"}, "tree.scale"),
        ({"cache": "wram"}, "did you mean 'warm'"),
        ({"clone": "maybe"}, "tree.clone"),
        ({"sorce": "system"}, "did you mean 'source'"),
    ],
)
def test_a_bad_setting_is_named(settings: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(**settings)
    assert says in f"{caught.value.message} {caught.value.hint}"


def test_needs_hold_three_copies_and_the_archive() -> None:
    needs = load(scale="0.1").needs()
    assert needs.device_bytes > 4 * 65.5 * 1024 * 1024
    assert needs.device_bytes < 1024**3
    assert needs.write_bytes > 3 * 65.5 * 1024 * 1024
    assert needs.largest_file_bytes > 65.5 * 1024 * 1024
    assert not needs.symlinks


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
        "Copy in", "Disk usage", "Copy within", "tar -czf", "tar -xzf", "Delete all", "Total"
    ]  # fmt: skip
    assert {chart.kind for chart in declared.charts} == set(ChartKind)


def test_the_main_figures_follow_the_sync_policy() -> None:
    total = Figure(TOTAL, "durable_s")
    assert load().declare(SyncPolicy.PHASE).main == (
        total, Figure("copy_in", "durable_s"), Figure("delete_all", "durable_s")
    )  # fmt: skip
    assert load().declare(SyncPolicy.END).main == (
        total, Figure("copy_in", "elapsed_s"), Figure("delete_all", "elapsed_s")
    )  # fmt: skip


def test_the_defaults_are_a_tenth_of_the_published_tree_from_this_machine() -> None:
    assert {setting.key: setting.value for setting in Load().settings} == {
        "source": "system", "scale": "0.1", "cache": "warm", "clone": "no"
    }  # fmt: skip


def test_linux_without_its_package_is_a_missing_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "glob", lambda *arguments: iter(()))
    with pytest.raises(FstrialError) as caught:
        load(source="linux").needs()
    assert isinstance(caught.value, MissingRequirement)
