"""Between frozen descriptions and C structures, both ways."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from fstrial.base.errors import MissingRequirement
from fstrial.engine.phase import (
    Api,
    DataPhase,
    Kind,
    MetadataPhase,
    WriteThrough,
)
from fstrial.engine.report import (
    ClockFacts,
    Ending,
    Failure,
    KindFigures,
    Series,
    Verdict,
    VerdictCount,
    Verification,
    WorkerFigures,
)
from fstrial.model.histogram import Histogram

try:
    from fstrial.engine._engine import ffi, lib
except ImportError as error:
    raise MissingRequirement(
        f"the engine is not built: {error}",
        "install a C compiler and Python's headers (apt-get install gcc python3-dev), then install fstrial again",
    ) from error

__all__ = ["ffi", "lib"]

_ASIDE = (Kind.SYNC, Kind.ALLOCATE, Kind.CLOSE)


def number_of(choice: Enum) -> int:
    """The number in engine.h: our enums list their members in its order."""
    return list(type(choice)).index(choice)


def flags_of(flags: Iterable[tuple[bool, int]]) -> int:
    return sum(flag for wanted, flag in flags if wanted)


def data_phase(phase: DataPhase) -> tuple[Any, list[Any]]:
    """The C description, and what must live as long as it is read."""
    paths = [ffi.new("char[]", os.fsencode(target.path)) for target in phase.targets]
    targets = ffi.new(
        "struct engine_target[]", [(path, t.size_bytes) for path, t in zip(paths, phase.targets, strict=True)]
    )
    sizes = ffi.new("struct engine_size[]", [(size.size_bytes, size.weight) for size in phase.block_sizes])
    described = ffi.new(
        "struct engine_phase *",
        {
            "targets": targets,
            "target_count": len(phase.targets),
            "sizes": sizes,
            "size_count": len(phase.block_sizes),
            "workers": phase.workers,
            "queue_depth": phase.queue_depth,
            "flags": _data_flags(phase),
            "api": number_of(phase.api),
            "order": number_of(phase.order),
            "sharing": number_of(phase.sharing),
            "read_weight": phase.mix.read,
            "write_weight": phase.mix.write,
            "update_weight": phase.mix.update,
            "stride_blocks": phase.stride_blocks,
            "zipf_exponent": phase.zipf_exponent,
            "limit_operations": phase.amount.operations or 0,
            "limit_bytes": phase.amount.moved_bytes or 0,
            "limit_s": phase.amount.seconds or 0,
            "rate_per_s": phase.rate_per_s or 0,
            "sync_every": phase.syncing.every_writes or 0,
            "sync_call": number_of(phase.syncing.call),
            "content": number_of(phase.content.kind),
            "compression_ratio": phase.content.compression_ratio,
            "duplicate_share": phase.content.duplicate_share,
            "generation": phase.content.generation,
            "seed": phase.seed & (1 << 64) - 1,
            "bin_s": phase.bin_s,
        },
    )
    return described, [paths, targets, sizes]


def _data_flags(phase: DataPhase) -> int:
    return flags_of(
        (
            (phase.create, lib.ENGINE_CREATE_TARGETS),
            (phase.truncate, lib.ENGINE_TRUNCATE_TARGETS),
            (phase.allocate, lib.ENGINE_ALLOCATE_TARGETS),
            (phase.direct, lib.ENGINE_O_DIRECT),
            (phase.write_through is WriteThrough.SYNC, lib.ENGINE_O_SYNC),
            (phase.write_through is WriteThrough.DSYNC, lib.ENGINE_O_DSYNC),
            (phase.syncing.at_end, lib.ENGINE_SYNC_AT_END),
            (phase.processes, lib.ENGINE_PROCESSES),
            (phase.pin, lib.ENGINE_PIN),
            (phase.amount.until_first, lib.ENGINE_UNTIL_FIRST),
            (phase.content.stamped, lib.ENGINE_STAMP),
            (phase.verify, lib.ENGINE_VERIFY),
        )
    )


def metadata_phase(phase: MetadataPhase) -> tuple[Any, list[Any]]:
    texts = [ffi.new("char[]", os.fsencode(text)) for text in (phase.root, phase.suffix, phase.new_suffix)]
    described = ffi.new(
        "struct engine_metadata *",
        {
            "root": texts[0],
            "kind": number_of(phase.kind),
            "placement": number_of(phase.placement),
            "naming": number_of(phase.naming),
            "workers": phase.workers,
            "flags": flags_of(
                (
                    (phase.processes, lib.ENGINE_PROCESSES),
                    (phase.pin, lib.ENGINE_PIN),
                    (phase.until_first, lib.ENGINE_UNTIL_FIRST),
                )
            ),
            "shuffled": phase.shuffled,
            "random_letters": phase.random_letters,
            "suffix": texts[1],
            "new_suffix": texts[2],
            "names": phase.names,
            "directories": phase.directories,
            "depth": phase.depth,
            "file_bytes": phase.file_bytes,
            "xattr_bytes": phase.xattr_bytes,
            "seed": phase.seed & (1 << 64) - 1,
            "limit_s": phase.seconds or 0,
            "bin_s": phase.bin_s,
        },
    )
    return described, texts


def clock_facts() -> ClockFacts:
    """Where timestamps come from; measures what one costs (some 100 µs)."""
    clock = ffi.new("struct engine_clock *")
    lib.engine_clock_facts(clock)
    source = "tsc" if clock.tsc else "clock_gettime"
    return ClockFacts(source, clock.ticks_per_s, clock.timestamp_ns * 1e-9)


def api_error(api: Api) -> int:
    """0, or the errno with which this kernel or build refuses the API."""
    return int(lib.engine_api_error(number_of(api)))


def fill(phase: DataPhase, target: int, offset: int, ordinal: int, size_bytes: int) -> bytes:
    """The content that the phase writes into a block."""
    described, alive = data_phase(phase)
    buffer = ffi.new("unsigned char[]", size_bytes)
    lib.engine_fill(described, target, offset, ordinal, buffer, size_bytes)
    alive.clear()
    return bytes(ffi.buffer(buffer))


def metadata_path(phase: MetadataPhase, worker: int, name: int) -> str:
    """A worker's name below the root, suffix included."""
    described, alive = metadata_phase(phase)
    buffer = ffi.new("char[4096]")
    lib.engine_metadata_path(described, worker, name, buffer, len(buffer))
    alive.clear()
    return os.fsdecode(ffi.string(buffer)) + phase.suffix


