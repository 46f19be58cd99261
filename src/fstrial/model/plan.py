"""The Plan: what to run. Command line, TOML file and recipe all fill this one structure."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

__all__ = [
    "AA_LABEL",
    "Candidate",
    "FilesystemChoice",
    "Plan",
    "Setting",
    "StoppingRule",
    "SyncPolicy",
    "WorkloadChoice",
]

AA_LABEL = "blind"
"""Label of the baseline's second appearance in an A/A run: it tells nobody what it is."""


class SyncPolicy(Enum):
    """When the filesystem is synced inside a trial.

    PHASE: after each phase, which yields `durable_s` for each. END: once, as published scripts do; then only the
    total is durable.
    """

    PHASE = "phase"
    END = "end"


class Setting(Struct, frozen=True):
    """One setting of a workload, as text: `tree.scale=0.1` is Setting("scale", "0.1") of workload `tree`."""

    key: str
    value: str


class FilesystemChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """A filesystem type with options of its own. `label` is what tables call it."""

    type: str
    label: str
    mkfs: tuple[str, ...] = ()
    mount: tuple[str, ...] = ()


class WorkloadChoice(Struct, frozen=True):
    name: str
    settings: tuple[Setting, ...] = ()


class StoppingRule(Struct, frozen=True):
    """When enough blocks have run (docs/statistics.md).

    Either `until` (half-width of the ratio's interval to reach, 0.05 is 5 %) or `runs` (a fixed number of blocks)
    is set. `budget_s` is wall-clock time for the whole run; None is no limit.
    """

    until: float | None = 0.05
    runs: int | None = None
    max_runs: int = 20
    budget_s: float | None = 600.0


class Plan(Struct, frozen=True):
    """Filesystems × workloads × targets, and how long to go on.

    `targets` are the words given to `--on`; `baseline` is a candidate's label; `deadline_s` bounds each phase.
    A plan holds no consent: what `--erase` and `--yes` said is not in it.
    """

    filesystems: tuple[FilesystemChoice, ...]
    workloads: tuple[WorkloadChoice, ...]
    targets: tuple[str, ...]
    baseline: str
    rule: StoppingRule = StoppingRule()
    sync: SyncPolicy = SyncPolicy.PHASE
    fsck: bool = False
    verify: bool = True
    aa: bool = False
    memory_bytes: int | None = None
    seed: int = 0
    label: str = ""
    deadline_s: float = 3600.0

    def candidates(self) -> tuple[Candidate, ...]:
        """What is compared, in the order named; with several targets the label says which."""
        several = len(self.targets) > 1
        named = [
            Candidate(f"{choice.label} on {target}" if several else choice.label, choice, target)
            for target in self.targets
            for choice in self.filesystems
        ]
        if self.aa:
            base = next(candidate for candidate in named if candidate.label == self.baseline)
            named.append(Candidate(AA_LABEL, base.filesystem, base.target, aa=True))
        return tuple(named)


class Candidate(Struct, frozen=True):
    """One thing compared: a filesystem on a target. `aa` marks the baseline's blind second appearance."""

    label: str
    filesystem: FilesystemChoice
    target: str
    aa: bool = False
