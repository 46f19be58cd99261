"""Trials that must fail: each has to be reported as exactly that failure, with what was done until then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from fstrial.base import kernel
from fstrial.base.errors import FstrialError
from fstrial.base.units import MIB
from fstrial.devices.contract import target_of
from fstrial.filesystems.contract import filesystems
from fstrial.model.declaration import Declaration
from fstrial.model.plan import Candidate, FilesystemChoice, SyncPolicy, WorkloadChoice
from fstrial.model.trial import CacheState, NoteKind, Outcome, PhaseKind, PhaseResult, Trial, TrialKind, TrialResult
from fstrial.run.trial import Venue, run_trial
from fstrial.workloads.contract import Bench, Key, Needs, Phase, Stage, Workload, WrongContent

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("need_root")]

Work = Callable[[Bench], None]


class Planted(Workload):
    """Three phases: one that goes well, the planted one, and one that must not be reached after a failure."""

    name: ClassVar[str] = "planted"
    summary: ClassVar[str] = "a fault on purpose"
    keys: ClassVar[tuple[Key, ...]] = ()

    def __init__(self, fault: Work, after: Work | None = None, cold: bool = False) -> None:
        super().__init__()
        self.fault, self.after, self.cold = fault, after, cold

    def declare(self, sync: SyncPolicy) -> Declaration:
        return Declaration("planted", "", (), (), (), ())

    def needs(self) -> Needs:
        return Needs(16 * MIB, MIB, 3)

    def prepare(self, stage: Stage) -> tuple[str, ...]:
        return ()

    def phases(self, root: Path) -> tuple[Phase, ...]:
        return (
            Phase("good", lambda bench: (root / "good").write_bytes(b"x" * MIB) and None),
            Phase("planted", self.fault, after=self.after, cold=self.cold),
            Phase("never", lambda bench: (root / "never").mkdir()),
        )

    def verification(self, root: Path) -> tuple[Phase, ...]:
        return (Phase("verify", self.fault, cold=True, timed=False),)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "fs"
    folder.mkdir()
    yield folder
    while folder.is_mount():
        kernel.umount(folder)


def _run(
    place: Path,
    workload: Workload,
    kind: TrialKind = TrialKind.MEASURED,
    filesystem: str = "ext4",
    mount: tuple[str, ...] = (),
    sync: SyncPolicy = SyncPolicy.PHASE,
    deadline_s: float = 60.0,
) -> TrialResult:
    choice = FilesystemChoice(filesystem, filesystem, mount=mount)
    trial = Trial(
        1,
        0,
        0,
        Candidate(filesystem, choice, "loop:64M"),
        WorkloadChoice("planted"),
        kind,
        sync,
        deadline_s=deadline_s,
    )
    with target_of("loop:64M").hold((), 64 * MIB, place.parent) as held:
        venue = Venue(held, filesystems.load(filesystem)(), place, "native", may_drop=True)
        return run_trial(trial, workload, venue, lambda phase: None)


def _phase(result: TrialResult, name: str) -> PhaseResult:
    found = result.phase(name)
    assert found is not None
    return found


def test_a_program_that_fails_makes_its_phase_a_lower_bound_and_stops_the_trial(place: Path) -> None:
    result = _run(place, Planted(lambda bench: bench.run(("ls", "/no/such/place")) and None))
    assert result.outcome is Outcome.FAILED
    assert "No such file" in result.reason
    planted = _phase(result, "planted")
    elapsed = planted.sample("elapsed_s")
    assert elapsed is not None
    assert elapsed.lower_bound
    assert elapsed.value is not None
    assert elapsed.value > 0
    assert _phase(result, "good").outcome is Outcome.PASSED
    never = _phase(result, "never")
    assert never.outcome is Outcome.SKIPPED
    assert all(sample.value is None and "planted failed" in sample.missing for sample in never.samples)
    total = _phase(result, "total")
    assert total.outcome is Outcome.FAILED
    assert all(sample.lower_bound for sample in total.samples if sample.value is not None)
    assert _phase(result, "unmount").outcome is Outcome.PASSED


def test_a_program_that_hangs_is_killed_at_its_deadline_and_named(place: Path) -> None:
    begin = time.monotonic()
    result = _run(place, Planted(lambda bench: bench.run(("sleep", "60")) and None), deadline_s=0.5)
    assert time.monotonic() - begin < 20
    assert result.outcome is Outcome.FAILED
    assert "deadline" in result.reason


def test_a_full_filesystem_is_a_failed_phase_with_the_reason(place: Path) -> None:
    fill = ("dd", "if=/dev/zero", f"of={place}/trial/full", "bs=1M", "count=200")
    result = _run(place, Planted(lambda bench: bench.run(fill) and None))
    assert result.outcome is Outcome.FAILED
    assert "No space left on device" in result.reason
    assert _phase(result, "unmount").outcome is Outcome.PASSED


def test_a_wrong_byte_is_told_apart_from_a_failure(place: Path) -> None:
    def fault(bench: Bench) -> None:
        raise WrongContent("a/b: byte 7 is 0x41, 0x42 was written")

    result = _run(place, Planted(fault), kind=TrialKind.VERIFICATION)
    assert result.outcome is Outcome.FAILED
    assert "byte 7" in result.wrong_content
    assert result.phase("total") is None


def test_a_wrong_end_state_fails_the_trial_though_the_times_stand(place: Path) -> None:
    def look(bench: Bench) -> None:
        raise WrongContent("3 files, 4 were written")

    result = _run(place, Planted(lambda bench: None, after=look))
    assert result.outcome is Outcome.FAILED
    assert "4 were written" in result.wrong_content


def test_mkfs_that_fails_is_named_with_its_own_words_and_nothing_is_mounted(place: Path) -> None:
    choice = FilesystemChoice("ext4", "ext4", mkfs=("-O", "no_such_feature"))
    trial = Trial(1, 0, 0, Candidate("ext4", choice, "loop:64M"), WorkloadChoice("planted"))
    with target_of("loop:64M").hold((), 64 * MIB, place.parent) as held:
        venue = Venue(held, filesystems.load("ext4")(), place, "native", may_drop=True)
        result = run_trial(trial, Planted(lambda bench: None), venue, lambda phase: None)
    assert result.outcome is Outcome.FAILED
    assert "no_such_feature" in result.reason
    assert result.phase("good") is None
    assert not place.is_mount()


def test_a_mount_that_fails_names_the_option_and_keeps_what_the_kernel_said(place: Path) -> None:
    result = _run(place, Planted(lambda bench: None), mount=("no_such_option",))
    assert result.outcome is Outcome.FAILED
    assert result.reason.startswith("mount:")
    assert any("no_such_option" in note.text for note in result.notes)
    mounted = next(command for command in result.commands if command.argv[0] == "mount")
    assert mounted.exit_status != 0


def test_a_dirty_kernel_log_is_a_warning_in_the_result(place: Path) -> None:
    def complain(bench: Bench) -> None:
        with pytest.raises(OSError, match="Invalid argument"):
            kernel.mount("none", bench.root, "tmpfs", ("planted_complaint",))

    result = _run(place, Planted(complain))
    assert result.outcome is Outcome.PASSED
    warnings = [note.text for note in result.notes if note.kind is NoteKind.WARNING]
    assert any("planted_complaint" in text for text in warnings)


def test_a_mount_left_inside_the_filesystem_fails_the_unmount(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fstrial.run.mounted._BUSY_DEADLINE_S", 0.2)

    def leak(bench: Bench) -> None:
        (bench.root / "leak").mkdir()
        kernel.mount("leak", bench.root / "leak", "tmpfs")

    result = _run(place, Planted(leak))
    try:
        assert result.outcome is Outcome.FAILED
        assert "unmount" in result.reason or "detach" in result.reason
    finally:
        kernel.umount(place / "trial" / "leak")


def test_an_os_error_of_a_workload_is_a_failed_phase_not_a_crash(place: Path) -> None:
    result = _run(place, Planted(lambda bench: (bench.root / "a" / "b").write_text("x") and None))
    assert result.outcome is Outcome.FAILED
    assert "ENOENT" in result.reason


def test_an_error_of_ours_inside_a_phase_is_a_failed_phase(place: Path) -> None:
    def raise_ours(bench: Bench) -> None:
        raise FstrialError("said by the workload")

    result = _run(place, Planted(raise_ours))
    assert "said by the workload" in result.reason


def test_sync_at_the_end_leaves_phases_without_a_durable_time_but_not_the_total(place: Path) -> None:
    result = _run(place, Planted(lambda bench: None), sync=SyncPolicy.END)
    good = _phase(result, "good").sample("durable_s")
    assert good is not None
    assert good.value is None
    assert "sync=end" in good.missing
    total = _phase(result, "total").sample("durable_s")
    assert total is not None
    assert total.value is not None
    assert total.value > 0


def test_a_remount_between_phases_leaves_no_durable_total_without_syncs(place: Path) -> None:
    """It wrote back outside every timing; a sync at the end would look like the price of all that was written."""
    result = _run(place, Planted(lambda bench: None, cold=True), sync=SyncPolicy.END)
    assert _phase(result, "planted").cache is CacheState.COLD
    total = _phase(result, "total").sample("durable_s")
    assert total is not None
    assert total.value is None


def test_harness_phases_stand_in_the_result_with_their_times(place: Path) -> None:
    result = _run(place, Planted(lambda bench: None))
    assert [phase.name for phase in result.phases] == [
        "mkfs", "mount", "good", "planted", "never", "total", "unmount",
    ]  # fmt: skip
    assert all(
        (sample := phase.sample("elapsed_s")) is not None and sample.value
        for phase in result.phases
        if phase.kind is PhaseKind.HARNESS
    )
    written = _phase(result, "good").sample("device_write_bytes")
    assert written is not None
    assert written.value is not None
    assert written.value >= MIB
