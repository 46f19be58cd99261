"""Run records of any size, made up from a seed. Synthetic: no figure here was ever measured.

The shape is that of the tree workload: harness phases (mkfs, mount, unmount), the workload's phases, and the
total. Figures are log-normal around a typical time, with a shared factor per block as a drifting machine has.
Every record says that it is synthetic in its label, its environment and the notes of each trial.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fstrial.model.declaration import TOTAL, Chart, ChartKind, Column, Declaration, PhaseTitle
from fstrial.model.metric import Direction, Figure, Metric, Sample, Unit, missing
from fstrial.model.plan import Candidate, FilesystemChoice, Plan, Setting, StoppingRule, WorkloadChoice
from fstrial.model.record import Environment, RunRecord, RunState, Tool, TrialRecord
from fstrial.model.trial import (
    CacheState,
    Command,
    DeviceFacts,
    Note,
    NoteKind,
    Outcome,
    PhaseKind,
    PhaseResult,
    SpaceReading,
    Trial,
    TrialKind,
    TrialResult,
)

__all__ = ["SYNTHETIC", "Fault", "declaration", "environment", "make_plan", "make_record", "make_trial"]

SYNTHETIC = "synthetic: made by tests/fakes/records.py, never measured"

TREE_PHASES = {
    "copy_in": ("Copy in", 4.0),
    "disk_usage": ("Disk usage", None),
    "copy_within": ("Copy within", 3.0),
    "tar_gz": ("tar -czf", 2.6),
    "untar_gz": ("tar -xzf", 1.9),
    "delete_all": ("Delete all", 0.9),
}
"""Title and typical durable seconds; None is a phase that is not timed."""

HARNESS = {"mkfs": 0.05, "mount": 0.02, "unmount": 0.04}

FACTORS = {"xfs": 1.14, "btrfs": 1.32, "ntfs-3g": 6.0, "ext3": 1.05, "ext2": 0.98}
"""How many times the baseline's time a type takes; 1 for every other."""

SPACE_SHARE = {"btrfs": 0.82, "xfs": 0.98, "ntfs-3g": 0.95}

_TREE_BYTES = 68_700_000.0
_TREE_FILES = 6_200.0
_BEGIN = 1_750_000_000.0
_COPY = ("cp", "-r", "--reflink=never", "--sparse=never")
_TICK = "below the kernel's accounting tick (10 ms)"
_NO_PRESSURE = "this kernel has no pressure files"


@dataclass(frozen=True)
class Fault:
    """A trial that goes wrong: in `phase` of `filesystem` (a candidate's label), in one block or in all.

    LOST loses the worker; SKIPPED skips the whole trial; FAILED leaves lower bounds.
    """

    filesystem: str
    phase: str = "delete_all"
    block: int | None = None
    outcome: Outcome = Outcome.FAILED
    reason: str = "rm: cannot remove 'copy/linux': Operation not permitted (exit status 1)"

    def hits(self, trial: Trial) -> bool:
        return self.filesystem == trial.candidate.label and self.block in (None, trial.block)


def make_record(
    filesystems: Sequence[str] = ("ext4", "xfs", "btrfs"),
    blocks: int = 5,
    seed: int = 1,
    *,
    workloads: Sequence[str] = ("tree",),
    targets: Sequence[str] = ("loop:2G",),
    faults: Sequence[Fault] = (),
    aa: bool = False,
    verify: bool = True,
    noise: float = 0.03,
    pressure: bool = True,
    warnings: Sequence[str] = (),
    rule: StoppingRule | None = None,
    label: str = "synthetic",
    run_id: int = 1,
    state: RunState = RunState.FINISHED,
    stop_reason: str = "",
) -> RunRecord:
    """A whole run: `len(filesystems) × len(targets) (+ 1 with aa) × len(workloads)` trials a block.

    `noise` is the standard deviation of the logarithm of each time. `pressure` False: the kernel has no PSI
    files and the samples are missing. `warnings` go to the first trial of every block.
    """
    plan = make_plan(
        filesystems,
        workloads=workloads,
        targets=targets,
        aa=aa,
        verify=verify,
        rule=rule,
        label=label,
        seed=seed,
    )
    maker = _Maker(random.Random(seed), noise, pressure, tuple(faults), tuple(warnings))
    trials = tuple(maker.trials(plan, blocks))
    return RunRecord(
        id=run_id,
        uid=f"{random.Random(seed + run_id).getrandbits(128):032x}",
        created_at=_BEGIN,
        state=state,
        plan=plan,
        environment=environment(),
        declarations=tuple(declaration(name) for name in workloads),
        trials=trials,
        stop_reason=stop_reason or (f"{blocks} blocks, as asked" if state is RunState.FINISHED else ""),
        finished_at=None if state is RunState.RUNNING else _BEGIN + sum(t.result.elapsed_s for t in trials),
    )


