"""One trial: mkfs, mount, the phases of a workload, sync, unmount, and a check when asked for.

Everything that ran and everything that was measured is in the result, raw.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fstrial.base import proc
from fstrial.base.errors import FstrialError
from fstrial.base.units import MIB
from fstrial.devices.claim import superblock_uuid
from fstrial.devices.contract import Attached, Held
from fstrial.filesystems.contract import Filesystem, Health
from fstrial.model.declaration import TOTAL
from fstrial.model.plan import SyncPolicy
from fstrial.model.trial import (
    CacheState,
    Command,
    Outcome,
    PhaseKind,
    PhaseResult,
    Trial,
    TrialKind,
    TrialResult,
)
from fstrial.probes._machine import KernelLog, context
from fstrial.probes.contract import Place
from fstrial.run.bench import TrialBench
from fstrial.run.measure import NO_SYNC, Measurer, Timed, describe, not_reached, total_of
from fstrial.run.mounted import Mounted, OnDevice, OnFolder
from fstrial.workloads.contract import Phase, PhaseFailed, Workload, WrongContent

__all__ = ["HARNESS_PHASES", "Venue", "run_trial"]

HARNESS_PHASES = ("mkfs", "mount", "unmount", "fsck")
_CHECK_DEADLINE_S = 3600.0
_FULL_BELOW_BYTES = 4 * MIB


@dataclass(frozen=True)
class Venue:
    """Where a trial takes place: the claimed target, the filesystem (None on a folder), an empty folder to mount on,
    and whether caches can be dropped."""

    held: Held
    filesystem: Filesystem | None
    place: Path
    host: str
    may_drop: bool


def run_trial(trial: Trial, workload: Workload, venue: Venue, progress: Callable[[str], None]) -> TrialResult:
    """Run one trial to its result. A failing phase is in the result; only a defect raises."""
    started_at = time.time()
    begin = time.monotonic()
    course: _Course | None = None
    failure = ""
    with KernelLog() as kernel_log:
        seen = context()
        try:
            with venue.held.attach() as attached:
                course = _Course(trial, workload, venue, attached, progress)
                try:
                    course.run()
                finally:
                    course.full_below = _is_full(attached.image)
        except (FstrialError, OSError) as error:
            failure = describe(error)
        complaints = kernel_log.notes(() if course is None else course.devices())
    result = TrialResult(
        outcome=Outcome.FAILED if failure else Outcome.PASSED,
        host=venue.host,
        started_at=started_at,
        elapsed_s=time.monotonic() - begin,
        reason=failure,
        notes=complaints,
        context=tuple(seen),
    )
    return result if course is None else course.complete(result)


def _is_full(image: int | None) -> bool:
    """Whether the image cannot grow any more: the filesystem on it then only sees I/O errors."""
    if image is None:
        return False
    state = os.fstatvfs(image)
    return state.f_bavail * state.f_frsize < _FULL_BELOW_BYTES


def _nothing() -> None:
    pass


class _Course:
    """The course of one trial on one attached device."""

    def __init__(
        self,
        trial: Trial,
        workload: Workload,
        venue: Venue,
        attached: Attached,
        progress: Callable[[str], None],
    ) -> None:
        self.trial = trial
        self.venue = venue
        self.attached = attached
        self.progress = progress
        self.measurer = Measurer(Place(attached.statistics, attached.below))
        self.mounted = self._mounted()
        self.bench = TrialBench(self.mounted.root, trial.seed, trial.deadline_s, attached.image)
        verifying = trial.kind is TrialKind.VERIFICATION
        root = self.mounted.root
        self.workload_phases = workload.verification(root) if verifying else workload.phases(root)
        self.phases: list[PhaseResult] = []
        self.reason = ""
        self.wrong_content = ""
        self.full_below = False

    def devices(self) -> tuple[str, ...]:
        """Names of the block devices that the trial stands on, as the kernel log has them."""
        files = (self.attached.statistics, self.attached.below)
        return tuple(file.parent.name for file in files if file is not None)

    def complete(self, result: TrialResult) -> TrialResult:
        """The result with all that happened on the course."""
        reason = self.reason or self.wrong_content or result.reason
        if reason and self.full_below:
            reason += f" (the disk that holds the image is full: {self.attached.facts.backing})"
        return msgspec.structs.replace(
            result,
            outcome=Outcome.FAILED if reason else Outcome.PASSED,
            reason=reason,
            phases=tuple(self.phases),
            space=tuple(self.bench.space),
            commands=tuple(self.bench.commands),
            notes=(*self.attached.notes, *self.bench.notes, *result.notes),
            device=self.attached.facts,
            wrong_content=self.wrong_content,
        )

    def _mounted(self) -> Mounted:
        if self.attached.folder or self.venue.filesystem is None:
            return OnFolder(self.attached.writable.path, self.venue.may_drop)
        return OnDevice(
            self.attached,
            self.venue.filesystem,
            self.trial.candidate.filesystem.mount,
            self.venue.place,
            self.venue.may_drop,
        )

    def run(self) -> None:
        mounted = self.mounted
        if not isinstance(mounted, OnDevice):
            self._skip(HARNESS_PHASES[:2], "the folder is on a filesystem that is mounted already")
            self.attached.writable.prove()
            mounted.take()
            self.bench.read_statfs("at the start")
            try:
                self._workload()
            finally:
                mounted.release()
            self._skip(HARNESS_PHASES[2:], "the folder is on a filesystem that stays mounted")
            return
        try:
            prove = self.attached.writable.prove
            if self._harness("mkfs", self._make, before=prove, after=self._adopt) and self._harness(
                "mount", self._mount, before=prove, after=self._begin
            ):
                self._workload()
        finally:
            if mounted.is_mounted:
                self._harness("unmount", self._unmount, before=self._read_end)
        if self.trial.fsck and not mounted.is_mounted:
            self._harness("fsck", self._check)

    def _harness(
        self,
        name: str,
        work: Callable[[], None],
        before: Callable[[], None] = _nothing,
        after: Callable[[], None] = _nothing,
    ) -> bool:
        """A phase of the trial's own; `work` alone is timed."""
        self.progress(name)
        self.bench.begin(name)
        try:
            before()
            self._keep(self.measurer.measure(name, PhaseKind.HARNESS, self.bench, work).result)
            if self.phases[-1].outcome is Outcome.PASSED:
                after()
        except (FstrialError, OSError) as error:
            measured = self.phases.pop().samples if self.phases and self.phases[-1].name == name else ()
            self._keep(PhaseResult(name, PhaseKind.HARNESS, Outcome.FAILED, measured, describe(error)))
        return self.phases[-1].outcome is Outcome.PASSED

    def _keep(self, result: PhaseResult) -> None:
        self.phases.append(result)
        if result.outcome is Outcome.FAILED and not self.reason:
            self.reason = f"{result.name}: {result.reason}"

    def _skip(self, names: tuple[str, ...], reason: str) -> None:
        metrics = ("elapsed_s", *self.measurer.metrics)
        self.phases.extend(not_reached(name, PhaseKind.HARNESS, metrics, reason) for name in names)

    def _make(self) -> None:
        assert self.venue.filesystem is not None
        device = str(self.attached.writable.path)
        self.bench.run(self.venue.filesystem.make(device, self.trial.candidate.filesystem.mkfs))

    def _adopt(self) -> None:
        """From now on the device is known by the identity that mkfs gave it."""
        self.attached.writable.adopt_uuid(superblock_uuid(self.attached.writable.path))

    def _mount(self) -> None:
        assert isinstance(self.mounted, OnDevice)
        self._call(self.mounted.mount, self._mount_command())

    def _begin(self) -> None:
        assert isinstance(self.mounted, OnDevice)
        self.mounted.begin()
        self.bench.read_statfs("after mkfs")

    def _unmount(self) -> None:
        assert isinstance(self.mounted, OnDevice)
        self._call(self.mounted.unmount, ("umount", str(self.venue.place)))

    def _read_end(self) -> None:
        """A filesystem that shut itself down answers nothing; it must be unmounted all the same."""
        with suppress(OSError):
            self.bench.read_statfs("at the end")

    def _call(self, call: Callable[[], None], shown: tuple[str, ...]) -> None:
        """Do a mount or unmount by system call, and keep the command a person would type for it."""
        begin = time.monotonic()
        code, words = 0, ""
        try:
            call()
        except (OSError, FstrialError) as error:
            code, words = getattr(error, "errno", None) or 1, describe(error)
            raise
        finally:
            phase = shown[0].replace("umount", "unmount")
            self.bench.commands.append(Command(phase, shown, code, time.monotonic() - begin, words))

    def _mount_command(self) -> tuple[str, ...]:
        assert self.venue.filesystem is not None
        return self.venue.filesystem.mount_command(
            str(self.attached.writable.path), self.venue.place, self.trial.candidate.filesystem.mount
        )

    def _check(self) -> None:
        filesystem = self.venue.filesystem
        assert filesystem is not None
        done = proc.run(filesystem.check(str(self.attached.writable.path)), deadline_s=_CHECK_DEADLINE_S)
        self.bench.keep(done)
        verdict = filesystem.check_means(done.exit_status, done.stdout + done.stderr)
        if verdict.health is not Health.CLEAN:
            raise PhaseFailed(f"{done.argv[0]} says {verdict.health.value}: {verdict.reason or done.complaint()}")

    def _workload(self) -> None:
        """The workload's phases in order, until one fails; then their total."""
        by_phase = self.trial.sync is SyncPolicy.PHASE
        timed: list[Timed] = []
        for index, phase in enumerate(self.workload_phases):
            done = self._phase(phase, by_phase)
            if phase.timed:
                timed.append(done)
            if done.result.outcome is not Outcome.PASSED:
                self._not_reached(self.workload_phases[index + 1 :], phase.name)
                break
        # a remount in between wrote back outside any timing: no sync at the end makes up for that
        remounted = any(phase.cold for phase in self.workload_phases)
        final_sync_s = None if by_phase or self.reason or remounted else self._final_sync()
        if self.trial.kind is TrialKind.MEASURED and timed:
            self.phases.append(total_of(TOTAL, timed, final_sync_s))

    def _phase(self, phase: Phase, by_phase: bool) -> Timed:
        self.progress(phase.name)
        self.bench.begin(phase.name)
        cache = CacheState.WARM
        try:
            if phase.cold:
                cache = self.mounted.make_cold()
            if phase.before is not None:
                phase.before(self.bench)
        except (PhaseFailed, WrongContent, OSError, FstrialError) as error:
            return self._refused(phase, error)
        done = self._timed(phase, by_phase, cache) if phase.timed else self._untimed(phase, cache)
        self._keep(done.result)
        if phase.after is not None and done.result.outcome is Outcome.PASSED:
            self._after(phase)
        return done

    def _after(self, phase: Phase) -> None:
        """Look at what the phase left; times stand, but a wrong end state fails the trial."""
        assert phase.after is not None
        try:
            phase.after(self.bench)
        except WrongContent as error:
            self.wrong_content = str(error)
        except (PhaseFailed, OSError, FstrialError) as error:
            self.reason = self.reason or f"after {phase.name}: {describe(error)}"

    def _timed(self, phase: Phase, by_phase: bool, cache: CacheState) -> Timed:
        return self.measurer.measure(
            phase.name,
            PhaseKind.WORKLOAD,
            self.bench,
            lambda: self._work(phase),
            sync=self.mounted.sync if by_phase else None,
            unsynced="" if by_phase else NO_SYNC,
            cache=cache,
        )

    def _untimed(self, phase: Phase, cache: CacheState) -> Timed:
        """A phase that only prepares or reads: the figures it recorded, no times."""
        reason = ""
        try:
            self._work(phase)
        except (PhaseFailed, OSError, FstrialError) as error:
            reason = describe(error)
        figures = tuple(sample for sample in self.bench.account.samples() if sample.metric not in ("user_s", "sys_s"))
        outcome = Outcome.FAILED if reason else Outcome.PASSED
        return Timed(PhaseResult(phase.name, PhaseKind.WORKLOAD, outcome, figures, reason, cache), 0.0, 0.0)

    def _work(self, phase: Phase) -> None:
        try:
            phase.work(self.bench)
        except WrongContent as error:
            self.wrong_content = str(error)
            raise PhaseFailed(f"wrong content: {error}") from error

    def _refused(self, phase: Phase, error: Exception) -> Timed:
        """What had to be true before the phase was not: it never began."""
        if isinstance(error, WrongContent):
            self.wrong_content = str(error)
        metrics = ("elapsed_s", "durable_s", *self.measurer.metrics) if phase.timed else ()
        result = not_reached(phase.name, PhaseKind.WORKLOAD, metrics, describe(error))
        self.phases.append(result)
        self.reason = self.reason or f"{phase.name}: {describe(error)}"
        return Timed(result, 0.0, 0.0)

    def _not_reached(self, phases: tuple[Phase, ...], failed: str) -> None:
        metrics = ("elapsed_s", "durable_s", "user_s", "sys_s", *self.measurer.metrics)
        for phase in phases:
            self.phases.append(
                not_reached(
                    phase.name,
                    PhaseKind.WORKLOAD,
                    metrics if phase.timed else (),
                    f"not reached: {failed} failed",
                )
            )

    def _final_sync(self) -> float | None:
        begin = time.monotonic()
        try:
            self.mounted.sync()
        except OSError as error:
            self.reason = f"final sync: {describe(error)}"
            return None
        return time.monotonic() - begin
