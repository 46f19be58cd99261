"""A host without a kernel: trials take no time and give the times they are told to."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from fstrial.hosts.contract import Host, Worker, WorkerLost
from fstrial.model.metric import Sample
from fstrial.model.trial import Note, NoteKind, Outcome, PhaseKind, PhaseResult, Trial, TrialResult
from fstrial.model.wire import Progress, Start

__all__ = ["FakeHost"]

Answer = Callable[[Trial], TrialResult]


@dataclass
class FakeHost(Host):
    """`ratios` are each filesystem's time over the others', `noise` the standard deviation of its logarithm.

    `answers` replaces the result of trials by number; an answer may raise. `log` says what happened in which order.
    """

    ratios: dict[str, float] = field(default_factory=dict)
    noise: float = 0.01
    answers: dict[int, Answer] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    clock_s: float = 0.0
    trial_s: float = 1.0

    name: ClassVar[str] = "fake"
    about: ClassVar[str] = "no kernel at all"

    @contextmanager
    def worker(self, start: Start) -> Iterator[Worker]:
        self.log.append("worker begins")
        try:
            yield _FakeWorker(self)
        finally:
            self.log.append("worker ends")

    def now(self) -> float:
        return self.clock_s


class _FakeWorker:
    def __init__(self, host: FakeHost) -> None:
        self._host = host

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(NoteKind.FACT, "staged by a fake"),)

    def run(self, trial: Trial, progress: Callable[[Progress], None]) -> TrialResult:
        host = self._host
        host.log.append(f"{trial.kind.value} {trial.candidate.label}")
        host.clock_s += host.trial_s
        progress(Progress(trial.number, "copy_in"))
        answer = host.answers.get(trial.number)
        if answer is not None:
            return answer(trial)
        draw = random.Random(trial.number)
        taken_s = host.ratios.get(trial.candidate.label, 1.0) * draw.lognormvariate(0.0, host.noise)
        samples = (Sample("elapsed_s", taken_s), Sample("durable_s", taken_s))
        return TrialResult(
            Outcome.PASSED,
            "fake",
            0.0,
            host.trial_s,
            phases=(
                PhaseResult("copy_in", PhaseKind.WORKLOAD, Outcome.PASSED, samples),
                PhaseResult("total", PhaseKind.TOTAL, Outcome.PASSED, samples),
            ),
        )


def lost(trial: Trial) -> TrialResult:
    """The worker vanishes in the middle of this trial."""
    raise WorkerLost(f"planted at trial {trial.number}")