def make_trial(seed: int = 1, filesystem: str = "ext4", block: int = 0, number: int = 1) -> TrialRecord:
    """One passed trial of the tree workload."""
    candidate = Candidate(filesystem, FilesystemChoice(filesystem, filesystem), "loop:2G")
    trial = Trial(number, block, 0, candidate, WorkloadChoice("tree"), seed=seed)
    return TrialRecord(trial, _Maker(random.Random(seed), 0.03, True, (), ()).result(trial, 1.0, 0.0))


def make_plan(
    filesystems: Sequence[str] = ("ext4", "xfs", "btrfs"),
    *,
    workloads: Sequence[str] = ("tree",),
    targets: Sequence[str] = ("loop:2G",),
    aa: bool = False,
    verify: bool = True,
    rule: StoppingRule | None = None,
    label: str = "synthetic",
    seed: int = 1,
) -> Plan:
    choices = tuple(FilesystemChoice(word.split()[0], word, mount=_mount_options(word)) for word in filesystems)
    first = f"{choices[0].label} on {targets[0]}" if len(targets) > 1 else choices[0].label
    settings = (Setting("source", "generated"), Setting("scale", "0.1"))
    return Plan(
        filesystems=choices,
        workloads=tuple(WorkloadChoice(name, settings) for name in workloads),
        targets=tuple(targets),
        baseline=first,
        rule=StoppingRule() if rule is None else rule,
        aa=aa,
        verify=verify,
        memory_bytes=512 * 1024**2,
        seed=seed,
        label=label,
    )


def environment() -> Environment:
    return Environment(
        fstrial="0.1.0",
        kernel="6.1.0-synthetic",
        machine="x86_64",
        distribution="Debian GNU/Linux 12 (bookworm)",
        cpu="synthetic CPU",
        cores=2,
        memory_bytes=8 * 1024**3,
        governor="performance",
        virtualization="kvm",
        clock_ticks_per_s=100,
        tools=(Tool("mkfs.ext4", "1.47.0"), Tool("mkfs.xfs", "6.1.0"), Tool("tar", "1.34")),
    )


def declaration(workload: str = "tree") -> Declaration:
    """What the tree workload declares, under any workload's name."""
    timed = [name for name, (_, typical_s) in TREE_PHASES.items() if typical_s is not None]
    columns = [
        Column(title, Figure(name, "used_bytes" if typical_s is None else "durable_s"))
        for name, (title, typical_s) in TREE_PHASES.items()
    ]
    times = (Figure(TOTAL, "durable_s"), *(Figure(name, "durable_s") for name in timed))
    return Declaration(
        workload=workload,
        about="Copies a tree of 6200 files (65.5 MiB) in, copies it again, packs, unpacks and deletes it.",
        phases=(
            *(PhaseTitle(name, title) for name, (title, _) in TREE_PHASES.items()),
            PhaseTitle(TOTAL, "Total"),
        ),
        metrics=(Metric("tree_files", Unit.COUNT, Direction.NEITHER, "files of the tree"),),
        columns=(*columns, Column("Total", Figure(TOTAL, "durable_s"))),
        main=tuple(Figure(phase, "durable_s") for phase in (TOTAL, "copy_in", "delete_all")),
        charts=(
            Chart("Time against the baseline", ChartKind.INTERVALS, times),
            Chart("Disk usage", ChartKind.BARS, (Figure("disk_usage", "used_bytes"),)),
            Chart("Where the CPU went", ChartKind.STACKED, tuple(Figure(TOTAL, m) for m in ("user_s", "sys_s"))),
            Chart("Device writes", ChartKind.PHASES, tuple(Figure(name, "device_write_bytes") for name in timed)),
        ),
    )


def _mount_options(word: str) -> tuple[str, ...]:
    return tuple(part.removeprefix("mount=") for part in word.split()[1:] if part.startswith("mount="))


