"""The large file test with the real dd, cp, cat and rm, in plain folders."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fakes.bench import FakeBench, run_phases
from fstrial.base import proc
from fstrial.base.errors import MachineError, UsageError
from fstrial.model.declaration import TOTAL
from fstrial.model.metric import Figure
from fstrial.model.plan import Setting, SyncPolicy
from fstrial.workloads import _largefile_content
from fstrial.workloads._largefile_content import Content, pieces
from fstrial.workloads.contract import PhaseFailed, Stage, WrongContent, workloads
from fstrial.workloads.largefile import Load

MIB = 1024 * 1024
SIZE = 3 * MIB
NAMES = ["write", "copy", "read_cold", "read_warm", "cat", "delete"]
CONTENTS = ("random", "zeros")


def load(**settings: str) -> Load:
    return Load([Setting(key, value) for key, value in {"size": "3M", **settings}.items()])


@pytest.fixture
def place(tmp_path: Path) -> Stage:
    (tmp_path / "memory").mkdir()
    return Stage(tmp_path / "memory", tmp_path / "sources", may_drop=False)


@pytest.fixture
def bench(tmp_path: Path) -> FakeBench:
    (tmp_path / "trial").mkdir()
    return FakeBench(tmp_path / "trial")


def written(content: str) -> bytes:
    """What both files must hold, made at once."""
    return bytes(SIZE) if content == "zeros" else Random(20040501).randbytes(SIZE)


def prepared(place: Stage, **settings: str) -> Load:
    work = load(**settings)
    work.prepare(place)
    return work


def test_the_room_finds_it() -> None:
    assert workloads.load("largefile") is Load


@pytest.mark.parametrize("content", CONTENTS)
def test_the_whole_test_runs_and_leaves_nothing(place: Stage, bench: FakeBench, content: str) -> None:
    work = prepared(place, content=content)
    assert run_phases(work.phases(bench.root), bench) == NAMES
    assert list(bench.root.iterdir()) == []
    assert bench.operations == {**dict.fromkeys(NAMES, 1), "delete": 2}
    assert bench.moved == {**dict.fromkeys(NAMES, SIZE), "delete": 0}


def test_the_commands_are_the_published_ones(place: Stage, bench: FakeBench) -> None:
    run_phases(prepared(place, content="zeros").phases(bench.root), bench)
    root = str(bench.root)
    assert bench.commands == [
        ("dd", "if=/dev/zero", f"of={root}/largefile", "bs=1M", "count=3"),
        ("cp", "--reflink=never", "--sparse=never", f"{root}/largefile", f"{root}/largefile-copy"),
        ("dd", f"if={root}/largefile", "of=/dev/null", "bs=1M", "count=3"),
        ("dd", f"if={root}/largefile", "of=/dev/null", "bs=1M", "count=3"),
        ("cat", f"{root}/largefile-copy"),
        ("rm", f"{root}/largefile", f"{root}/largefile-copy"),
    ]


def test_random_bytes_come_from_the_staged_file(place: Stage, bench: FakeBench) -> None:
    run_phases(prepared(place).phases(bench.root), bench)
    assert bench.commands[0][1] == f"if={place.memory}/source-1/random"


def test_with_fsync_the_write_and_the_copy_end_with_one(place: Stage, bench: FakeBench) -> None:
    work = prepared(place, fsync="yes")
    run_phases(work.phases(bench.root), bench)
    assert bench.commands[0][-1] == "conv=fsync"
    assert bench.commands[2] == ("sync", f"{bench.root}/largefile-copy")
    assert "sync" in work.requires()
    assert "sync" not in load().requires()


def test_what_cat_prints_goes_to_the_null_device() -> None:
    ask = (sys.executable, "-c", "import os, sys; sys.stderr.write(os.readlink('/proc/self/fd/1'))")
    assert proc.run(ask, deadline_s=5, discard=True).stderr == "/dev/null"
    assert proc.run(ask, deadline_s=5).stderr.startswith("/memfd:")


def test_no_phase_prints_into_memory(place: Stage, bench: FakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[str] = []
    run = proc.run

    def listen(*arguments: Any, **options: Any) -> proc.Completed:
        done = run(*arguments, **options)
        printed.append(done.stdout)
        return done

    monkeypatch.setattr(proc, "run", listen)
    run_phases(prepared(place).phases(bench.root), bench)
    assert printed == [""] * len(NAMES)


@pytest.mark.parametrize("settings", [{}, {"content": "zeros"}, {"fsync": "yes"}])
def test_a_dry_run_shows_what_will_run(place: Stage, bench: FakeBench, settings: dict[str, str]) -> None:
    shown = [command for phase in load(**settings).phases(bench.root) for command in phase.shows]
    work = prepared(place, **settings)
    run_phases(work.phases(bench.root), bench)
    staged = f"if={place.memory}/source-1/random"
    assert shown == [tuple("if=SOURCE/random" if word == staged else word for word in argv) for argv in bench.commands]


def test_what_is_read_cold_is_mounted_anew_and_nothing_else_is() -> None:
    assert [phase.name for phase in load().phases(Path("/mnt")) if phase.cold] == ["read_cold", "cat"]


@pytest.mark.parametrize("content", CONTENTS)
def test_both_files_hold_every_byte_before_the_delete(place: Stage, bench: FakeBench, content: str) -> None:
    found: list[bytes] = []

    def look(phase: str) -> None:
        if phase == "delete":
            found.extend(path.read_bytes() for path in bench.root.iterdir())

    run_phases(prepared(place, content=content).phases(bench.root), bench, look)
    assert len(found) == 2
    assert all(one == written(content) for one in found)


def test_gzip_shrinks_the_zeros_and_cannot_shrink_the_random_bytes(place: Stage) -> None:
    prepared(place)
    assert place.memory is not None
    source = (place.memory / "source-1/random").read_bytes()
    assert len(source) == SIZE
    assert len(gzip.compress(source)) > SIZE
    assert len(gzip.compress(b"".join(pieces(Content.ZEROS, SIZE)))) < SIZE / 500


def test_no_block_comes_twice(place: Stage) -> None:
    blocks = [piece[at : at + 4096] for piece in pieces(Content.RANDOM, SIZE) for at in range(0, MIB, 4096)]
    assert len(set(blocks)) == SIZE // 4096


def test_the_same_bytes_come_every_time_and_a_longer_file_begins_with_a_shorter_one() -> None:
    short, long = (list(pieces(Content.RANDOM, size)) for size in (MIB, SIZE))
    assert short == long[:1]


@pytest.mark.parametrize("damage", ["truncated", "grown", "gone"])
def test_a_wrong_size_stops_before_the_delete(place: Stage, bench: FakeBench, damage: str) -> None:
    def harm(phase: str) -> None:
        if phase != "delete":
            return
        copy = bench.root / "largefile-copy"
        if damage == "gone":
            copy.unlink()
        else:
            os.truncate(copy, SIZE + (1 if damage == "grown" else -1))

    with pytest.raises(WrongContent, match=r"^largefile-copy (has \d+ bytes; 3145728 were written|cannot be read)"):
        run_phases(prepared(place).phases(bench.root), bench, harm)
    assert bench.commands[-1][0] == "cat", "nothing was deleted"


@pytest.mark.parametrize("content", CONTENTS)
def test_the_verification_passes_what_is_right(place: Stage, bench: FakeBench, content: str) -> None:
    phases = prepared(place, content=content).verification(bench.root)
    assert run_phases(phases, bench) == ["write", "copy", "verify"]
    assert phases[-1].cold, "what is in the page cache proves nothing"
    assert not phases[-1].timed


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", ["largefile", "largefile-copy"])
@pytest.mark.parametrize("offset", [0, MIB + 7, SIZE - 1])
def test_the_verification_names_the_file_and_the_first_wrong_byte(
    place: Stage, bench: FakeBench, content: str, name: str, offset: int
) -> None:
    was = written(content)[offset]

    def harm(phase: str) -> None:
        if phase == "verify":
            with (bench.root / name).open("r+b") as file:
                file.seek(offset)
                file.write(bytes([was ^ 0x20]))

    with pytest.raises(WrongContent) as caught:
        run_phases(prepared(place, content=content).verification(bench.root), bench, harm)
    assert str(caught.value) == (
        f"{name} holds other bytes than were written, from byte {offset} on: 0x{was ^ 0x20:02x} instead of 0x{was:02x}"
    )


@pytest.mark.parametrize(
    ("size", "says"),
    [
        (2 * MIB + 5, "largefile ends at byte 2097157"),
        (SIZE + 1, "largefile goes on after the 3145728 bytes that were written"),
        (None, "largefile cannot be read, from byte 0 on: No such file or directory"),
    ],
)
def test_the_verification_tells_a_wrong_length(place: Stage, bench: FakeBench, size: int | None, says: str) -> None:
    def harm(phase: str) -> None:
        if phase == "verify" and size is None:
            (bench.root / "largefile").unlink()
        elif phase == "verify":
            os.truncate(bench.root / "largefile", size)

    with pytest.raises(WrongContent) as caught:
        run_phases(prepared(place).verification(bench.root), bench, harm)
    assert str(caught.value) == says


def test_something_left_by_the_delete_fails_the_phase(place: Stage, bench: FakeBench) -> None:
    def drop(phase: str) -> None:
        if phase == "delete":
            (bench.root / "left").touch()

    with pytest.raises(PhaseFailed, match="left is still there"):
        run_phases(prepared(place).phases(bench.root), bench, drop)


def test_a_failing_program_fails_the_phase_with_its_words(place: Stage, bench: FakeBench) -> None:
    def block(phase: str) -> None:
        if phase == "write":
            (bench.root / "largefile").mkdir()

    with pytest.raises(PhaseFailed, match="Is a directory"):
        run_phases(prepared(place).phases(bench.root), bench, block)


def test_the_facts_state_size_ratio_and_place(place: Stage) -> None:
    source, staged = load().prepare(place)
    assert source.startswith("source: 3 MiB of random bytes from a fixed seed, gzip ratio about 1.0, digest ")
    assert staged == "the source is staged in memory and read before every write"
    assert load(content="zeros").prepare(place) == ("source: /dev/zero",)


def test_without_a_place_in_memory_the_source_is_kept_on_disk(tmp_path: Path, bench: FakeBench) -> None:
    stage = Stage(None, tmp_path / "sources", may_drop=False)
    work = load()
    assert work.prepare(stage)[-1] == "the source is staged on disk and read before every write"
    assert run_phases(work.phases(bench.root), bench) == NAMES
    kept = tmp_path / "sources/largefile/random-20040501-3145728/tree/random"
    made = kept.stat().st_ino
    load().prepare(stage)
    assert kept.stat().st_ino == made, "the second run finds it"


def test_a_source_that_would_crowd_the_page_cache_is_kept_on_disk(
    place: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_largefile_content, "_has_plenty", lambda folder, size_bytes: size_bytes < SIZE)
    assert "on disk" in load().prepare(place)[-1]
    assert "in memory" in load(size="2M").prepare(place)[-1]


def test_no_room_for_the_source_is_said_with_the_setting_to_change(tmp_path: Path) -> None:
    (tmp_path / "sources").touch()
    with pytest.raises(MachineError) as caught:
        load().prepare(Stage(None, tmp_path / "sources", may_drop=False))
    assert "largefile.size" in caught.value.hint


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"size": "much"}, "largefile.size: 'much' is not a size"),
        ({"size": "0"}, "largefile.size"),
        ({"size": "1500K"}, "no whole number of MiB"),
        ({"content": "zeroes"}, "did you mean 'zeros'"),
        ({"fsync": "maybe"}, "largefile.fsync"),
        ({"sise": "1G"}, "did you mean 'size'"),
    ],
)
def test_a_bad_setting_is_named(settings: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(**settings)
    assert says in f"{caught.value.message} {caught.value.hint}"


def test_needs_hold_two_files_and_room_to_spare() -> None:
    needs = load(size="1G").needs()
    assert needs.device_bytes > 2 * 1024**3
    assert needs.write_bytes == 2 * 1024**3
    assert needs.largest_file_bytes == 1024**3
    assert needs.files == 2
    assert needs.longest_name_bytes == len("largefile-copy")


@pytest.mark.parametrize("sync", SyncPolicy)
def test_the_declaration_names_only_what_is_there(sync: SyncPolicy) -> None:
    declared = load().declare(sync)
    figures = [
        *declared.main,
        *(column.figure for column in declared.columns),
        *(figure for chart in declared.charts for figure in chart.figures),
    ]
    assert {figure.metric for figure in figures} <= {metric.name for metric in declared.metrics}
    assert {figure.phase for figure in figures} <= {*NAMES, TOTAL}
    assert [phase.name for phase in declared.phases] == NAMES
    assert [column.title for column in declared.columns] == [
        "Write", "Copy", "Read, cold", "Read, warm", "cat, cold", "Delete", "Total"
    ]  # fmt: skip


def test_writes_count_until_they_are_on_the_device_unless_the_sync_comes_at_the_end() -> None:
    read = Figure("read_cold", "elapsed_s")
    by_phase, at_end = load().declare(SyncPolicy.PHASE), load().declare(SyncPolicy.END)
    assert by_phase.main == (Figure("write", "durable_s"), read, Figure("copy", "durable_s"))
    assert at_end.main == (Figure("write", "elapsed_s"), read, Figure("copy", "elapsed_s"))
    assert by_phase.columns[-1].figure == Figure(TOTAL, "durable_s")
    assert at_end.columns[-1].figure == Figure(TOTAL, "elapsed_s")


def test_what_was_done_is_said_in_a_sentence() -> None:
    said = load(size="256M", fsync="yes").declare(SyncPolicy.PHASE).about
    assert said.startswith("Writes a file of 256 MiB and copies it (each with an fsync), reads it cold and warm, ")


def test_the_defaults_are_a_quarter_of_the_published_size_in_random_bytes() -> None:
    assert {setting.key: setting.value for setting in Load().settings} == {
        "size": "256M", "content": "random", "fsync": "no"
    }  # fmt: skip
