"""What a run was made on and with: the machine, the devices, the plan's settings, space, commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fstrial.base import proc
from fstrial.base.units import format_duration, format_size
from fstrial.model.plan import Plan, SyncPolicy
from fstrial.model.record import Environment, RunRecord, TrialRecord
from fstrial.model.trial import Command, DeviceFacts, NoteKind, Outcome, SpaceReading

__all__ = ["Script", "Space", "devices", "noted", "scripts", "space", "system"]

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Script:
    """What one trial ran, as text a person could type."""

    title: str
    trial: int
    text: str


@dataclass(frozen=True)
class Space:
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def system(record: RunRecord) -> Facts:
    return tuple((name, text) for name, text in (*_environment(record.environment), *_plan(record.plan)) if text)


def _environment(machine: Environment) -> Facts:
    cores = "" if machine.cores is None else f", {machine.cores} {'core' if machine.cores == 1 else 'cores'}"
    return (
        ("Kernel", " ".join(filter(None, (machine.kernel, machine.machine)))),
        ("Distribution", machine.distribution),
        ("Processor", f"{machine.cpu}{cores}".strip(", ")),
        ("Memory", "" if machine.memory_bytes is None else format_size(machine.memory_bytes)),
        ("Frequency governor", machine.governor),
        ("Virtualization", machine.virtualization),
        ("Tools", ", ".join(f"{tool.name} {tool.version}".strip() for tool in machine.tools)),
        ("fstrial", machine.fstrial),
    )


def _plan(plan: Plan) -> Facts:
    rule, limit = plan.rule, plan.rule.budget_s
    until = f"{rule.runs} blocks" if rule.runs is not None else f"until ±{(rule.until or 0) * 100:g} %"
    stop = f"{until}, at most {rule.max_runs} blocks" if rule.runs is None else until
    sync = {
        SyncPolicy.PHASE: "after each phase, whose durable time includes it",
        SyncPolicy.END: "once, at the end: only the total is durable",
    }
    return (
        (
            "Filesystems",
            "; ".join(" ".join(_choice(one.type, one.label, one.mkfs, one.mount)) for one in plan.filesystems),
        ),
        (
            "Workloads",
            "; ".join(_workload(one.name, [(s.key, s.value) for s in one.settings]) for one in plan.workloads),
        ),
        ("Page cache bounded to", "" if plan.memory_bytes is None else format_size(plan.memory_bytes)),
        ("Synced", sync[plan.sync]),
        ("Stopping rule", f"{stop}, in {format_duration(limit)}" if limit is not None else stop),
        ("Seed of the order", str(plan.seed)),
    )


def _choice(kind: str, label: str, mkfs: Sequence[str], mount: Sequence[str]) -> Iterator[str]:
    yield label
    if kind != label:
        yield f"({kind})"
    if mkfs:
        yield f"mkfs {proc.paste(mkfs)}"
    if mount:
        yield f"mount -o {','.join(mount)}"


def _workload(name: str, settings: Iterable[tuple[str, str]]) -> str:
    return " ".join((name, *(f"{key}={value}" for key, value in settings)))


def devices(record: RunRecord) -> tuple[tuple[str, Facts], ...]:
    """The facts of each target, as the first trial on it found them."""
    found: dict[str, DeviceFacts] = {}
    for one in record.trials:
        if one.result.device is not None:
            found.setdefault(one.result.device.target, one.result.device)
    return tuple((f"Device {target}", _device(facts)) for target, facts in found.items())


def _device(facts: DeviceFacts) -> Facts:
    blocks = [
        f"{size} bytes {kind}"
        for size, kind in ((facts.logical_block_bytes, "logical"), (facts.physical_block_bytes, "physical"))
        if size is not None
    ]
    named = (
        ("Kind", facts.kind),
        ("Model", facts.model),
        ("Serial", facts.serial),
        ("Size", "" if facts.size_bytes is None else format_size(facts.size_bytes)),
        ("Blocks", ", ".join(blocks)),
        ("Rotates", _either(facts.rotational, "yes, says the kernel", "no, says the kernel")),
        ("Direct I/O below", _either(facts.direct_io, "yes", "no: the host's page cache holds a second copy")),
        ("Write cache", facts.write_cache),
        ("Backed by", facts.backing),
    )
    return tuple((name, text) for name, text in named if text)


def _either(fact: bool | None, yes: str, no: str) -> str:
    return "" if fact is None else yes if fact else no


def noted(record: RunRecord, kind: NoteKind) -> tuple[str, ...]:
    """The notes of that kind, each once, with the number of trials that have it."""
    counts: dict[str, int] = {}
    for one in record.trials:
        for text in dict.fromkeys(note.text for note in one.result.notes if note.kind is kind):
            counts[text] = counts.get(text, 0) + 1
    whole = len(record.trials)
    return tuple(text if count == whole else f"{text} ({count} of {whole} trials)" for text, count in counts.items())


_SPACES = (
    ("used_bytes", "Used (statfs)"),
    ("free_bytes", "Free"),
    ("total_bytes", "Total"),
    ("du_bytes", "du"),
    ("apparent_bytes", "Lengths of the files"),
    ("allocated_bytes", "Allocated below"),
)


def space(record: RunRecord) -> Space | None:
    """Means over each candidate's trials; columns of which nothing is known are left out."""
    readings: dict[tuple[str, str, str], list[SpaceReading]] = {}
    for label in (candidate.label for candidate in record.plan.candidates()):
        for one in record.measured():
            if one.trial.candidate.label == label:
                for reading in one.result.space:
                    readings.setdefault((label, one.trial.workload.name, reading.when), []).append(reading)
    means = {place: [_mean(found, name) for name, _ in _SPACES] for place, found in readings.items()}
    kept = [index for index in range(len(_SPACES)) if any(row[index] is not None for row in means.values())]
    lines = tuple((*place, *(_size(row[index]) for index in kept)) for place, row in means.items())
    return Space(("Filesystem", "Workload", "When", *(_SPACES[index][1] for index in kept)), lines) if lines else None


def _mean(readings: Sequence[SpaceReading], name: str) -> float | None:
    known = [value for reading in readings if (value := getattr(reading, name)) is not None]
    return sum(known) / len(known) if known else None


def _size(size_bytes: float | None) -> str:
    return "–" if size_bytes is None else format_size(size_bytes)


def scripts(record: RunRecord) -> tuple[Script, ...]:
    """One trial of each filesystem and workload: the first that passed, or else the first that ran anything."""
    chosen: dict[tuple[str, str], TrialRecord] = {}
    ran = [one for one in record.measured() if one.result.commands]
    for one in sorted(ran, key=lambda one: one.result.outcome is not Outcome.PASSED):
        chosen.setdefault((one.trial.workload.name, one.trial.candidate.label), one)
    order = [(workload.name, one.label) for workload in record.plan.workloads for one in record.plan.candidates()]
    return tuple(
        Script(f"{label}, {workload}", chosen[workload, label].trial.number, _script(chosen[workload, label]))
        for workload, label in order
        if (workload, label) in chosen
    )


def _script(one: TrialRecord) -> str:
    return "\n".join(line for command in one.result.commands for line in _lines(command))


def _lines(command: Command) -> Iterator[str]:
    """The command, its phase and time behind it, and below it what it said."""
    failed = f", exit status {command.exit_status}" if command.exit_status else ""
    yield f"{proc.paste(command.argv)}  # {command.phase}, {format_duration(command.elapsed_s)}{failed}"
    for said in command.stderr.splitlines():
        yield f"#   {said}"
