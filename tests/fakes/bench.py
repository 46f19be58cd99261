"""A bench without a trial: it runs the phases of a workload in any folder, with the real programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fstrial.base import proc
from fstrial.workloads.contract import Phase, PhaseFailed

_DEADLINE_S = 60.0


@dataclass
class FakeBench:
    """Implements workloads.contract.Bench and keeps what it was told, by phase."""

    root: Path
    seed: int = 0
    phase: str = ""
    commands: list[tuple[str, ...]] = field(default_factory=list)
    operations: dict[str, int] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    spaces: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(
        self, argv: Sequence[str], cwd: Path | None = None, accept: tuple[int, ...] = (0,), discard: bool = False
    ) -> proc.Completed:
        done = proc.run(argv, deadline_s=_DEADLINE_S, cwd=cwd, discard=discard)
        self.commands.append(done.argv)
        if done.timed_out or done.exit_status not in accept:
            raise PhaseFailed(f"{argv[0]}: {done.complaint()}")
        return done

    def count(self, operations: int = 0, moved_bytes: int = 0) -> None:
        self.operations[self.phase] = self.operations.get(self.phase, 0) + operations
        self.moved[self.phase] = self.moved.get(self.phase, 0) + moved_bytes

    def record(self, metric: str, value: float) -> None:
        self.figures.setdefault(self.phase, {})[metric] = value

    def read_space(self, when: str, folder: Path) -> None:
        self.spaces.append(when)

    def note(self, text: str, warning: bool = False) -> None:
        self.notes.append(text)


def run_phases(
    phases: Iterable[Phase], bench: FakeBench, before: Callable[[str], None] = lambda name: None
) -> list[str]:
    """Run phases in order and return their names. `before` may meddle with the folder ahead of each phase."""
    names = []
    for phase in phases:
        bench.phase = phase.name
        before(phase.name)
        for step in (phase.before, phase.work, phase.after):
            if step is not None:
                step(bench)
        names.append(phase.name)
    return names
