"""The shape of version 1 of our JSON. Every field is described in docs/reference-json.md.

A change of this shape, or of a model structure that it holds, that an old reader could not take is a new VERSION.
What a run has thousands of leaves the cycle collector alone (gc=False), as its counterparts in the model do.
"""

from __future__ import annotations

from msgspec import Struct

from fstrial.model.analysis import Flag, Outlook
from fstrial.model.declaration import Declaration
from fstrial.model.metric import Metric
from fstrial.model.plan import Plan, SyncPolicy
from fstrial.model.record import Environment, RunState
from fstrial.model.trial import CacheState, DeviceFacts, Note, Outcome, PhaseKind, SpaceReading

__all__ = [
    "NAME",
    "VERSION",
    "Command",
    "Comparison",
    "Document",
    "Ends",
    "Phase",
    "Run",
    "Samples",
    "Summary",
    "Trial",
]

NAME = "fstrial"
VERSION = 1

Ends = tuple[float | None, float | None]
"""[low, high] as ratios; null is an open end."""


class Run(Struct, frozen=True):
    id: int
    uid: str
    label: str
    created_at: float
    finished_at: float | None
    state: RunState
    stop_reason: str


class Samples(Struct, frozen=True, gc=False):
    """`metrics`: each a number or null; `missing` says why a null is one; `lower_bounds` names those that failed."""

    metrics: dict[str, float | None]
    missing: dict[str, str]
    lower_bounds: tuple[str, ...]


class Phase(Struct, frozen=True, gc=False):
    name: str
    kind: PhaseKind
    outcome: Outcome
    cache: CacheState
    reason: str
    metrics: dict[str, float | None]
    missing: dict[str, str]
    lower_bounds: tuple[str, ...]


class Command(Struct, frozen=True, gc=False):
    phase: str
    argv: tuple[str, ...]
    shell: str
    exit_status: int
    elapsed_s: float
    stderr: str


class Trial(Struct, frozen=True, gc=False):
    number: int
    filesystem: str
    type: str
    target: str
    workload: str
    block: int
    position: int
    seed: int
    sync: SyncPolicy
    fsck: bool
    deadline_s: float
    host: str
    outcome: Outcome
    reason: str
    wrong_content: str
    started_at: float
    elapsed_s: float
    phases: tuple[Phase, ...]
    space: tuple[SpaceReading, ...]
    commands: tuple[Command, ...]
    notes: tuple[Note, ...]
    context: Samples
    device: DeviceFacts | None


class Summary(Struct, frozen=True):
    filesystem: str
    workload: str
    phase: str
    metric: str
    geometric_mean: float | None
    runs: int
    failed: int
    missing: str
    too_short: bool


class Comparison(Struct, frozen=True):
    filesystem: str
    baseline: str
    workload: str
    phase: str
    metric: str
    main: bool
    aa: bool
    blocks: int
    ratio: float | None
    interval: Ends | None
    adjusted_interval: Ends | None
    p: float | None
    p_adjusted: float | None
    verdict: str | None
    method: str
    failed: int
    baseline_failed: int
    why: str


class Document(Struct, frozen=True):
    format: str
    version: int
    run: Run
    plan: Plan
    environment: Environment
    metrics: tuple[Metric, ...]
    declarations: tuple[Declaration, ...]
    trials: tuple[Trial, ...]
    verifications: tuple[Trial, ...]
    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    flags: tuple[Flag, ...]
    outlook: Outlook
