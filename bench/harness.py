"""What fstrial itself costs: per trial, at start-up, in the store, and for a large report.

make bench BENCH=harness
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from _figures import pairs, say, say_ratio
from fstrial.base import proc
from fstrial.base.place import cache_folder, mount_root
from fstrial.base.units import GIB
from fstrial.filesystems.contract import filesystems
from fstrial.hosts.contract import Worker, hosts
from fstrial.model.plan import FilesystemChoice, Plan, Setting, StoppingRule, WorkloadChoice
from fstrial.model.trial import PhaseKind, Trial
from fstrial.model.wire import Progress, Start
from fstrial.planning.schedule import blocks

SIZE_BYTES = 2 * GIB
PAIRS = 12


def main() -> None:
    per_trial()
    start_up()
    store()
    report()


def per_trial() -> None:
    """Everything in a trial but the workload's phases, against mkfs, mount and umount by hand on a loop device."""
    for name in ("ext4", "xfs", "btrfs"):
        plan = Plan(
            filesystems=(FilesystemChoice(name, name),),
            workloads=(WorkloadChoice("tree", (Setting("scale", "0.002"),)),),
            targets=("loop:2G",),
            baseline=name,
            rule=StoppingRule(until=None, runs=1),
        )
        (trial,) = next(blocks(plan, 1))
        start = Start(plan, (SIZE_BYTES,), (), str(mount_root()))
        took: list[float] = []
        with hosts.load("native")().worker(start) as worker:
            ratios = pairs(PAIRS, partial(_overhead, worker, trial, took), partial(_by_hand, name))
        say(f"harness/{name} overhead per trial", f"{statistics.median(took) * 1000:.1f} ms")
        say_ratio(f"harness/{name} mkfs+mount+umount by hand", ratios, "<= 1.3")


def _overhead(worker: Worker, trial: Trial, took: list[float]) -> float:
    """Seconds of a trial outside the workload's phases: from the first of them to unmount is the workload's."""
    marks: dict[str, float] = {}
    begin = time.monotonic()

    def mark(step: Progress) -> None:
        marks[step.phase] = time.monotonic()

    result = worker.run(trial, mark)
    whole = time.monotonic() - begin
    if result.reason:
        raise SystemExit(f"the trial failed: {result.reason}")
    first = next(phase.name for phase in result.phases if phase.kind is PhaseKind.WORKLOAD)
    took.append(whole - (marks["unmount"] - marks[first]))
    return took[-1]


@contextmanager
def _fresh_loop() -> Iterator[str]:
    """A loop device over a fresh sparse image, as a trial has it."""
    with tempfile.NamedTemporaryFile(dir=cache_folder(), prefix="bench-") as image:
        image.truncate(SIZE_BYTES)
        device = _must(("losetup", "--find", "--show", "--direct-io=on", image.name)).stdout.strip()
        try:
            yield device
        finally:
            _must(("losetup", "--detach", device))


def _by_hand(name: str) -> float:
    """Seconds that mkfs, mount and umount take when typed; the device stands ready, its making is not counted."""
    kind = filesystems.load(name)()
    with tempfile.TemporaryDirectory() as folder, _fresh_loop() as device:
        begin = time.monotonic()
        _must(kind.make(device, ()))
        _must(("mount", "-t", name, device, folder))
        _must(("umount", folder))
        return time.monotonic() - begin


def _must(argv: tuple[str, ...]) -> proc.Completed:
    done = proc.run(argv, deadline_s=60.0)
    if done.failed:
        raise SystemExit(f"{proc.paste(argv)}: {done.complaint()}")
    return done


def start_up() -> None:
    fstrial = str(Path(sys.executable).with_name("fstrial"))
    times = []
    for _ in range(11):
        begin = time.monotonic()
        subprocess.run([fstrial, "--help"], check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    say("harness/fstrial --help", f"{statistics.median(times[1:]) * 1000:.0f} ms  (aim < 150 ms)")


def store() -> None:
    """Samples a second through the door that a session uses: one transaction a trial."""
    from fakes.records import make_record
    from fstrial.store.store import Store

    record = make_record(blocks=100)
    samples = sum(len(phase.samples) for kept in record.trials for phase in kept.result.phases)
    with (
        tempfile.TemporaryDirectory(dir=cache_folder()) as folder,
        Store.open(f"{folder}/bench.sqlite") as kept_in,
    ):
        run_id = kept_in.begin(record.plan, record.environment, record.declarations)
        begin = time.monotonic()
        for kept in record.trials:
            kept_in.add(run_id, kept.trial, kept.result)
        took = time.monotonic() - begin
    say("harness/store insert", f"{samples / took:.0f} samples/s  (aim >= 20000)")


def report() -> None:
    """Ten thousand trials, from the store to the screen and to a page."""
    from rich.console import Console

    from fakes.records import make_record
    from fstrial.formats.contract import formats
    from fstrial.report import html, terminal
    from fstrial.stats.analysis import analyse
    from fstrial.store.store import Store

    record = make_record(blocks=3334)
    with (
        tempfile.TemporaryDirectory(dir=cache_folder()) as folder,
        Store.open(f"{folder}/bench.sqlite") as kept_in,
    ):
        run_id = kept_in.begin(record.plan, record.environment, record.declarations)
        for kept in record.trials:
            kept_in.add(run_id, kept.trial, kept.result)
        begin = time.monotonic()
        loaded = kept_in.load(run_id)
        analysis = analyse(loaded)
        with Path(folder, "terminal").open("w") as screen:
            terminal.render(loaded, analysis, Console(file=screen, width=120))
        say("harness/terminal report of 10000 trials", f"{time.monotonic() - begin:.2f} s  (aim <= 3 s)")
        begin = time.monotonic()
        loaded = kept_in.load(run_id)
        analysis = analyse(loaded)
        page = html.render(loaded, analysis, formats.load("json").write(loaded, analysis))
        say("harness/HTML report of 10000 trials", f"{time.monotonic() - begin:.2f} s  (aim <= 8 s)")
        say("harness/HTML size of 10000 trials", f"{len(page.encode()) / 1024**2:.1f} MiB")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    main()
