"""A Trial (what a worker is asked to do) and its Result (what it did, and every figure of it, raw)."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from fstrial.model.metric import Sample
from fstrial.model.plan import Candidate, SyncPolicy, WorkloadChoice

__all__ = [
    "CacheState",
    "Command",
    "DeviceFacts",
    "Note",
    "NoteKind",
    "Outcome",
    "PhaseKind",
    "PhaseResult",
    "SpaceReading",
    "Trial",
    "TrialKind",
    "TrialResult",
]


class TrialKind(Enum):
    """MEASURED counts; VERIFICATION checks the content after a remount and is never measured."""

    MEASURED = "measured"
    VERIFICATION = "verification"


class Outcome(Enum):
    """PASSED; FAILED: a phase failed, its figures are bounds; SKIPPED: it cannot run here, reasons kept;
    LOST: the worker or its kernel vanished in the middle."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    LOST = "lost"


class PhaseKind(Enum):
    """HARNESS phases (mkfs, mount, unmount, fsck) are the trial's own; WORKLOAD phases count in the total."""

    HARNESS = "harness"
    WORKLOAD = "workload"
    TOTAL = "total"


class CacheState(Enum):
    """WARM: left as the phase before left it. COLD: unmounted, mounted and dropped before.
    UNKNOWN: could not be dropped (no root)."""

    WARM = "warm"
    COLD = "cold"
    UNKNOWN = "unknown"


class NoteKind(Enum):
    """What a report does with a note: FACT is shown on request, WARNING always."""

    FACT = "fact"
    WARNING = "warning"


class Note(Struct, frozen=True):
    kind: NoteKind
    text: str


class Trial(Struct, frozen=True):
    """One repetition of one workload on one fresh filesystem.

    `block` counts from 0 (verification trials: -1), `position` is the place within the block. `deadline_s` is the
    longest that one phase may take.
    """

    number: int
    block: int
    position: int
    candidate: Candidate
    workload: WorkloadChoice
    kind: TrialKind = TrialKind.MEASURED
    sync: SyncPolicy = SyncPolicy.PHASE
    fsck: bool = False
    seed: int = 0
    deadline_s: float = 3600.0


class Command(Struct, frozen=True, gc=False):
    """A program that ran, or a system call in the form a person would type (`mount …`). stderr: its last words."""

    phase: str
    argv: tuple[str, ...]
    exit_status: int
    elapsed_s: float
    stderr: str = ""


class SpaceReading(Struct, frozen=True, gc=False):
    """Space at one moment, bytes. `when` names it (`after mkfs`, `after copy_in`).

    used, free, total: statfs. du: blocks of the files. apparent: their lengths. allocated: what the device really
    takes below (an image's blocks). None: not asked or not known.
    """

    when: str
    used_bytes: int | None = None
    free_bytes: int | None = None
    total_bytes: int | None = None
    du_bytes: int | None = None
    apparent_bytes: int | None = None
    allocated_bytes: int | None = None


class DeviceFacts(Struct, frozen=True):
    """What the filesystem stood on."""

    target: str
    kind: str
    path: str = ""
    size_bytes: int | None = None
    logical_block_bytes: int | None = None
    physical_block_bytes: int | None = None
    rotational: bool | None = None
    direct_io: bool | None = None
    write_cache: str = ""
    model: str = ""
    serial: str = ""
    backing: str = ""


class PhaseResult(Struct, frozen=True, gc=False):
    """One phase. A failed one has its figures as lower bounds; one never reached has them missing."""

    name: str
    kind: PhaseKind
    outcome: Outcome
    samples: tuple[Sample, ...] = ()
    reason: str = ""
    cache: CacheState = CacheState.WARM

    def sample(self, metric: str) -> Sample | None:
        return next((sample for sample in self.samples if sample.metric == metric), None)


class TrialResult(Struct, frozen=True):
    """All that a trial did and measured; nothing is averaged before it is stored.

    `wrong_content` says what a verification found when the filesystem gave back other bytes than were written.
    `started_at` is Unix time in seconds. `context` are samples about the machine during the whole trial.
    """

    outcome: Outcome
    host: str
    started_at: float
    elapsed_s: float
    reason: str = ""
    phases: tuple[PhaseResult, ...] = ()
    space: tuple[SpaceReading, ...] = ()
    commands: tuple[Command, ...] = ()
    notes: tuple[Note, ...] = ()
    context: tuple[Sample, ...] = ()
    device: DeviceFacts | None = None
    wrong_content: str = ""

    def phase(self, name: str) -> PhaseResult | None:
        return next((phase for phase in self.phases if phase.name == name), None)
