"""Before anything is touched: can this plan run here, how large must each device be, and will mkfs take its options?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fstrial.base import proc
from fstrial.base.errors import MissingRequirement, UsageError
from fstrial.base.units import MIB, format_size, size_word
from fstrial.devices.contract import Target, target_of
from fstrial.filesystems.contract import Filesystem, filesystems
from fstrial.model.declaration import Declaration
from fstrial.model.plan import FilesystemChoice, Plan
from fstrial.model.trial import Note
from fstrial.workloads.contract import Needs, Workload, workloads

__all__ = ["Ready", "preflight", "workloads_of"]

_MKFS_DEADLINE_S = 600.0


@dataclass(frozen=True)
class Ready:
    """A plan that can run: its device sizes in bytes (one a target), what its workloads need and declare."""

    sizes: tuple[int, ...]
    needs: tuple[Needs, ...]
    declarations: tuple[Declaration, ...]
    programs: tuple[str, ...]
    notes: tuple[Note, ...]


def preflight(plan: Plan, erase: tuple[str, ...]) -> Ready:
    """Look at everything the plan needs. Writes nothing but a rehearsal image that is never linked.

    Raises UsageError, MissingRequirement, Refused or MachineError: the first thing that stands in the way.
    """
    targets = tuple(target_of(word) for word in plan.targets)
    kinds = _filesystems_of(plan, targets)
    for kind in kinds.values():
        reasons = kind.unsupported_here()
        if reasons:
            raise MissingRequirement(
                f"{kind.name} cannot run here: {'; '.join(reasons)}", f"sudo apt-get install {kind.package}"
            )
    loads = workloads_of(plan)
    _require_programs(loads)
    needs = tuple(load.needs() for load in loads)
    for load, need in zip(loads, needs, strict=True):
        _check_limits(load, need, kinds)
    sizes = tuple(_size(target, needs, kinds) for target in targets)
    for choice in plan.filesystems:
        if choice.mkfs and choice.type in kinds:
            _rehearse(kinds[choice.type], choice, max(sizes))
    notes = tuple(note for target, size in zip(targets, sizes, strict=True) for note in target.examine(erase, size))
    programs = {program for kind in kinds.values() for program in kind.programs}
    programs |= {program for load in loads for program in load.requires()}
    return Ready(sizes, needs, tuple(load.declare(plan.sync) for load in loads), tuple(sorted(programs)), notes)


def workloads_of(plan: Plan) -> tuple[Workload, ...]:
    """The plan's workloads with their settings. Raises UsageError for a setting that is none."""
    return tuple(workloads.load(choice.name)(choice.settings) for choice in plan.workloads)


def _filesystems_of(plan: Plan, targets: tuple[Target, ...]) -> dict[str, Filesystem]:
    """The types to be made, by name; none where every target is a folder."""
    if all(target.detected_filesystem() for target in targets):
        return {}
    return {choice.type: filesystems.load(choice.type)() for choice in plan.filesystems}


def _require_programs(loads: tuple[Workload, ...]) -> None:
    for load in loads:
        absent = [program for program in load.requires() if proc.find(program) is None]
        if absent:
            raise MissingRequirement(
                f"workload {load.name}: not installed: {', '.join(absent)}",
                "`fstrial doctor` names the packages",
            )


def _check_limits(load: Workload, need: Needs, kinds: dict[str, Filesystem]) -> None:
    """What a filesystem cannot hold is said before the trial, not met in the middle of it."""
    for kind in kinds.values():
        limits = kind.limits
        if limits.maximum_file_bytes is not None and need.largest_file_bytes > limits.maximum_file_bytes:
            raise UsageError(
                f"{load.name} writes a file of {format_size(need.largest_file_bytes)}; "
                f"{kind.name} holds {format_size(limits.maximum_file_bytes)} at most"
            )
        if need.longest_name_bytes > limits.name_bytes:
            raise UsageError(
                f"{load.name} uses a name of {need.longest_name_bytes} bytes; {kind.name} holds {limits.name_bytes}"
            )
        if need.symlinks and not limits.symlinks:
            raise UsageError(f"{load.name} makes symbolic links; {kind.name} has none")


def _size(target: Target, needs: tuple[Needs, ...], kinds: dict[str, Filesystem]) -> int:
    """The device's size: as given, or what the most demanding workload and filesystem are comfortable with.

    A given size is refused only when the data cannot fit at all: a filesystem that fills up in the middle of a trial
    is a finding.
    """
    smallest = max((kind.minimum_bytes for kind in kinds.values()), default=0)
    least = max((need.write_bytes for need in needs), default=0)
    comfortable = _rounded(max(smallest, *(need.device_bytes for need in needs)))
    size = target.size_bytes(comfortable)
    if size is None:
        return max(least, smallest)
    for kind in kinds.values():
        if size < kind.minimum_bytes:
            raise UsageError(
                f"{target.word}: {kind.name} needs {format_size(kind.minimum_bytes)} at least",
                f"give --on {target.kind}:{size_word(comfortable)}",
            )
    if size < least:
        raise UsageError(
            f"{target.word} has {format_size(size)}, and the workload writes {format_size(least)}",
            f"give --on {target.kind}:{size_word(comfortable)}, or a smaller scale",
        )
    return size


def _rounded(size_bytes: int) -> int:
    """Up to a multiple of 64 MiB: sizes that people recognise, and whole block groups."""
    step = 64 * MIB
    return -(-size_bytes // step) * step


def _rehearse(kind: Filesystem, choice: FilesystemChoice, size_bytes: int) -> None:
    """Run mkfs with the user's options on an image that nobody sees. Raises UsageError with mkfs's own message."""
    with _image(size_bytes) as image:
        done = proc.run(kind.make(str(image), choice.mkfs), deadline_s=_MKFS_DEADLINE_S)
    if done.failed:
        raise UsageError(
            f"{choice.label}: {done.argv[0]} does not take {proc.paste(choice.mkfs)}: {done.complaint()}",
            f"see  man {done.argv[0]}",
        )


@contextmanager
def _image(size_bytes: int) -> Iterator[Path]:
    """A sparse file to rehearse on. Kept in an unlinked file: a kill in the middle leaves nothing."""
    with tempfile.TemporaryFile() as image:
        image.truncate(size_bytes)
        yield Path(f"/proc/{os.getpid()}/fd/{image.fileno()}")
