"""What a person sees while a session runs: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from fstrial.base.units import format_duration
from fstrial.model.analysis import Outlook
from fstrial.model.plan import Plan
from fstrial.model.trial import Outcome, Trial, TrialKind, TrialResult
from fstrial.run.session import Events

__all__ = ["Estimate", "watching"]


class Estimate:
    """How much time is left: trials still expected × what trials of their kind took, within the budget."""

    def __init__(self, plan: Plan, trial_s: float) -> None:
        self._per_block = len(plan.candidates()) * len(plan.workloads)
        self._budget_s = plan.rule.budget_s
        self._guess_s = trial_s
        self._took_s: list[float] = []
        self._begin = time.monotonic()
        verifications = len(plan.workloads) * sum(not one.aa for one in plan.candidates())
        self._verifications = verifications if plan.verify else 0
        self.done = 0

    def took(self, seconds: float) -> None:
        self.done += 1
        self._took_s.append(seconds)

    def total(self, blocks_expected: int) -> int:
        return max(self.done, self._verifications + blocks_expected * self._per_block)

    def left_s(self, blocks_expected: int) -> float:
        each = sum(self._took_s) / len(self._took_s) if self._took_s else self._guess_s
        left = (self.total(blocks_expected) - self.done) * each
        if self._budget_s is None:
            return left
        return min(left, max(0.0, self._budget_s - (time.monotonic() - self._begin)))


class _Lines:
    """Plain lines, for a pipe or CI: one a trial, one a block."""

    def __init__(self, console: Console, estimate: Estimate) -> None:
        self._console = console
        self._estimate = estimate
        self._blocks_expected = 5

    def trial_begins(self, trial: Trial, blocks_expected: int) -> None:
        self._blocks_expected = blocks_expected

    def phase_begins(self, trial: Trial, phase: str) -> None:
        pass

    def trial_ends(self, trial: Trial, result: TrialResult) -> None:
        self._estimate.took(result.elapsed_s)
        left = format_duration(self._estimate.left_s(self._blocks_expected))
        self._say(f"{_name(trial)}: {_outcome(result)}, {format_duration(result.elapsed_s)}; about {left} left")

    def block_ends(self, block: int, outlook: Outlook) -> None:
        self._say(f"block {block + 1} done. {outlook.text}".rstrip())

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class _Live:
    """One live line: what runs, which phase of it, how long still."""

    def __init__(self, progress: Progress, estimate: Estimate) -> None:
        self._progress = progress
        self._estimate = estimate
        self._task = progress.add_task("starting", total=None, left="", phase="staging sources")
        self._outlook = ""
        self._blocks_expected = 5

    def trial_begins(self, trial: Trial, blocks_expected: int) -> None:
        self._blocks_expected = blocks_expected
        self._show(_name(trial), "")

    def phase_begins(self, trial: Trial, phase: str) -> None:
        self._show(_name(trial), phase)

    def trial_ends(self, trial: Trial, result: TrialResult) -> None:
        self._estimate.took(result.elapsed_s)
        if result.outcome is not Outcome.PASSED:
            self._progress.console.print(f"{_name(trial)}: {_outcome(result)}", markup=False, highlight=False)
        self._show(_name(trial), "")

    def block_ends(self, block: int, outlook: Outlook) -> None:
        self._outlook = outlook.text

    def _show(self, name: str, phase: str) -> None:
        self._progress.update(
            self._task,
            description=name,
            total=self._estimate.total(self._blocks_expected),
            completed=self._estimate.done,
            phase=phase,
            left=f"about {format_duration(self._estimate.left_s(self._blocks_expected))} left",
        )


@contextmanager
def watching(console: Console, estimate: Estimate) -> Iterator[Events]:
    """Events shown on that console in the way that suits it."""
    if not console.is_terminal:
        yield _Lines(console, estimate)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("[dim]{task.fields[phase]:<12}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Live(progress, estimate)


def _name(trial: Trial) -> str:
    where = "content check" if trial.kind is TrialKind.VERIFICATION else f"block {trial.block + 1}"
    return f"{where}, {trial.candidate.label}, {trial.workload.name}"


def _outcome(result: TrialResult) -> str:
    return result.outcome.value + (f" ({result.reason})" if result.reason else "")
