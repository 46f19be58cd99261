"""Data phases through the typed face, judged by what the filesystem, zlib and the clock say."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from fstrial.base.errors import MachineError, UsageError
from fstrial.engine import _native
from fstrial.engine.phase import (
    Amount,
    Api,
    BlockSize,
    Content,
    ContentKind,
    DataPhase,
    Kind,
    Mix,
    Order,
    Sharing,
    SyncCall,
    Syncing,
    Target,
    WriteThrough,
    check,
)
from fstrial.engine.report import Ending, Report, Verdict
from fstrial.engine.run import api_reason, clock_facts, content_of, run, started

BLOCK = 4096
FOUR_KIB = (BlockSize(BLOCK),)
APIS = [api for api in Api if not api_reason(api)]


def written(path: Path, blocks: int = 64, **changes: object) -> DataPhase:
    phase = DataPhase((Target(path, blocks * BLOCK),), FOUR_KIB, Mix(write=1), create=True, seed=7)
    return msgspec.structs.replace(phase, **changes)


def reading(phase: DataPhase, **changes: object) -> DataPhase:
    return msgspec.structs.replace(phase, mix=Mix(read=1), create=False, **changes)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_every_api_leaves_the_bytes_it_was_asked_to_write(api: Api, tmp_path: Path) -> None:
    phase = written(tmp_path / "file", api=api, order=Order.PERMUTATION, queue_depth=8 if api is Api.IO_URING else 1)
    report = run(phase)
    assert not report.failed, report.reason
    assert report.of(Kind.WRITE).operations == 64
    assert report.of(Kind.WRITE).moved_bytes == 64 * BLOCK
    found = (tmp_path / "file").read_bytes()
    assert found == b"".join(content_of(phase, 0, index * BLOCK, BLOCK) for index in range(64))


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_latencies_operations_and_series_agree(api: Api, tmp_path: Path) -> None:
    phase = written(tmp_path / "file", api=api)
    run(phase)
    report = run(reading(phase, order=Order.UNIFORM, amount=Amount(operations=5000), workers=2, bin_s=0.001))
    read = report.of(Kind.READ)
    assert read.operations == read.latency.count == report.operations == sum(report.series.operations) == 10_000
    assert read.moved_bytes == sum(report.series.moved_bytes) == 10_000 * BLOCK
    busy = read.latency.total_ns * 1e-9
    assert busy <= 2 * report.elapsed_s * 1.001
    for worker in report.workers:
        assert worker.ending is Ending.COMPLETE
        assert 0 <= worker.begin_s <= worker.first_done_s <= worker.last_done_s <= worker.end_s
        assert worker.user_s + worker.sys_s <= worker.end_s * 1.1 + 0.01


def test_our_time_is_the_clock_s_time(tmp_path: Path) -> None:
    phase = written(tmp_path / "file")
    run(phase)
    begin = time.monotonic()
    report = run(reading(phase, order=Order.UNIFORM, amount=Amount(seconds=0.5)))
    around = time.monotonic() - begin
    assert 0.5 <= report.elapsed_s <= around
    facts = clock_facts()
    assert 0 < facts.timestamp_s < 1e-5


@pytest.mark.parametrize("ratio", [1, 2, 3.5, 10])
def test_zlib_compresses_to_the_ratio_asked(ratio: float) -> None:
    phase = written(Path("any"), content=Content(compression_ratio=ratio))
    data = b"".join(content_of(phase, 0, index * 65536, 65536) for index in range(16))
    assert len(data) / len(zlib.compress(data, 6)) == pytest.approx(ratio, rel=0.05)


def test_near_zero_and_counting_are_the_classics_patterns() -> None:
    near_zero = written(Path("any"), content=Content(kind=ContentKind.NEAR_ZERO))
    assert content_of(near_zero, 0, 0, 8, ordinal=2) == bytes((1, 1, 1, 0, 0, 0, 0, 0))
    counting = written(Path("any"), content=Content(kind=ContentKind.COUNTING))
    assert content_of(counting, 0, 0, 300) == bytes(index & 127 for index in range(300))


def test_the_duplicate_share_is_the_share_of_repeated_pieces() -> None:
    phase = written(Path("any"), content=Content(duplicate_share=0.4))
    pieces = Counter(content_of(phase, 0, index * BLOCK, BLOCK) for index in range(4000))
    repeated = sum(count for count in pieces.values() if count > 1)
    assert repeated / 4000 == pytest.approx(0.4, abs=0.03)
    assert len(pieces) == 4000 - repeated + 16


def test_a_verifying_read_tells_stale_torn_foreign_and_lost_apart(tmp_path: Path) -> None:
    phase = written(tmp_path / "file", content=Content(stamped=True, generation=2))
    older = msgspec.structs.replace(phase, content=Content(stamped=True, generation=1))
    run(phase)
    with (tmp_path / "file").open("r+b") as file:
        file.seek(3 * BLOCK)
        file.write(content_of(older, 0, 3 * BLOCK, BLOCK))  # the second write was lost
        file.seek(5 * BLOCK)
        file.write(content_of(older, 0, 5 * BLOCK, BLOCK)[:1024])  # only its end arrived
        file.seek(7 * BLOCK)
        file.write(content_of(phase, 0, 8 * BLOCK, BLOCK))  # a neighbour's block
        file.seek(9 * BLOCK)
        file.write(bytes(BLOCK))
        file.seek(11 * BLOCK + 100)
        file.write(b"?")
    report = run(reading(phase, verify=True))
    verification = report.verification
    assert verification is not None
    assert {count.verdict: count.blocks for count in verification.counts} == {
        Verdict.GOOD: 59,
        Verdict.STALE: 1,
        Verdict.TORN: 1,
        Verdict.FOREIGN: 1,
        Verdict.EMPTY: 1,
        Verdict.DAMAGED: 1,
    }
    assert verification.bad_blocks == 5
    assert (verification.first_bad_offset, verification.first_bad) == (3 * BLOCK, Verdict.STALE)


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    contents = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        phase = written(tmp_path / name, seed=seed, order=Order.ZIPF, amount=Amount(operations=40))
        run(phase)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_syncs_are_counted_and_timed_apart(tmp_path: Path) -> None:
    syncing = Syncing(SyncCall.FDATASYNC, every_writes=16, at_end=True)
    report = run(written(tmp_path / "file", syncing=syncing))
    assert report.of(Kind.SYNC).operations == 5
    assert report.operations == 64
    worker = report.workers[0]
    assert worker.last_done_s is not None
    assert worker.end_s > worker.last_done_s


def test_fallocate_reserves_before_the_start(tmp_path: Path) -> None:
    report = run(written(tmp_path / "file", blocks=256, allocate=True, amount=Amount(operations=1)))
    assert report.of(Kind.ALLOCATE).operations == 1
    assert (tmp_path / "file").stat().st_blocks * 512 >= 256 * BLOCK


def test_direct_and_synchronous_writes_reach_the_file(tmp_path: Path) -> None:
    for number, through in enumerate(WriteThrough):
        phase = written(tmp_path / f"{number}", direct=True, write_through=through, blocks=8)
        report = run(phase)
        assert not report.failed, report.reason
        assert (tmp_path / f"{number}").read_bytes() == b"".join(
            content_of(phase, 0, i * BLOCK, BLOCK) for i in range(8)
        )


def test_a_stall_is_seen_by_all_that_had_to_wait_for_it(tmp_path: Path) -> None:
    """A worker stopped for 0.4 of 1.2 s: a third of the operations come due in the stall. In a closed loop one
    operation alone has waited, which is coordinated omission."""
    phase = written(tmp_path / "file", processes=True)
    run(phase)
    for rate, share in ((500.0, 0.4 / 1.2), (None, 0.0)):
        with started(reading(phase, order=Order.UNIFORM, amount=Amount(seconds=1.2), rate_per_s=rate)) as running:
            time.sleep(0.3)
            (child,) = _children()
            os.kill(child, signal.SIGSTOP)
            time.sleep(0.4)
            os.kill(child, signal.SIGCONT)
            report = running.report()
        latency = report.of(Kind.READ).latency
        assert latency.max_s == pytest.approx(0.4, abs=0.1)
        above = latency.share_above(0.02)
        assert above == pytest.approx(share * 0.95, abs=0.08)
        if rate:
            assert report.operations == pytest.approx(1.2 * rate, rel=0.02)
            assert latency.percentile_s(85) == pytest.approx(0.2, abs=0.1)


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()]


def test_a_stop_from_another_thread_ends_a_phase(tmp_path: Path) -> None:
    phase = written(tmp_path / "file")
    run(phase)
    for processes in (False, True):
        endless = reading(phase, order=Order.UNIFORM, amount=Amount(seconds=1000), workers=3, processes=processes)
        with started(endless) as running:
            timer = threading.Timer(0.1, running.stop)
            timer.start()
            report = running.report()
            timer.join()
        assert {worker.ending for worker in report.workers} == {Ending.STOPPED}
        assert not report.failed
        assert 0.05 < report.elapsed_s < 5


def test_a_deadline_leaves_a_failed_phase_with_what_was_done(tmp_path: Path) -> None:
    phase = written(tmp_path / "file")
    run(phase)
    report = run(reading(phase, order=Order.UNIFORM, amount=Amount(seconds=1000)), deadline_s=0.1)
    assert report.timed_out
    assert report.failed
    assert "deadline" in report.reason
    assert report.operations > 0


def test_leaving_the_block_leaves_no_threads_and_no_processes(tmp_path: Path) -> None:
    phase = written(tmp_path / "file")
    run(phase)
    threads = {path.name for path in Path("/proc/self/task").iterdir()}
    for processes in (False, True):
        endless = reading(phase, order=Order.UNIFORM, amount=Amount(seconds=1000), workers=3, processes=processes)
        with pytest.raises(KeyError), started(endless):
            raise KeyError
    for _ in range(100):  # a joined thread stands in /proc for another moment
        if {path.name for path in Path("/proc/self/task").iterdir()} <= threads:
            break
        time.sleep(0.01)
    else:
        pytest.fail("threads are left")
    assert _children() == []


KILLED = """
import sys
from pathlib import Path
from fstrial.engine.phase import *
from fstrial.engine.run import run
target = Target(Path(sys.argv[1]), 1 << 20)
run(DataPhase((target,), (BlockSize(4096),), Mix(write=1), create=True))
print("ready", flush=True)
run(DataPhase((target,), (BlockSize(4096),), Mix(read=1), order=Order.UNIFORM, amount=Amount(seconds=1000), workers=2,
              processes=True))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_caller_leaves_no_worker_processes(number: signal.Signals, tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "file")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert program.stdout is not None
    program.stdout.readline()
    time.sleep(0.2)
    workers = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
    assert len(workers) == 2
    program.send_signal(number)
    program.wait(10)
    program.stdout.close()
    for _ in range(100):
        if not any(Path(f"/proc/{pid}/exe").exists() for pid in workers):
            break
        time.sleep(0.02)
    else:
        pytest.fail("worker processes outlive their caller")


