"""The bench: what a trial hands to the phases of a workload, and the account it keeps of each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fstrial.base import proc
from fstrial.model.metric import Sample, missing
from fstrial.model.trial import Command, Note, NoteKind, SpaceReading
from fstrial.workloads.contract import PhaseFailed

__all__ = ["Account", "TrialBench", "cpu_sample", "used_bytes"]

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass
class Account:
    """What one phase has done so far; CPU times are those of the processes it ran and waited for."""

    user_s: float = 0.0
    sys_s: float = 0.0
    operations: int = 0
    moved_bytes: int = 0
    figures: dict[str, float] = field(default_factory=dict)

    def samples(self) -> tuple[Sample, ...]:
        counted = []
        if self.operations:
            counted.append(Sample("operations", float(self.operations)))
        if self.moved_bytes:
            counted.append(Sample("bytes", float(self.moved_bytes)))
        return (
            cpu_sample("user_s", self.user_s),
            cpu_sample("sys_s", self.sys_s),
            *counted,
            *(Sample(metric, value) for metric, value in self.figures.items()),
        )


def cpu_sample(metric: str, seconds: float) -> Sample:
    """A CPU time, or missing below the tick by which the kernel divides user from system time.

    kernel/sched/cputime.c, cputime_adjust(): the sum is exact, its division is sampled at ticks.
    """
    if seconds < _TICK_S:
        return missing(metric, f"below the kernel's accounting tick ({_TICK_S * 1000:.0f} ms)")
    return Sample(metric, seconds)


class TrialBench:
    """Implements workloads.contract.Bench. `image` is the descriptor of the image below the device, or None."""

    def __init__(self, root: Path, seed: int, deadline_s: float, image: int | None = None) -> None:
        self._root = root
        self._seed = seed
        self._deadline_s = deadline_s
        self._image = image
        self._phase = ""
        self._used_at_start: int | None = None
        self.account = Account()
        self.commands: list[Command] = []
        self.space: list[SpaceReading] = []
        self.notes: list[Note] = []

    @property
    def root(self) -> Path:
        return self._root

    @property
    def seed(self) -> int:
        return self._seed

    def begin(self, phase: str) -> None:
        """Open the account of the next phase."""
        self._phase = phase
        self.account = Account()

    def run(
        self, argv: Sequence[str], cwd: Path | None = None, accept: tuple[int, ...] = (0,), discard: bool = False
    ) -> proc.Completed:
        done = proc.run(argv, deadline_s=self._deadline_s, cwd=cwd, discard=discard)
        self.account.user_s += done.user_s
        self.account.sys_s += done.sys_s
        self.keep(done)
        if done.timed_out or done.exit_status not in accept:
            raise PhaseFailed(f"{argv[0]}: {_brief(done.complaint())}")
        return done

    def keep(self, done: proc.Completed) -> None:
        """Put a program that ran among the trial's commands."""
        self.commands.append(
            Command(self._phase, done.argv, done.exit_status, done.elapsed_s, _brief(done.stderr.strip()))
        )

    def count(self, operations: int = 0, moved_bytes: int = 0) -> None:
        self.account.operations += operations
        self.account.moved_bytes += moved_bytes

    def record(self, metric: str, value: float) -> None:
        self.account.figures[metric] = value

    def note(self, text: str, warning: bool = False) -> None:
        self.notes.append(Note(NoteKind.WARNING if warning else NoteKind.FACT, text))

    def read_statfs(self, when: str) -> SpaceReading:
        """Keep what statfs says and what the device takes, and return it."""
        state = os.statvfs(self._root)
        reading = SpaceReading(
            when=when,
            used_bytes=used_bytes(self._root),
            free_bytes=state.f_bavail * state.f_frsize,
            total_bytes=state.f_blocks * state.f_frsize,
            allocated_bytes=None if self._image is None else os.fstat(self._image).st_blocks * 512,
        )
        self.space.append(reading)
        if self._used_at_start is None:
            self._used_at_start = reading.used_bytes
        return reading

    def read_space(self, when: str, folder: Path) -> None:
        du_bytes = self._du(folder)
        apparent_bytes = self._du(folder, "--apparent-size")
        reading = self.read_statfs(when)
        self.space[-1] = SpaceReading(
            when=when,
            used_bytes=reading.used_bytes,
            free_bytes=reading.free_bytes,
            total_bytes=reading.total_bytes,
            allocated_bytes=reading.allocated_bytes,
            du_bytes=du_bytes,
            apparent_bytes=apparent_bytes,
        )
        self.record("du_bytes", float(du_bytes))
        if self._used_at_start is not None and reading.used_bytes is not None:
            self.record("used_bytes", float(reading.used_bytes - self._used_at_start))

    def _du(self, folder: Path, *options: str) -> int:
        words = self.run(("du", "-s", "--block-size=1", *options, str(folder))).stdout
        return int(words.split(maxsplit=1)[0])


def used_bytes(folder: Path) -> int:
    """Used bytes of the folder's filesystem, as df counts them."""
    state = os.statvfs(folder)
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def _brief(text: str, limit: int = 2000) -> str:
    """The first and last of a long complaint: thousands of lines all say `No space left on device`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - limit} characters left out …\n{text[-half:]}"
