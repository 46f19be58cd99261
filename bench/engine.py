"""The engine against a bare loop of system calls and against the real fio, on one file that the page cache holds.

make bench BENCH=engine

All these loops spend their whole time on a CPU, so rates are operations per second of a worker's own CPU time: what
else runs on the machine distorts them least. The fio jobs stand in docs/engine.md.
"""

from __future__ import annotations

import json
import mmap
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from _figures import pairs, say, say_ratio
from fstrial.base import proc
from fstrial.base.errors import MachineError
from fstrial.base.units import MIB
from fstrial.engine.phase import Amount, Api, BlockSize, DataPhase, Kind, Mix, Order, Target
from fstrial.engine.report import Report
from fstrial.engine.run import api_reason, clock_facts, run

BLOCK = 4096
LARGE_BLOCK = 32 * BLOCK
FILE_BYTES = 64 * MIB
BARE_SOURCE = Path(__file__).with_name("_bare_loop.c")


def main() -> None:
    cpu = max(os.sched_getaffinity(0))
    facts = clock_facts()
    say("engine clock", f"{facts.source}, {facts.timestamp_s * 1e9:.1f} ns a timestamp")
    with _files(2) as targets, _bare_loop() as program:
        one = DataPhase(targets[:1], (BlockSize(BLOCK),), Mix(read=1), order=Order.UNIFORM)
        against_bare_loop(one, cpu, program)
        if proc.find("fio") is None:
            say("engine/fio", "not measured: fio is not installed (apt-get install fio)")
        else:
            against_fio_psync(one, cpu)
            against_fio_latency(one, cpu)
            against_fio_io_uring(one, cpu)
        two_threads(targets, program)


@contextmanager
def _files(count: int) -> Iterator[tuple[Target, ...]]:
    """Files that stay in the page cache: mapped pages outlast a drop_caches of somebody else."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fstrial-bench-"))
        targets = tuple(Target(Path(folder) / f"file{number}", FILE_BYTES) for number in range(count))
        _must(run(DataPhase(targets, (BlockSize(MIB),), Mix(write=1), create=True, workers=count)))
        for target in targets:
            file = stack.enter_context(target.path.open("rb"))
            hold = mmap.MAP_SHARED | mmap.MAP_POPULATE
            stack.enter_context(mmap.mmap(file.fileno(), target.size_bytes, flags=hold, prot=mmap.PROT_READ))
        yield targets


def _must(report: Report) -> Report:
    if report.failed:
        raise MachineError(report.reason)
    return report


@contextmanager
def _on(cpus: set[int]) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _for(phase: DataPhase, seconds: float) -> Report:
    return _must(run(msgspec.structs.replace(phase, amount=Amount(seconds=seconds))))


def _rate(report: Report) -> float:
    """Operations per second of CPU time, added up over the workers."""
    return sum(worker.operations / (worker.user_s + worker.sys_s) for worker in report.workers)


def _rate_on(phase: DataPhase, cpu: int, seconds: float) -> float:
    with _on({cpu}):
        return _rate(_for(phase, seconds))


@contextmanager
def _bare_loop() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fstrial-bench-") as folder:
        program = Path(folder) / "bare"
        compiled = proc.run(["cc", "-O2", "-o", str(program), str(BARE_SOURCE)], deadline_s=60)
        if compiled.failed:
            raise MachineError(f"cannot compile {BARE_SOURCE.name}: {compiled.complaint()}")
        yield program


def _bare_rate(program: Path, target: Target, cpu: int) -> float:
    with _on({cpu}):
        done = proc.run([str(program), str(target.path), str(target.size_bytes), "0.2"], deadline_s=60)
    operations, cpu_s, _ = map(float, done.stdout.split())
    return operations / cpu_s


def against_bare_loop(phase: DataPhase, cpu: int, program: Path) -> None:
    bare = partial(_bare_rate, program, phase.targets[0], cpu)
    say_ratio("engine/bare loop", pairs(60, partial(_rate_on, phase, cpu, 0.2), bare), ">= 0.95")
    say("bare loop", f"{1e9 / bare():.0f} ns a 4 KiB pread")


@dataclass(frozen=True)
class FioRun:
    """What fio's JSON says of its one job's reads."""

    rate_per_s: float
    """Per second of its CPU time."""
    percentiles_s: dict[int, float]


def _fio(target: Target, cpu: int, options: tuple[str, ...], seconds: float, block: int = BLOCK) -> FioRun:
    argv = [
        "fio",
        "--name=read",
        f"--filename={target.path}",
        f"--size={target.size_bytes}",
        f"--bs={block}",
        f"--runtime={round(seconds * 1000)}ms",
        f"--cpus_allowed={cpu}",
        *("--rw=randread", "--norandommap", "--invalidate=0", "--pre_read=1", "--time_based", "--mem=mmap"),
        *("--output-format=json", *options),
    ]
    done = proc.run(argv, deadline_s=60)
    if done.failed:
        raise MachineError(f"{proc.paste(argv)}: {done.complaint()}")
    job: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    read = job["read"]
    cpu_s = read["runtime"] / 1000 * (job["usr_cpu"] + job["sys_cpu"]) / 100
    marks = read["clat_ns"]["percentile"]
    percentiles = {percent: marks[f"{percent}.000000"] * 1e-9 for percent in (50, 99)}
    return FioRun(read["total_ios"] / cpu_s, percentiles)


def against_fio_psync(phase: DataPhase, cpu: int) -> None:
    def theirs() -> float:
        return _fio(phase.targets[0], cpu, ("--ioengine=psync",), 0.5).rate_per_s

    say_ratio("engine/fio psync", pairs(16, partial(_rate_on, phase, cpu, 0.5), theirs), ">= 1.4")


def against_fio_latency(phase: DataPhase, cpu: int) -> None:
    """128 KiB reads: fio's clock stands further from the call than ours, which on 4 KiB alone is a tenth."""
    large = msgspec.structs.replace(phase, block_sizes=(BlockSize(LARGE_BLOCK),))
    found: dict[int, list[float]] = {50: [], 99: []}
    for _ in range(20):
        with _on({cpu}):
            ours = _for(large, 0.5).of(Kind.READ).latency
        fio = _fio(phase.targets[0], cpu, ("--ioengine=psync",), 0.5, LARGE_BLOCK)
        for percent, ratios in found.items():
            ratios.append((ours.percentile_s(percent) or 0.0) / fio.percentiles_s[percent])
    for percent, ratios in found.items():
        say_ratio(f"latency p{percent} of 128 KiB reads, engine/fio", ratios, "0.95 to 1.05")