def test_a_killed_worker_process_fails_the_phase(tmp_path: Path) -> None:
    phase = written(tmp_path / "file")
    run(phase)
    endless = reading(phase, order=Order.UNIFORM, amount=Amount(seconds=1000), workers=2, processes=True)
    with started(endless) as running:
        time.sleep(0.1)
        os.kill(_children()[0], signal.SIGKILL)
        report = running.report()
    assert sorted(worker.ending.value for worker in report.workers) == ["lost", "other failed"]
    assert report.failed
    assert "killed" in report.reason


def test_a_missing_file_is_a_failed_phase_that_names_it(tmp_path: Path) -> None:
    report = run(reading(written(tmp_path / "absent")))
    assert report.failed
    assert report.failure is not None
    assert report.failure.error == errno.ENOENT
    assert "absent" in report.reason


@pytest.mark.parametrize("api", [api for api in APIS if api is not Api.MMAP], ids=lambda api: api.name)
def test_a_full_device_is_a_failed_phase_with_its_offset(api: Api) -> None:
    report = run(DataPhase((Target(Path("/dev/full"), 1 << 20),), FOUR_KIB, Mix(write=1), api=api))
    assert report.failure is not None
    assert report.failure.error == errno.ENOSPC
    assert report.failure.offset in ((0, BLOCK) if api is Api.STDIO else (0,))  # stdio writes a block late
    assert report.of(Kind.WRITE).errors == 1
    assert report.workers[0].ending is Ending.FAILED
    assert "No space left" in report.reason


