"""Units, the registry, errors and the one door to programs."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fstrial.base import proc, units
from fstrial.base.errors import ExitCode, FstrialError, MissingRequirement, UsageError
from fstrial.base.registry import Registry, nearest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("text", "size"), [("2G", 2 << 30), ("1.5K", 1536), ("512", 512), ("64 MiB", 64 << 20), ("3T", 3 << 40)]
)
def test_sizes_are_of_1024(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "2X", "1e9", "0", "two", "2GG", "1,5G"])
def test_what_is_no_size_is_refused_and_names_the_option(text: str) -> None:
    with pytest.raises(UsageError, match="--on"):
        units.parse_size(text, "--on")


@given(st.integers(1, 1 << 60))
def test_a_size_word_reads_back_exactly(size: int) -> None:
    assert units.parse_size(units.size_word(size)) == size or size > 1 << 53


@pytest.mark.parametrize(("text", "seconds"), [("10m", 600), ("90", 90), ("1h30m", 5400), ("250ms", 0.25)])
def test_durations(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "10 minutes", "1h30", "0", "-5m", "1.2.3s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    if text == "1h30":
        assert units.parse_duration(text) == 3630  # seconds are the unit of a bare number
        return
    with pytest.raises(UsageError):
        units.parse_duration(text)


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("150%", 1.5)])
def test_shares(text: str, share: float) -> None:
    assert units.parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "0", "-1%", "nan", "inf", "five"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_share(text)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1536, "1.5 KiB"), (213 << 20, "213 MiB"), (5 << 40, "5 TiB")]
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert units.format_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.038, "38 ms"), (4.207, "4.21 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations_for_people(seconds: float, text: str) -> None:
    assert units.format_duration(seconds) == text


def test_a_part_is_found_by_its_file_and_the_nearest_name_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "a_room"
    room.mkdir()
    for name in ("__init__", "contract", "_private", "guard", "btr_fs", "xfs"):
        (room / f"{name}.py").write_text(f"Type = {name!r}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry: Registry[str] = Registry("a_room", "Type", "filesystem", apart=("guard",))
    assert registry.names() == ("btr-fs", "xfs")
    assert registry.load("btr-fs") == "btr_fs"
    with pytest.raises(UsageError) as caught:
        registry.load("xsf")
    assert "did you mean 'xfs'" in caught.value.hint
    assert nearest("zzzzz", registry.names()) == ""


def test_every_error_has_an_exit_code_of_its_own() -> None:
    kinds = FstrialError.__subclasses__()
    codes = [kind.exit_code for kind in kinds]
    assert len(set(codes)) == len(codes)
    assert ExitCode.DEFECT not in codes


def test_the_documented_exit_codes_are_those_of_the_code() -> None:
    lines = (DOCS / "exit-codes.md").read_text().splitlines()
    rows = [line.split("|") for line in lines if line.startswith("| ") and line.split("|")[1].strip().isdigit()]
    assert {int(row[1]): row[2].strip() for row in rows} == {code.value: code.meaning for code in ExitCode}


def test_a_program_reports_its_own_cpu_time_and_that_of_its_children() -> None:
    burn = "import time; t = time.process_time()\nwhile time.process_time() - t < 0.3: pass"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = proc.run(("sh", "-c", f"{sys.executable} -c '{burn}'"), deadline_s=30)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.exit_status == 0
    seen = done.user_s + done.sys_s
    assert seen == pytest.approx(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, abs=0.02)
    assert seen >= 0.3


def test_a_program_past_its_deadline_is_killed_with_its_children() -> None:
    begin = time.monotonic()
    done = proc.run(("sh", "-c", "sleep 61 & sleep 61; true"), deadline_s=0.3)
    assert done.timed_out
    assert time.monotonic() - begin < 5
    left = subprocess.run(["pgrep", "-f", "^sleep 61$"], capture_output=True, text=True).stdout.split()
    assert left == []


def test_elapsed_time_is_not_blurred_by_polling() -> None:
    times = [proc.run(("sleep", "0.05"), deadline_s=5).elapsed_s for _ in range(5)]
    assert min(times) < 0.075


def test_programs_see_a_built_environment_not_the_users() -> None:
    seen = proc.run(("env",), deadline_s=5).stdout.splitlines()
    assert {line.partition("=")[0] for line in seen} == {"PATH", "LC_ALL", "TZ", "HOME"}


def test_an_absent_program_is_a_missing_requirement() -> None:
    with pytest.raises(MissingRequirement, match="no-such-program"):
        proc.run(("no-such-program",), deadline_s=1)


def test_a_name_that_is_no_utf8_survives_the_door(tmp_path: Path) -> None:
    odd = tmp_path / "sp ace\nnew\udcff"
    odd.write_text("x")
    assert proc.run(("cat", str(odd)), deadline_s=5).stdout == "x"


def test_output_beyond_64_kib_keeps_its_end() -> None:
    done = proc.run(("seq", "1", "100000"), deadline_s=10)
    assert len(done.stdout) == 64 * 1024
    assert done.stdout.endswith("\n100000\n")