@dataclass
class _Maker:
    dice: random.Random
    noise: float
    pressure: bool
    faults: tuple[Fault, ...]
    warnings: tuple[str, ...]

    def trials(self, plan: Plan, blocks: int) -> Iterator[TrialRecord]:
        candidates = plan.candidates()
        number, clock_s = 1, 0.0
        for block in range(blocks):
            drift = math.exp(self.dice.gauss(0.0, 0.02))
            order = [(candidate, workload) for workload in plan.workloads for candidate in candidates]
            self.dice.shuffle(order)
            for position, (candidate, workload) in enumerate(order):
                trial = Trial(number, block, position, candidate, workload, sync=plan.sync, seed=plan.seed + number)
                yield TrialRecord(trial, self.result(trial, drift, clock_s))
                number, clock_s = number + 1, clock_s + 13.0
        if not (plan.verify and blocks):
            return
        for workload in plan.workloads:
            for candidate in (one for one in candidates if not one.aa):
                trial = Trial(number, -1, 0, candidate, workload, TrialKind.VERIFICATION, seed=plan.seed + number)
                yield TrialRecord(trial, self._verification(trial, clock_s))
                number, clock_s = number + 1, clock_s + 6.0

    def result(self, trial: Trial, drift: float, clock_s: float) -> TrialResult:
        fault = next((fault for fault in self.faults if fault.hits(trial)), None)
        if fault is not None and fault.outcome in (Outcome.LOST, Outcome.SKIPPED):
            return TrialResult(fault.outcome, "native", _BEGIN + clock_s, 0.5, fault.reason)
        phases = self._phases(trial, drift, fault)
        warned = self.warnings if trial.position == 0 else ()
        return TrialResult(
            outcome=Outcome.PASSED if fault is None else Outcome.FAILED,
            host="native",
            started_at=_BEGIN + clock_s,
            elapsed_s=sum(_elapsed_s(phase) for phase in phases if phase.kind is not PhaseKind.TOTAL),
            reason="" if fault is None else f"{fault.phase}: {fault.reason}",
            phases=tuple(phases),
            space=_space(trial),
            commands=_commands(trial, fault),
            notes=(Note(NoteKind.FACT, SYNTHETIC), *(Note(NoteKind.WARNING, text) for text in warned)),
            context=(Sample("load_1m", 0.4), missing("cpu_mhz", "no frequency files in this guest")),
            device=_device(trial),
        )

    def _phases(self, trial: Trial, drift: float, fault: Fault | None) -> list[PhaseResult]:
        factor = FACTORS.get(trial.candidate.filesystem.type, 1.0) * drift
        done = [self._timed("mkfs", PhaseKind.HARNESS, HARNESS["mkfs"], False)]
        done.append(self._timed("mount", PhaseKind.HARNESS, HARNESS["mount"], False))
        work: list[PhaseResult] = []
        broken = ""
        for name, (_, typical_s) in TREE_PHASES.items():
            if broken:
                work.append(self._not_reached(name, broken))
            elif typical_s is None:
                work.append(self._usage(name, trial))
            else:
                work.append(self._timed(name, PhaseKind.WORKLOAD, typical_s * factor, True))
            if fault is not None and fault.phase == name:
                work[-1] = _failed(work[-1], fault.reason)
                broken = f"{name} failed before it"
        done.extend(work)
        done.append(_total(work))
        done.append(self._timed("unmount", PhaseKind.HARNESS, HARNESS["unmount"], False))
        return done

    def _timed(self, name: str, kind: PhaseKind, typical_s: float, synced: bool) -> PhaseResult:
        durable_s = typical_s * math.exp(self.dice.gauss(0.0, self.noise))
        elapsed_s = durable_s * (0.8 if synced else 1.0)
        written = 4096.0 * round(typical_s * 4_000)
        cpu_s = 0.55 * elapsed_s
        samples = [Sample("elapsed_s", elapsed_s)]
        if synced:
            samples.append(Sample("durable_s", durable_s))
            samples.append(Sample("operations", _TREE_FILES))
            samples.append(Sample("bytes", _TREE_BYTES))
        samples += [
            missing("user_s", _TICK) if cpu_s < 0.1 else Sample("user_s", 0.2 * cpu_s),
            missing("sys_s", _TICK) if cpu_s < 0.1 else Sample("sys_s", 0.8 * cpu_s),
            Sample("system_cpu_s", 1.2 * cpu_s),
            Sample("device_reads", 12.0),
            Sample("device_writes", written / 65_536),
            Sample("device_flushes", 6.0),
            Sample("device_discards", 0.0),
            Sample("device_read_bytes", 49_152.0),
            Sample("device_write_bytes", written),
            Sample("device_discard_bytes", 0.0),
            Sample("device_busy_s", 0.6 * durable_s),
            Sample("steal_s", 0.0),
            *(self._pressure(which, durable_s) for which in ("cpu", "io", "memory")),
            missing("other_io_bytes", "the disk below is not known"),
        ]
        cache = CacheState.COLD if name in ("copy_in", "tar_gz") else CacheState.WARM
        return PhaseResult(name, kind, Outcome.PASSED, tuple(samples), cache=cache)

    def _pressure(self, which: str, durable_s: float) -> Sample:
        metric = f"pressure_{which}_s"
        return Sample(metric, 0.01 * durable_s) if self.pressure else missing(metric, _NO_PRESSURE)

    def _usage(self, name: str, trial: Trial) -> PhaseResult:
        used = _used_bytes(trial)
        samples = (
            Sample("du_bytes", used),
            Sample("used_bytes", used + 8192.0),
            Sample("tree_files", _TREE_FILES),
        )
        return PhaseResult(name, PhaseKind.WORKLOAD, Outcome.PASSED, samples)

    def _not_reached(self, name: str, reason: str) -> PhaseResult:
        metrics = ("elapsed_s", "durable_s", "user_s", "sys_s", "device_write_bytes")
        samples = tuple(missing(metric, reason) for metric in metrics)
        return PhaseResult(name, PhaseKind.WORKLOAD, Outcome.SKIPPED, samples, reason)

    def _verification(self, trial: Trial, clock_s: float) -> TrialResult:
        phases = (
            self._timed("mkfs", PhaseKind.HARNESS, HARNESS["mkfs"], False),
            self._timed("mount", PhaseKind.HARNESS, HARNESS["mount"], False),
            PhaseResult("verify", PhaseKind.WORKLOAD, Outcome.PASSED, cache=CacheState.COLD),
            self._timed("unmount", PhaseKind.HARNESS, HARNESS["unmount"], False),
        )
        notes = (Note(NoteKind.FACT, SYNTHETIC),)
        return TrialResult(
            Outcome.PASSED, "native", _BEGIN + clock_s, 5.0, phases=phases, notes=notes, device=_device(trial)
        )


