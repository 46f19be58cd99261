"""Probes against files of our own, and against what other readings say."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fstrial.model.metric import PHASE_METRICS, Sample
from fstrial.model.trial import NoteKind
from fstrial.probes import cpu, device, others, pressure
from fstrial.probes._machine import KernelLog, context, governor
from fstrial.probes.contract import Place, probes

TICK_S = 1 / os.sysconf("SC_CLK_TCK")

# /sys/block/vda/stat of Linux 6.18 and, for the second, 4.17 (no discards, no flushes)
STAT = "1646 280 33767 204 1136 14982 131750 1555 0 648 2193 7 0 4096 12 208 433"
OLD_STAT = "1646 280 33767 204 1136 14982 131750 1555 0 648 2193"


def values(samples: object) -> dict[str, float | str]:
    assert isinstance(samples, tuple)
    return {one.metric: one.missing if one.value is None else one.value for one in samples}


@pytest.mark.parametrize("name", probes.names())
def test_a_probe_yields_exactly_the_registered_metrics_it_declares(name: str) -> None:
    probe = probes.load(name)(Place())
    assert set(probe.metrics) <= {metric.name for metric in PHASE_METRICS}
    probe.enter()
    samples = probe.exit()
    assert [sample.metric for sample in samples] == list(probe.metrics)
    assert all((sample.value is None) == bool(sample.missing) for sample in samples)


def test_no_two_probes_yield_the_same_metric() -> None:
    metrics = [metric for name in probes.names() for metric in probes.load(name).metrics]
    assert len(metrics) == len(set(metrics))


@pytest.mark.parametrize("name", probes.names())
def test_a_probe_is_cheap(name: str) -> None:
    probe = probes.load(name)(Place(Path("/sys/block/loop0/stat"), Path("/sys/block/loop0/stat")))
    begin = time.thread_time()
    for _ in range(20):
        probe.enter()
        probe.exit()
    assert (time.thread_time() - begin) / 20 < 2e-3


def fake_stat(path: Path, line: str) -> Path:
    path.write_text(f"{line}\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    return path


def test_busy_time_leaves_out_idle_waiting_stolen_and_guest_time(tmp_path: Path) -> None:
    file = fake_stat(tmp_path / "stat", "cpu  100 200 300 400 500 600 700 800 900 1000")
    probe = cpu.Reader(Place(), file)
    probe.enter()
    fake_stat(file, "cpu  101 202 304 9999 9999 608 716 832 9999 9999")
    assert values(probe.exit()) == {
        "system_cpu_s": pytest.approx((1 + 2 + 4 + 8 + 16) * TICK_S),
        "steal_s": pytest.approx(32 * TICK_S),
    }


def test_less_than_a_tick_is_missing_and_never_zero(tmp_path: Path) -> None:
    probe = cpu.Reader(Place(), fake_stat(tmp_path / "stat", "cpu  100 200 300 400 500 600 700 800 900 1000"))
    probe.enter()
    assert values(probe.exit()) == dict.fromkeys(probe.metrics, "below the kernel's accounting tick (10 ms)")


def test_burnt_cpu_time_is_seen() -> None:
    probe = cpu.Reader(Place())
    probe.enter()
    before, begin = os.times(), time.monotonic()
    while time.monotonic() - begin < 0.5:
        pass
    after, elapsed_s = os.times(), time.monotonic() - begin
    (system_cpu, _) = probe.exit()
    own_s = after.user - before.user + after.system - before.system
    assert system_cpu.value is not None
    assert own_s - 2 * TICK_S <= system_cpu.value <= elapsed_s * (os.cpu_count() or 1) + 4 * TICK_S


def block_device(folder: Path, stat: str) -> Path:
    (folder / "queue").mkdir(parents=True)
    (folder / "queue/iostats").write_text("1\n")
    (folder / "stat").write_text(stat)
    return folder / "stat"


def test_a_devices_counters_are_told_apart(tmp_path: Path) -> None:
    stat = block_device(tmp_path / "vda", STAT)
    probe = device.Reader(Place(stat))
    probe.enter()
    stat.write_text("1647 999 33769 999 1139 999 131754 999 9 1648 999 12 999 4104 999 214 999")
    assert values(probe.exit()) == {
        "device_reads": 1, "device_writes": 3, "device_flushes": 6, "device_discards": 5,
        "device_read_bytes": 2 * 512, "device_write_bytes": 4 * 512, "device_discard_bytes": 8 * 512,
        "device_busy_s": 1.0,
    }  # fmt: skip


def test_what_an_old_kernel_does_not_count_is_missing(tmp_path: Path) -> None:
    probe = device.Reader(Place(block_device(tmp_path / "vda", OLD_STAT)))
    probe.enter()
    seen = values(probe.exit())
    why = "this kernel does not count it"
    assert [seen[f"device_{name}"] for name in ("flushes", "discards", "discard_bytes")] == [why] * 3
    assert [seen[f"device_{name}"] for name in ("writes", "write_bytes", "busy_s")] == [0, 0, 0]


def test_requests_faster_than_a_tick_leave_busy_time_missing(tmp_path: Path) -> None:
    stat = block_device(tmp_path / "vda", STAT)
    probe = device.Reader(Place(stat))
    probe.enter()
    stat.write_text(STAT.replace("1136", "1137"))
    seen = values(probe.exit())
    assert (seen["device_writes"], seen["device_busy_s"]) == (1, "below one tick of the kernel's clock (jiffy)")


def test_busy_time_survives_its_counters_wrap(tmp_path: Path) -> None:
    stat = block_device(tmp_path / "vda", STAT.replace(" 648 ", f" {2**32 - 500} "))
    probe = device.Reader(Place(stat))
    probe.enter()
    stat.write_text(STAT.replace(" 648 ", " 1500 "))
    assert values(probe.exit())["device_busy_s"] == 2.0


def test_a_device_without_counters_gives_the_reason(tmp_path: Path) -> None:
    def reason(place: Place) -> set[object]:
        probe = device.Reader(place)
        probe.enter()
        return set(values(probe.exit()).values())

    stat = block_device(tmp_path / "vda", STAT)
    partition = tmp_path / "vda/vda1/stat"
    partition.parent.mkdir()
    partition.write_text(STAT)
    (tmp_path / "vda/queue/iostats").write_text("0\n")
    off = {"the device's accounting is switched off (queue/iostats)"}
    assert reason(Place()) == {"there is no block device"}
    assert reason(Place(tmp_path / "gone/stat")) == {f"there is no {tmp_path}/gone/stat"}
    assert reason(Place(stat)) == off
    assert reason(Place(partition)) == off


def test_io_of_others_is_what_the_disk_moved_beyond_our_device(tmp_path: Path) -> None:
    ours, below = block_device(tmp_path / "loop0", STAT), block_device(tmp_path / "vda", STAT)
    probe = others.Reader(Place(ours, below))
    probe.enter()
    ours.write_text(STAT.replace("131750", "131760"))
    below.write_text(STAT.replace("131750", "131780").replace("33767", "33770"))
    assert values(probe.exit()) == {"other_io_bytes": (30 + 3 - 10) * 512}
    assert values(others.Reader(Place(ours)).exit()) == {"other_io_bytes": "the disk below: there is no block device"}


def test_writes_that_wait_in_the_page_cache_are_not_negative(tmp_path: Path) -> None:
    ours, below = block_device(tmp_path / "loop0", STAT), block_device(tmp_path / "vda", STAT)
    probe = others.Reader(Place(ours, below))
    probe.enter()
    ours.write_text(STAT.replace("131750", "231750"))
    assert values(probe.exit()) == {"other_io_bytes": 0}


def pressure_files(folder: Path, *totals_us: int) -> None:
    folder.mkdir(exist_ok=True)
    for name, total in zip(("cpu", "io", "memory"), totals_us, strict=True):
        (folder / name).write_text(
            f"some avg10=0.04 avg60=1.78 avg300=1.56 total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
        )


def test_pressure_is_the_growth_of_the_some_totals(tmp_path: Path) -> None:
    pressure_files(tmp_path / "p", 1_000_000, 2_000_000, 3_000_000)
    probe = pressure.Reader(Place(), tmp_path / "p")
    probe.enter()
    pressure_files(tmp_path / "p", 1_500_000, 2_000_001, 3_000_000)
    assert values(probe.exit()) == {
        "pressure_cpu_s": 0.5,
        "pressure_io_s": pytest.approx(1e-6),
        "pressure_memory_s": 0.0,
    }


def test_pressure_that_is_not_there_is_missing_with_the_reason(tmp_path: Path) -> None:
    pressure_files(tmp_path / "p", 1, 2, 3)
    (tmp_path / "p/io").unlink()
    probe = pressure.Reader(Place(), tmp_path / "p")
    probe.enter()
    seen = values(probe.exit())
    assert seen["pressure_io_s"] == "this kernel has no pressure files (CONFIG_PSI)"
    assert seen["pressure_cpu_s"] == 0.0


def test_pressure_switched_off_says_how_to_switch_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: Path) -> str:
        raise OSError(95, "Operation not supported")

    probe = pressure.Reader(Place())
    monkeypatch.setattr(Path, "read_text", refuse)
    probe.enter()
    assert set(values(probe.exit()).values()) == {"pressure accounting is switched off (boot with psi=1)"}


def kernel_log(tmp_path: Path, records: list[str]) -> tuple[str, ...]:
    """Each record comes by a read of its own, as from the real one: a file of one record at a time."""
    file = tmp_path / "kmsg"
    file.write_text("3,0,1,-;from before\n")
    seen: tuple[str, ...] = ()
    with KernelLog(file) as log:
        for record in records:
            with file.open("a") as end:
                end.write(f"{record}\n")
            seen = log.lines()
    return seen


def test_warnings_and_worse_of_the_kernel_are_kept(tmp_path: Path) -> None:
    assert kernel_log(
        tmp_path,
        [
            "6,445,2549468358,-;EXT4-fs (loop0): mounted filesystem r/w",
            "4,446,2549468359,-;EXT4-fs warning: maximal mount count reached\n SUBSYSTEM=block\n DEVICE=b7:0",
            "3,447,2549468360,-,caller=T12;I/O error, dev loop0, sector 0",
            "11,448,2549468361,-;a program wrote this (facility 1)",
            "nonsense",
        ],
    ) == ("EXT4-fs warning: maximal mount count reached", "I/O error, dev loop0, sector 0")


def test_a_flood_is_cut_and_counted(tmp_path: Path) -> None:
    seen = kernel_log(tmp_path, [f"4,{number},1,-;line {number}" for number in range(70)])
    assert (len(seen), seen[0], seen[-1]) == (51, "line 0", "and 20 more")


def test_without_the_right_to_read_the_log_there_is_a_reason(tmp_path: Path) -> None:
    with KernelLog(tmp_path / "absent") as log:
        assert log.lines() == ()
        assert "No such file" in log.missing
        assert [note.kind for note in log.notes()] == [NoteKind.FACT]


def test_the_context_is_the_load_that_others_see_too() -> None:
    (load,) = context()
    assert load == Sample("load_1m", pytest.approx(float(Path("/proc/loadavg").read_text().split()[0]), abs=0.5))


def test_governors_are_named_once_each(tmp_path: Path) -> None:
    for number, name in enumerate(("powersave", "performance", "powersave")):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{number}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{name}\n")
    assert governor(tmp_path) == "performance, powersave"
    assert governor(tmp_path / "nothing") == ""
