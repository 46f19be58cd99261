"""A run as it is kept: the plan, the machine, what was declared, and every trial with its result."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from fstrial.model.declaration import Declaration
from fstrial.model.plan import Plan
from fstrial.model.trial import Trial, TrialKind, TrialResult

__all__ = ["Environment", "RunRecord", "RunState", "Tool", "TrialRecord"]


class RunState(Enum):
    """RUNNING also when its controller was killed: such a run can be resumed."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Tool(Struct, frozen=True):
    name: str
    version: str


class Environment(Struct, frozen=True):
    """The machine a run was made on. An unknown fact is an empty text or None."""

    fstrial: str
    kernel: str = ""
    machine: str = ""
    distribution: str = ""
    cpu: str = ""
    cores: int | None = None
    memory_bytes: int | None = None
    governor: str = ""
    virtualization: str = ""
    clock_ticks_per_s: int | None = None
    tools: tuple[Tool, ...] = ()


class TrialRecord(Struct, frozen=True):
    trial: Trial
    result: TrialResult


class RunRecord(Struct, frozen=True):
    """`id` is the run's number in its store, `uid` its identity in any store. Times are Unix seconds."""

    id: int
    uid: str
    created_at: float
    state: RunState
    plan: Plan
    environment: Environment
    declarations: tuple[Declaration, ...]
    trials: tuple[TrialRecord, ...] = ()
    stop_reason: str = ""
    finished_at: float | None = None

    def measured(self) -> tuple[TrialRecord, ...]:
        return tuple(record for record in self.trials if record.trial.kind is TrialKind.MEASURED)

    def verifications(self) -> tuple[TrialRecord, ...]:
        return tuple(record for record in self.trials if record.trial.kind is TrialKind.VERIFICATION)