def _elapsed_s(phase: PhaseResult) -> float:
    sample = phase.sample("elapsed_s")
    return 0.0 if sample is None or sample.value is None else sample.value


def _used_bytes(trial: Trial) -> float:
    return 4096.0 * round(_TREE_BYTES * SPACE_SHARE.get(trial.candidate.filesystem.type, 1.0) / 4096)


def _failed(phase: PhaseResult, reason: str) -> PhaseResult:
    bounds = tuple(
        sample if sample.value is None else Sample(sample.metric, sample.value, lower_bound=True)
        for sample in phase.samples
    )
    return PhaseResult(phase.name, phase.kind, Outcome.FAILED, bounds, reason, phase.cache)


def _total(phases: Sequence[PhaseResult]) -> PhaseResult:
    failed = next((phase for phase in phases if phase.outcome is Outcome.FAILED), None)
    metrics = dict.fromkeys(sample.metric for phase in phases if phase.name != "disk_usage" for sample in phase.samples)
    samples = tuple(_sum(metric, phases) for metric in metrics)
    total = PhaseResult(TOTAL, PhaseKind.TOTAL, Outcome.PASSED, samples)
    return total if failed is None else _failed(total, f"{failed.name}: {failed.reason}")


def _sum(metric: str, phases: Sequence[PhaseResult]) -> Sample:
    found = [sample for phase in phases if (sample := phase.sample(metric)) is not None]
    values = [sample.value for sample in found if sample.value is not None]
    return Sample(metric, sum(values)) if values else missing(metric, found[0].missing)


def _space(trial: Trial) -> tuple[SpaceReading, ...]:
    size = 2 * 1024**3
    used = int(_used_bytes(trial))
    return (
        SpaceReading("after mkfs", 24_576, size - 24_576, size, None, None, 34_000_000),
        SpaceReading("after copy_in", used, size - used, size, used - 8192, int(_TREE_BYTES), used + 34_000_000),
    )


def _commands(trial: Trial, fault: Fault | None) -> tuple[Command, ...]:
    kind = trial.candidate.filesystem.type
    complaint = fault.reason if fault is not None and fault.phase == "delete_all" else ""
    return (
        Command("mkfs", (f"mkfs.{kind}", "-q", "/dev/loop0"), 0, 0.05),
        Command("mount", ("mount", "-t", kind, "/dev/loop0", "/mnt/trial"), 0, 0.02),
        Command("copy_in", (*_COPY, "source", "/mnt/trial/copy one"), 0, 3.1),
        Command("disk_usage", ("du", "-s", "--block-size=1", "/mnt/trial"), 0, 0.1),
        Command("copy_within", (*_COPY, "copy one", "copy two"), 0, 2.4),
        Command("tar_gz", ("tar", "-czf", "all.tar.gz", "copy one"), 0, 2.1),
        Command("untar_gz", ("tar", "-xzf", "all.tar.gz", "-C", "three"), 0, 1.5),
        Command("delete_all", ("rm", "-fr", "copy one", "copy two", "three"), int(bool(complaint)), 0.7, complaint),
        Command("unmount", ("umount", "/mnt/trial"), 0, 0.04),
    )


def _device(trial: Trial) -> DeviceFacts:
    return DeviceFacts(
        target=trial.candidate.target,
        kind="loop",
        path="/dev/loop0",
        size_bytes=2 * 1024**3,
        logical_block_bytes=512,
        physical_block_bytes=4096,
        rotational=False,
        direct_io=True,
        write_cache="write back",
        backing="ext4 on a synthetic disk",
    )
