"""A store under processes that die, read and write at once."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

from fakes.records import declaration, environment, make_plan, make_trial
from fstrial.model.record import RunState
from fstrial.store.store import Store

_KILLS = 50 if "FSTRIAL_PROVE" in os.environ else 4
_START = multiprocessing.get_context("spawn")


def _write(path: str, run_id: int, first: int, count: int, pipe: Connection) -> None:
    """Adds trials and tells of each one that `add` has returned for."""
    ready = [make_trial(seed=number, number=number) for number in range(first, first + count)]
    with Store.open(path) as store:
        pipe.send(0)
        for one in ready:
            store.add(run_id, one.trial, one.result)
            pipe.send(one.trial.number)


def _begin(path: Path) -> int:
    with Store.open(str(path)) as store:
        return store.begin(make_plan(), environment(), (declaration(),))


def _told(pipe: Connection) -> list[int]:
    numbers = []
    try:
        while pipe.poll(0):
            numbers.append(pipe.recv())
    except EOFError:
        pass
    return [number for number in numbers if number]


def test_every_trial_that_was_added_survives_kill_9(tmp_path: Path) -> None:
    """A writer is killed at a random moment, over and over; one trial may be there untold, none told may be gone."""
    path = tmp_path / "results.sqlite"
    run_id = _begin(path)
    dice = random.Random(20)
    done: list[int] = []
    for _ in range(_KILLS):
        mine, theirs = _START.Pipe(duplex=False)
        writer = _START.Process(target=_write, args=(str(path), run_id, len(done) + 1, 400, theirs))
        writer.start()
        theirs.close()
        assert mine.recv() == 0
        time.sleep(dice.uniform(0, 0.25))
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join(30)
        told = _told(mine)
        with Store.open(str(path)) as store:
            record = store.load(run_id)
        done = [one.trial.number for one in record.trials]
        assert done == list(range(1, len(done) + 1))
        assert len(done) - (told[-1] if told else len(done)) in (0, 1)
        assert record.trials == tuple(make_trial(seed=number, number=number) for number in done)
        assert record.state is RunState.RUNNING
    assert len(done) > 2 * _KILLS


def test_a_reader_sees_whole_trials_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    run_id = _begin(path)
    mine, theirs = _START.Pipe(duplex=False)
    writer = _START.Process(target=_write, args=(str(path), run_id, 1, 150, theirs))
    writer.start()
    theirs.close()
    assert mine.recv() == 0
    seen = [0]
    deadline = time.monotonic() + 60
    with Store.open(str(path)) as store:
        while seen[-1] < 150 and time.monotonic() < deadline:
            trials = store.load(run_id).trials
            assert [one.trial.number for one in trials] == list(range(1, len(trials) + 1))
            assert store.runs()[0].trials >= len(trials)
            seen.append(len(trials))
    writer.join(30)
    assert seen == sorted(seen)
    assert seen[-1] == 150
    assert len(set(seen)) > 2, "the reader never came between two trials"


def test_two_processes_may_make_the_same_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    makers = [_START.Process(target=_begin, args=(path,)) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(60)
    assert [maker.exitcode for maker in makers] == [0, 0, 0, 0]
    with Store.open(str(path)) as store:
        assert [run.id for run in store.runs()] == [1, 2, 3, 4]
