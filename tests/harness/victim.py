"""A controller that kills its worker or itself when a named step begins.

    python victim.py STORE (worker|controller) PHASE

Runs a small plan through the same session, host and store as `fstrial run`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from fstrial.base.place import mount_root
from fstrial.hosts.contract import hosts
from fstrial.model.analysis import Outlook
from fstrial.model.plan import FilesystemChoice, Plan, Setting, StoppingRule, WorkloadChoice
from fstrial.model.trial import Trial, TrialResult
from fstrial.model.wire import Start
from fstrial.run.machine import environment
from fstrial.run.preflight import preflight
from fstrial.run.session import run_session
from fstrial.store.store import Store

PLAN = Plan(
    filesystems=(FilesystemChoice("ext4", "ext4"), FilesystemChoice("btrfs", "btrfs")),
    workloads=(WorkloadChoice("tree", (Setting("scale", "0.01"), Setting("source", "generated"))),),
    targets=("loop:256M",),
    baseline="ext4",
    rule=StoppingRule(until=None, runs=2),
    label="victim",
)


def workers_of(pid: int) -> list[int]:
    """Host pids of the worker processes below that controller."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if b"fstrial.run.worker" in command and int(fields[1]) == pid:
            found.append(int(status.parent.name))
    return found


class Killer:
    """Events that kill when their phase begins, once, in the second trial that reaches it."""

    def __init__(self, who: str, phase: str) -> None:
        self._who, self._phase, self._seen = who, phase, 0

    def trial_begins(self, trial: Trial, blocks_expected: int) -> None:
        pass

    def phase_begins(self, trial: Trial, phase: str) -> None:
        self._seen += phase == self._phase
        if phase != self._phase or self._seen != 2:
            return
        if self._who == "controller":
            os.kill(os.getpid(), signal.SIGKILL)
        (supervisor,) = workers_of(os.getpid())
        (worker,) = workers_of(supervisor)
        os.kill(worker, signal.SIGKILL)

    def trial_ends(self, trial: Trial, result: TrialResult) -> None:
        print(f"{trial.number} {result.outcome.value}", flush=True)

    def block_ends(self, block: int, outlook: Outlook) -> None:
        pass


def main() -> None:
    path, who, phase = sys.argv[1:]
    ready = preflight(PLAN, ())
    with Store.open(path) as store:
        run_id = store.begin(PLAN, environment(()), ready.declarations)
        start = Start(PLAN, ready.sizes, (), str(mount_root()))
        run_session(run_id, start, hosts.load("native")(), store, Killer(who, phase))


if __name__ == "__main__":
    main()
