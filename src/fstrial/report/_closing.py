"""What stands around a run's verdicts, a sentence each: the content check, how it ended, what it cost and ran on."""

from __future__ import annotations

from fstrial.base.units import format_duration, format_size
from fstrial.model.analysis import Analysis
from fstrial.model.record import RunRecord, RunState
from fstrial.model.trial import DeviceFacts, NoteKind, Outcome, PhaseKind, TrialResult
from fstrial.report import _machine, words
from fstrial.stats.words import listing

__all__ = ["cost", "ending", "notices", "system", "wrong_content"]


def wrong_content(record: RunRecord) -> tuple[str, ...]:
    """What filesystems gave back other bytes than were written: louder than any figure."""
    return tuple(
        f"WRONG CONTENT: {one.trial.candidate.label} gave back other bytes than were written: "
        f"{one.result.wrong_content}"
        for one in record.trials
        if one.result.wrong_content
    )


def notices(record: RunRecord, analysis: Analysis) -> tuple[str, ...]:
    """What a reader should know before quoting a figure: flags, warnings of the trials, verifications that failed."""
    unchecked = (
        f"The content of {one.trial.candidate.label} could not be checked: {one.result.reason}."
        for one in record.verifications()
        if one.result.outcome is not Outcome.PASSED and not one.result.wrong_content
    )
    return (*(flag.text for flag in analysis.flags), *unchecked, *_machine.noted(record, NoteKind.WARNING))


def ending(record: RunRecord) -> str:
    """How the run ended, or how to go on with it."""
    again = f"`fstrial run --resume {record.id}` goes on."
    reason = record.stop_reason.rstrip(".")
    return {
        RunState.FINISHED: f"Finished: {reason}." if reason else "Finished.",
        RunState.RUNNING: f"Not finished: it is running, or was killed; then {again}",
        RunState.INTERRUPTED: f"Interrupted; {again}",
        RunState.FAILED: f"Failed: {reason}. Once that is mended, {again}",
    }[record.state]


def cost(record: RunRecord) -> str:
    """Trials, their time, bytes written to devices, and whose content was read back and right."""
    if not record.trials:
        return "No trial has ended yet."
    spent_s = sum(one.result.elapsed_s for one in record.trials)
    parts = [f"{words.count(len(record.trials), 'trial')} in {format_duration(spent_s)}"]
    written = [_written(one.result) for one in record.trials]
    known = [size_bytes for size_bytes in written if size_bytes is not None]
    if known:
        least = "" if len(known) == len(written) else "at least "
        parts.append(f"{least}{format_size(sum(known))} written to the device")
    checked = [one.trial.candidate.label for one in record.verifications() if one.result.outcome is Outcome.PASSED]
    if checked:
        parts.append(f"content checked after a remount on {listing(list(dict.fromkeys(checked)))}")
    return f"{'; '.join(parts)}."


def _written(result: TrialResult) -> float | None:
    """Bytes that the device took in all phases; None where the trial cannot tell."""
    known = [
        sample.value
        for phase in result.phases
        if phase.kind is not PhaseKind.TOTAL
        and (sample := phase.sample("device_write_bytes")) is not None
        and sample.value is not None
    ]
    return sum(known) if known else None


def system(record: RunRecord) -> str:
    """Kernel, machine, devices, and the bound of the page cache, on one line."""
    machine = record.environment
    parts = [
        f"Linux {machine.kernel}" if machine.kernel else "",
        machine.distribution,
        f"{machine.cores} × {machine.cpu}" if machine.cores and machine.cpu else machine.cpu,
        f"{format_size(machine.memory_bytes)} of memory" if machine.memory_bytes else "",
        f"virtualized ({machine.virtualization})" if machine.virtualization else "",
        *_devices(record),
        f"page cache bound to {format_size(record.plan.memory_bytes)}" if record.plan.memory_bytes else "",
    ]
    return f"{'; '.join(part for part in parts if part)}."


def _devices(record: RunRecord) -> list[str]:
    """Each target once, as the first trial on it found it."""
    found: dict[str, DeviceFacts] = {}
    for one in record.trials:
        if one.result.device is not None:
            found.setdefault(one.result.device.target, one.result.device)
    return [_device(facts) for facts in found.values()]


def _device(facts: DeviceFacts) -> str:
    size = "" if facts.size_bytes is None else f" of {format_size(facts.size_bytes)}"
    direct = {True: ", direct I/O", False: ", no direct I/O: the host caches too", None: ""}[facts.direct_io]
    backing = f" on {facts.backing}" if facts.backing else ""
    return f"{facts.target} ({facts.model or facts.kind}{size}{backing}{direct})"