# ---- reports ----


def histogram(native: Any) -> Histogram:
    if native.count == 0:
        return Histogram()
    counts = array("Q", bytes(ffi.buffer(native.buckets)))
    buckets = tuple((number, count) for number, count in enumerate(counts) if count)
    return Histogram(buckets, native.min_ns, native.max_ns, native.total_ns)


def kind_figures(reports: Sequence[Any]) -> tuple[KindFigures, ...]:
    """Kinds that have operations or errors, all workers merged."""
    found = []
    for number, kind in enumerate(Kind):
        tallies = [report.tallies[number] for report in reports]
        if not any(tally.latency.count or tally.errors for tally in tallies):
            continue
        merged = ffi.new("struct engine_histogram *")
        lib.engine_histogram_init(merged)
        for tally in tallies:
            lib.engine_histogram_merge(merged, ffi.addressof(tally, "latency"))
        moved = sum(tally.bytes for tally in tallies)
        errors = sum(tally.errors for tally in tallies)
        found.append(KindFigures(kind, merged.count, moved, errors, histogram(merged)))
    return tuple(found)


def worker_figures(report: Any) -> WorkerFigures:
    own = [report.tallies[number] for number, kind in enumerate(Kind) if kind not in _ASIDE]
    done = report.first_done_ns > 0
    return WorkerFigures(
        ending=list(Ending)[report.ending],
        operations=sum(tally.latency.count for tally in own),
        moved_bytes=sum(tally.bytes for tally in own),
        begin_s=report.begin_ns * 1e-9,
        first_done_s=report.first_done_ns * 1e-9 if done else None,
        last_done_s=report.last_done_ns * 1e-9 if done else None,
        end_s=report.end_ns * 1e-9,
        user_s=report.user_s,
        sys_s=report.sys_s,
        minor_faults=report.minor_faults,
        major_faults=report.major_faults,
        voluntary_switches=report.voluntary_switches,
        involuntary_switches=report.involuntary_switches,
    )


def series(reports: Sequence[Any], asked_bin_s: float) -> Series:
    """Workers whose bins doubled more often set the width: the others' bins are added up to it."""
    filled = [report for report in reports if report.bins]
    bin_s = max((report.bin_s for report in filled), default=asked_bin_s)
    length = max((-(-report.bins // round(bin_s / report.bin_s)) for report in filled), default=0)
    operations, moved = [0] * length, [0] * length
    for report in filled:
        folded = round(bin_s / report.bin_s)
        for index, (count, size) in enumerate((b.operations, b.bytes) for b in report.series[0 : report.bins]):
            operations[index // folded] += count
            moved[index // folded] += size
    return Series(bin_s, tuple(operations), tuple(moved))


def failure(native: Any, worker: int, phase: DataPhase | MetadataPhase) -> Failure:
    kind = list(Kind)[native.kind]
    if isinstance(phase, DataPhase):
        path = str(phase.targets[native.target].path) if native.target >= 0 else "the targets"
        return Failure(native.error, kind, worker, path, offset=native.offset)
    if kind is not phase.kind:
        return Failure(native.error, kind, worker, str(phase.root))
    if kind is Kind.READDIR:
        return Failure(native.error, kind, worker, f"directory {native.offset} below {phase.root}")
    path = str(phase.root / metadata_path(phase, worker, native.offset))
    return Failure(native.error, kind, worker, path, name=native.offset)


def verification(reports: Sequence[Any], phase: DataPhase | MetadataPhase) -> Verification | None:
    """What verifying reads found; None where nothing was to be verified."""
    if not isinstance(phase, DataPhase) or not phase.verify:
        return None
    counts = tuple(
        VerdictCount(verdict, sum(report.verdicts[number] for report in reports))
        for number, verdict in enumerate(Verdict)
    )
    for report in reports:
        if report.bad_target >= 0:
            path = str(phase.targets[report.bad_target].path)
            return Verification(counts, path, report.bad_offset, list(Verdict)[report.bad_verdict])
    return Verification(counts)
