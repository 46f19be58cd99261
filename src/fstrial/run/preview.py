"""A dry run: every command in the order it would run, on what, and what it would cost. Nothing is started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fstrial.base.proc import paste
from fstrial.base.units import format_duration, format_size
from fstrial.devices.contract import Target, target_of
from fstrial.filesystems.contract import filesystems
from fstrial.model.plan import Candidate, Plan, SyncPolicy
from fstrial.planning.schedule import blocks
from fstrial.run.cost import Cost
from fstrial.run.preflight import Ready, workloads_of
from fstrial.workloads.contract import Workload

__all__ = ["preview"]


def preview(plan: Plan, ready: Ready, cost: Cost, mount_root: Path) -> Iterator[str]:
    """Lines of the dry run."""
    yield from _cost(plan, cost)
    yield from _order(plan)
    sizes = dict(zip(plan.targets, ready.sizes, strict=True))
    for load in workloads_of(plan):
        for candidate in plan.candidates():
            yield ""
            yield from _trial(load, candidate, sizes[candidate.target], plan, mount_root)
    for note in ready.notes:
        yield f"note: {note.text}"


def _cost(plan: Plan, cost: Cost) -> Iterator[str]:
    least, most = cost.trials_least, cost.trials_most
    yield f"trials    {least}" + (f" to {most}" if most != least else "")
    written = format_size(cost.write_bytes_least)
    if most != least:
        written += f" to {format_size(cost.write_bytes_most)}"
    yield f"written   {written} by the workloads, filesystem overhead apart"
    source = "from earlier runs here" if cost.known else "a guess: nothing like it has run here"
    time = format_duration(cost.least_s)
    if cost.most_s > cost.least_s:
        time += f" to {format_duration(cost.most_s)}"
    yield f"time      {time} ({source})"
    if plan.memory_bytes is not None:
        yield f"memory    page cache bounded at {format_size(plan.memory_bytes)} by a memory cgroup"
    yield f"sync      {'after each phase' if plan.sync is SyncPolicy.PHASE else 'once, at the end'}"


def _order(plan: Plan) -> Iterator[str]:
    """The first blocks' orders: enough to see that they differ, and the seed that gives all others."""
    if plan.verify:
        yield "first     one unmeasured trial a filesystem, to check that it gives back what was written"
    for number, block in zip(range(3), blocks(plan, plan.seed), strict=False):
        order = ", ".join(f"{trial.candidate.label} ({trial.workload.name})" for trial in block)
        yield f"block {number + 1}   {order}"
    yield f"…         further blocks shuffled alike, seed {plan.seed}"


def _trial(load: Workload, candidate: Candidate, size: int, plan: Plan, mount_root: Path) -> Iterator[str]:
    yield f"# {candidate.label}, {load.name}"
    target = target_of(candidate.target)
    yield from (f"  {paste(command)}" for command in _commands(load, candidate, target, size, plan, mount_root))


def _commands(
    load: Workload, candidate: Candidate, target: Target, size: int, plan: Plan, mount_root: Path
) -> Iterator[tuple[str, ...]]:
    choice = candidate.filesystem
    if target.detected_filesystem():
        root = Path(candidate.target.partition(":")[2], "fstrial-…")
        yield ("mkdir", str(root))
        yield from _shown(load, root, plan)
        yield ("rm", "-rf", str(root))
        return
    attach = target.command(size)
    if attach:
        yield attach
    device = candidate.target if candidate.target.startswith("/") else "/dev/loopN"
    place = mount_root / "fs"
    kind = filesystems.load(choice.type)()
    yield kind.make(device, choice.mkfs)
    yield kind.mount_command(device, place, choice.mount)
    yield ("mkdir", str(place / "trial"))
    yield from _shown(load, place / "trial", plan)
    yield ("umount", str(place))
    if plan.fsck:
        yield kind.check(device)


def _shown(load: Workload, root: Path, plan: Plan) -> Iterator[tuple[str, ...]]:
    """The phases' commands, with the syncs between them as a person would type them."""
    sync = ("sync", "-f", str(root))
    for phase in load.phases(root):
        yield from phase.shows
        if phase.timed and plan.sync is SyncPolicy.PHASE:
            yield sync
    if plan.sync is SyncPolicy.END:
        yield sync
