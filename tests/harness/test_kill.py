"""Killed at any moment, fstrial leaves no mount, loop device, image or process, and loses no finished trial."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fstrial.store.store import Store
from harness.leftovers import Haunt
from harness.victim import workers_of

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("need_root")]

VICTIM = Path(__file__).with_name("victim.py")
STEPS = (
    "mkfs",
    "mount",
    "copy_in",
    "disk_usage",
    "copy_within",
    "tar_gz",
    "untar_gz",
    "delete_all",
    "unmount",
)
IN_FULL = "FSTRIAL_PROVE" in os.environ
MOMENTS = 50 if IN_FULL else 6
FSTRIAL = str(Path(sys.executable).with_name("fstrial"))
COMMAND = (
    "run", "ext4", "btrfs", "-w", "tree", "--on", "loop:256M", "--set", "tree.scale=0.01",
    "--set", "tree.source=generated", "--runs", "2",
)  # fmt: skip


@pytest.fixture
def haunt(tmp_path: Path) -> Haunt:
    (tmp_path / "cache").mkdir()
    return Haunt(tmp_path / "cache")


def _stored(path: Path) -> dict[int, str]:
    with Store.open(str(path)) as store:
        record = store.load(store.resolve("last"))
    return {kept.trial.number: kept.result.outcome.value for kept in record.trials}


def _finish(path: Path, haunt: Haunt) -> dict[int, str]:
    """Resume to the end; what is stored then."""
    done = subprocess.run(
        [FSTRIAL, "run", "--resume", "last", "--store", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        env=haunt.environment,
    )
    assert done.returncode in (0, 1), done.stderr
    return _stored(path)


@pytest.mark.parametrize("who", ["controller", "worker"])
@pytest.mark.parametrize("step", STEPS if IN_FULL else STEPS[::3])
def test_a_kill_when_a_step_begins_leaves_nothing_and_loses_nothing(
    tmp_path: Path, haunt: Haunt, who: str, step: str
) -> None:
    results = tmp_path / "results.sqlite"
    done = subprocess.run(
        [sys.executable, str(VICTIM), str(results), who, step],
        capture_output=True,
        text=True,
        timeout=120,
        env=haunt.environment,
    )
    assert haunt.left_after() == []
    said = dict(line.split() for line in done.stdout.splitlines())
    stored = {str(number): outcome for number, outcome in _stored(results).items()}
    assert stored == said
    if who == "controller":
        assert done.returncode == -signal.SIGKILL
        assert len(_finish(results, haunt)) == 6
    else:
        assert list(said.values()).count("lost") == 1
        assert len(said) == 6


def _moments() -> list[tuple[str, float]]:
    """Moments uniform over a run, as shares of its length, in turn for controller, worker and its supervisor."""
    draw = random.Random(20)
    whom = ("controller", "worker", "supervisor")
    return [(whom[index % 3], (index + draw.random()) / MOMENTS) for index in range(MOMENTS)]


@pytest.fixture(scope="module")
def run_length_s(tmp_path_factory: pytest.TempPathFactory) -> float:
    begin = time.monotonic()
    store = tmp_path_factory.mktemp("length") / "results.sqlite"
    subprocess.run([FSTRIAL, *COMMAND, "--store", str(store)], check=True, capture_output=True, timeout=120)
    return time.monotonic() - begin


@pytest.mark.parametrize(("who", "share"), _moments())
def test_a_kill_at_any_moment_leaves_nothing_and_loses_nothing(
    tmp_path: Path, haunt: Haunt, who: str, share: float, run_length_s: float
) -> None:
    results = tmp_path / "results.sqlite"
    running = subprocess.Popen(
        [FSTRIAL, *COMMAND, "--store", str(results)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=haunt.environment,
    )
    time.sleep(share * run_length_s)
    victim = _find(running.pid, who)
    if victim is not None:
        os.kill(victim, signal.SIGKILL)
    _, words = running.communicate(timeout=120)
    assert haunt.left_after() == []
    assert "Traceback" not in words
    if who != "controller":
        assert running.returncode in (0, 1, 5), words
    if running.returncode == -signal.SIGKILL and results.exists() and _has_run(results):
        kept = _stored(results)
        finished = _finish(results, haunt)
        assert kept.items() <= finished.items()
        assert len(finished) == 6


def _has_run(path: Path) -> bool:
    """Whether the kill came late enough for the run to have been begun."""
    with Store.open(str(path)) as store:
        return bool(store.runs())


def _find(controller: int, who: str) -> int | None:
    """The process to kill, or None when the run is over or has not come that far."""
    if who == "controller":
        return controller if Path("/proc", str(controller)).exists() else None
    supervisors = workers_of(controller)
    if who == "supervisor" or not supervisors:
        return supervisors[0] if supervisors else None
    workers = workers_of(supervisors[0])
    return workers[0] if workers else None


def test_ctrl_c_ends_cleanly_and_says_what_is_kept(tmp_path: Path, haunt: Haunt) -> None:
    results = tmp_path / "results.sqlite"
    running = subprocess.Popen(
        [FSTRIAL, *COMMAND, "--store", str(results)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=haunt.environment,
    )
    assert running.stdout is not None
    running.stdout.readline()  # the first trial has ended
    assert list(haunt.processes()), "what lives is seen, or nothing that is left would be"
    assert list(haunt.mounts())
    running.send_signal(signal.SIGINT)
    _, words = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "kept as run 1" in words
    assert "--resume 1" in words
    assert "Traceback" not in words
    assert haunt.left_after() == []
    assert len(_finish(results, haunt)) == 6