def test_an_unreadable_place_is_a_failed_phase() -> None:
    report = run(DataPhase((Target(Path("/proc/self/mem"), 1 << 20),), FOUR_KIB, Mix(read=1)))
    assert report.failure is not None
    assert (report.failure.error, report.failure.offset) == (errno.EIO, 0)


def test_a_write_cut_short_counts_its_bytes_and_fails_where_it_stopped(tmp_path: Path) -> None:
    """A file size limit of 10 000 bytes lets a third of the third block through (write(2), EFBIG)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        report = run(written(tmp_path / "file"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert report.failure is not None
    assert (report.failure.error, report.failure.offset) == (errno.EFBIG, 10_000)
    assert report.short_transfers == 1
    assert report.of(Kind.WRITE).moved_bytes == 10_000
    assert report.of(Kind.WRITE).operations == 2


def test_a_target_that_cannot_be_made_never_starts(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="no/such"):
        run(written(tmp_path / "no/such"))


def test_until_the_first_finishes_stops_the_slower_ones(tmp_path: Path) -> None:
    targets = (Target(tmp_path / "short", 8 * BLOCK), Target(tmp_path / "long", 4096 * BLOCK))
    phase = DataPhase(targets, FOUR_KIB, Mix(write=1), create=True, workers=2, amount=Amount(until_first=True))
    report = run(msgspec.structs.replace(phase, rate_per_s=1000.0))
    assert [worker.ending for worker in report.workers] == [Ending.COMPLETE, Ending.OTHER_FIRST]
    assert report.workers[1].operations < 20


def test_sliced_workers_write_every_block_once(tmp_path: Path) -> None:
    phase = written(tmp_path / "file", blocks=61, workers=4, sharing=Sharing.SLICED, order=Order.PERMUTATION)
    report = run(phase)
    assert report.operations == 61
    assert (tmp_path / "file").read_bytes() == b"".join(content_of(phase, 0, i * BLOCK, BLOCK) for i in range(61))


BAD = {
    "a queue for pread": {"queue_depth": 2},
    "direct mmap": {"direct": True, "api": Api.MMAP},
    "direct odd blocks": {"direct": True, "block_sizes": (BlockSize(1000),)},
    "no work": {"mix": Mix()},
    "no targets": {"targets": ()},
    "no blocks": {"block_sizes": ()},
    "no workers": {"workers": 0},
    "negative rate": {"rate_per_s": -1.0},
    "a permutation of several sizes": {"order": Order.PERMUTATION, "block_sizes": (BlockSize(512), BlockSize(1024))},
    "expanding content": {"content": Content(compression_ratio=0.5)},
    "odd stamped blocks": {"content": Content(stamped=True), "block_sizes": (BlockSize(100),)},
    "nothing to do": {"amount": Amount(operations=0)},
    "flat zipf": {"order": Order.ZIPF, "zipf_exponent": 0.0},
}


@pytest.mark.parametrize("changes", BAD.values(), ids=BAD.keys())
def test_what_cannot_be_is_said_in_words(changes: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the phase cannot run: "):
        check(written(tmp_path / "file", **changes))


def test_enums_list_their_members_in_the_header_s_order() -> None:
    names = {
        Kind: "ENGINE_{}",
        Order: "ENGINE_{}",
        Api: "ENGINE_{}",
        Sharing: "ENGINE_{}",
        SyncCall: "ENGINE_{}",
        ContentKind: "ENGINE_{}",
        Ending: "ENGINE_{}",
        Verdict: "ENGINE_{}",
    }
    for kind, form in names.items():
        for member in kind:
            assert getattr(_native.lib, form.format(member.name)) == _native.number_of(member), member


def test_a_report_goes_through_json(tmp_path: Path) -> None:
    report = run(written(tmp_path / "file"))
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report
