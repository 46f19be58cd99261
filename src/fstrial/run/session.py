"""A session runs a whole plan: verification first, then blocks of trials until the answer is sure.

Each result is stored before the next trial begins, so whatever kills the session loses one trial at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol

import msgspec

from fstrial.base.errors import MachineError
from fstrial.hosts.contract import Host, Worker, WorkerLost
from fstrial.model.analysis import Outlook
from fstrial.model.plan import Plan
from fstrial.model.record import RunRecord, RunState, TrialRecord
from fstrial.model.trial import NoteKind, Outcome, PhaseKind, Trial, TrialKind, TrialResult
from fstrial.model.wire import Progress, Start
from fstrial.planning.schedule import blocks, verification_trials
from fstrial.stats.analysis import analyse

__all__ = ["Ending", "Events", "Keeper", "Silent", "run_session"]

_LOST_IN_A_ROW = 3


class Keeper(Protocol):
    """What a session needs of the store."""

    def add(self, run_id: int, trial: Trial, result: TrialResult) -> None: ...

    def load(self, run_id: int) -> RunRecord: ...

    def finish(self, run_id: int, state: RunState, reason: str) -> None: ...


class Events(Protocol):
    """Who listens to a session: a progress bar, lines in a log, a test."""

    def trial_begins(self, trial: Trial, blocks_expected: int) -> None: ...

    def phase_begins(self, trial: Trial, phase: str) -> None: ...

    def trial_ends(self, trial: Trial, result: TrialResult) -> None: ...

    def block_ends(self, block: int, outlook: Outlook) -> None: ...


class Silent:
    """Nobody listens."""

    def trial_begins(self, trial: Trial, blocks_expected: int) -> None:
        pass

    def phase_begins(self, trial: Trial, phase: str) -> None:
        pass

    def trial_ends(self, trial: Trial, result: TrialResult) -> None:
        pass

    def block_ends(self, block: int, outlook: Outlook) -> None:
        pass


@dataclass(frozen=True)
class Ending:
    """How a session ended, in words; `content` when a filesystem gave back wrong bytes."""

    state: RunState
    reason: str
    content: str = ""


def run_session(
    run_id: int,
    start: Start,
    host: Host,
    keeper: Keeper,
    events: Events,
    clock: Callable[[], float] = time.monotonic,
) -> Ending:
    """Run what the run still lacks of its plan, and store how it ended.

    Raises MachineError when workers cannot be kept alive or a filesystem cannot be mounted at all; KeyboardInterrupt
    passes through with the run marked as interrupted.
    """
    session = _Session(run_id, start, host, keeper, events, clock)
    try:
        ending = session.run()
    except KeyboardInterrupt:
        keeper.finish(run_id, RunState.INTERRUPTED, "interrupted")
        raise
    except Exception as error:
        keeper.finish(run_id, RunState.FAILED, str(error))
        raise
    keeper.finish(run_id, ending.state, ending.reason)
    return ending


class _Session:
    def __init__(
        self,
        run_id: int,
        start: Start,
        host: Host,
        keeper: Keeper,
        events: Events,
        clock: Callable[[], float],
    ) -> None:
        self.run_id = run_id
        self.plan: Plan = start.plan
        self.keeper = keeper
        self.events = events
        self.clock = clock
        self.begin = clock()
        record = keeper.load(run_id)
        self.done: dict[int, TrialRecord] = {kept.trial.number: kept for kept in record.trials}
        self.spent_before_s = sum(kept.result.elapsed_s for kept in record.trials)
        self.record = record
        self.staff = _Staff(host, start)
        self.blocks_expected = self.plan.rule.runs or 5

    def run(self) -> Ending:
        with self.staff:
            for trial in verification_trials(self.plan) if self.plan.verify else ():
                result = self._trial(trial)
                if result.wrong_content:
                    return Ending(
                        RunState.FAILED,
                        f"{trial.candidate.label} gave back wrong content",
                        result.wrong_content,
                    )
            for number, block in enumerate(self._blocks()):
                ending = self._look(number, self._block(block))
                if ending is not None:
                    return ending
        return Ending(RunState.FINISHED, "every block has run")

    def _blocks(self) -> Iterator[tuple[Trial, ...]]:
        limit = self.plan.rule.runs or self.plan.rule.max_runs
        for number, block in enumerate(blocks(self.plan, self.plan.seed)):
            if number >= limit:
                return
            yield block

    def _block(self, block: Iterable[Trial]) -> float:
        """Run the block's trials that are not stored yet; returns how long the whole block takes."""
        return sum(self._trial(trial).elapsed_s for trial in block)

    def _look(self, number: int, block_s: float) -> Ending | None:
        """After a complete block: is the answer sure, is there budget for one more?"""
        rule = self.plan.rule
        outlook = analyse(self._record()).outlook
        self.events.block_ends(number, outlook)
        done = number + 1
        if rule.runs is None:
            self.blocks_expected = min(rule.max_runs, done + (outlook.more_blocks or (0 if outlook.sure else 5 - done)))
            self.blocks_expected = max(self.blocks_expected, done)
        if outlook.sure and rule.runs is None:
            return Ending(RunState.FINISHED, f"the answer is as sure as asked for after {done} blocks")
        if done >= (rule.runs or rule.max_runs):
            asked = "as many as asked for" if rule.runs else "as many as --max-runs allows"
            return Ending(RunState.FINISHED, f"{done} blocks, {asked}")
        if rule.budget_s is not None and self._spent_s() + block_s > rule.budget_s:
            return Ending(RunState.FINISHED, f"the budget of {rule.budget_s:.0f} s is spent after {done} blocks")
        return None

    def _spent_s(self) -> float:
        return self.spent_before_s + self.clock() - self.begin

    def _record(self) -> RunRecord:
        """The run as it stands, from memory: reading it back after each block would cost more than a trial."""
        return msgspec.structs.replace(self.record, trials=tuple(self.done[number] for number in sorted(self.done)))

    def _trial(self, trial: Trial) -> TrialResult:
        kept = self.done.get(trial.number)
        if kept is not None:
            return kept.result
        self.events.trial_begins(trial, self.blocks_expected)
        result = self.staff.run(trial, lambda step: self.events.phase_begins(trial, step.phase))
        self.keeper.add(self.run_id, trial, result)
        self.done[trial.number] = TrialRecord(trial, result)
        self.events.trial_ends(trial, result)
        self._give_up_if_hopeless(trial, result)
        return result

    def _give_up_if_hopeless(self, trial: Trial, result: TrialResult) -> None:
        """A filesystem that cannot even be made or mounted the first time will not be the second time."""
        first = trial.kind is TrialKind.VERIFICATION or trial.block == 0
        failed = next((phase for phase in result.phases if phase.outcome is Outcome.FAILED), None)
        if first and failed is not None and failed.kind is PhaseKind.HARNESS and failed.name in ("mkfs", "mount"):
            raise MachineError(
                f"{trial.candidate.label}: {failed.name} failed: {failed.reason}{_kernel_words(result)}",
                "check its mkfs and mount options; `fstrial run … --dry-run` shows the exact commands",
            )
        if first and result.outcome is Outcome.FAILED and not (result.phases or result.wrong_content):
            raise MachineError(f"{trial.candidate.label} on {trial.candidate.target}: {result.reason}")