def against_fio_io_uring(phase: DataPhase, cpu: int) -> None:
    reason = api_reason(Api.IO_URING)
    if reason:
        say("engine/fio io_uring", f"not measured: {reason}")
        return
    ring = msgspec.structs.replace(phase, api=Api.IO_URING, queue_depth=32)
    options = ("--ioengine=io_uring", "--iodepth=32", "--registerfiles=1", "--fixedbufs=1")
    batching = ("--iodepth_batch_submit=32", "--iodepth_batch_complete_max=32")

    def fio(*more: str) -> float:
        return _fio(phase.targets[0], cpu, (*options, *more), 0.5).rate_per_s

    ours = partial(_rate_on, ring, cpu, 0.5)
    say_ratio("engine/fio io_uring, depth 32", pairs(10, ours, fio), ">= 1.3")
    say_ratio("engine/fio io_uring, depth 32, fio told to batch", pairs(10, ours, partial(fio, *batching)))


def two_threads(targets: tuple[Target, ...], program: Path) -> None:
    """Each worker on a CPU and a file of its own; beside it two bare loops, which is what kernel and memory allow."""
    cpus = sorted(os.sched_getaffinity(0))[-2:]
    if len(cpus) < 2:
        say("2 threads/1", "not measured: one CPU only")
        return
    phase = DataPhase(targets, (BlockSize(BLOCK),), Mix(read=1), order=Order.UNIFORM, pin=True)

    def bare(count: int) -> float:
        with ThreadPoolExecutor(count) as pool:
            return sum(pool.map(partial(_bare_rate, program), targets[:count], cpus[:count]))

    def engine(count: int) -> float:
        with _on(set(cpus)):
            return _rate(_for(msgspec.structs.replace(phase, workers=count), 0.2))

    threads = pairs(30, partial(engine, 2), partial(engine, 1))
    loops = pairs(30, partial(bare, 2), partial(bare, 1))
    say_ratio("2 threads/1", threads, ">= 1.9 where the kernel scales so")
    say_ratio("2 bare loops/1", loops)
    say_ratio("2 threads/1, relative to bare loops", [a / b for a, b in zip(threads, loops, strict=True)])


if __name__ == "__main__":
    main()