def _kernel_words(result: TrialResult) -> str:
    """What the kernel log said about it: mount(2) itself only gives a number."""
    said = [note.text for note in result.notes if note.kind is NoteKind.WARNING and note.text.startswith("kernel log")]
    return f" ({'; '.join(said[:3])})" if said else ""


class _Staff:
    """Keeps a worker; when one is lost the trial says so, and the next trial gets a new one."""

    def __init__(self, host: Host, start: Start) -> None:
        self._host = host
        self._start = start
        self._stack = ExitStack()
        self._worker: Worker | None = None
        self._lost_in_a_row = 0

    def __enter__(self) -> _Staff:
        self._hire()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def _hire(self) -> Worker:
        manager: AbstractContextManager[Worker] = self._host.worker(self._start)
        try:
            self._worker = self._stack.enter_context(manager)
        except WorkerLost as error:
            raise MachineError(f"a worker could not be started: {error}") from error
        return self._worker

    def _dismiss(self) -> None:
        """The worker's namespaces go with it, and whatever is still mounted in them."""
        self._stack.close()
        self._worker = None

    def run(self, trial: Trial, progress: Callable[[Progress], None]) -> TrialResult:
        worker = self._worker or self._hire()
        started_at, begin = time.time(), time.monotonic()
        try:
            result = worker.run(trial, progress)
        except WorkerLost as error:
            self._dismiss()
            self._lost_in_a_row += 1
            if self._lost_in_a_row >= _LOST_IN_A_ROW:
                raise MachineError(f"{_LOST_IN_A_ROW} workers in a row were lost; the last: {error}") from error
            return TrialResult(Outcome.LOST, self._host.name, started_at, time.monotonic() - begin, reason=str(error))
        self._lost_in_a_row = 0
        unmounted = result.phase("unmount")
        if unmounted is not None and unmounted.outcome is Outcome.FAILED:
            self._dismiss()
        return msgspec.structs.replace(result, notes=(*worker.notes, *result.notes))
