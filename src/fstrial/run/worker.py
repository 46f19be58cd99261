"""The worker: runs trials in one kernel and speaks JSON lines with the controller over descriptors of its own.

Started as `python -m fstrial.run.worker --requests FD --replies FD`. It moves into a PID and a mount namespace of
its own and forks: the child is process 1 there and does the work, the parent only waits for it and clears up what
no kernel clears (the memory cgroup). When process 1 ends, however it ends, the kernel kills every process of the
namespace and takes down its mounts; the loop devices are auto-clear and the images were never linked
(pid_namespaces(7), mount_namespaces(7)). So there is nothing left to clean up.

When the controller's pipe closes, the trial in progress is abandoned and the worker ends.
"""

from __future__ import annotations

import argparse
import os
import queue
import signal
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType

from fstrial.base import kernel
from fstrial.base.errors import FstrialError, MachineError
from fstrial.base.log import speak
from fstrial.devices.contract import Held, target_of
from fstrial.filesystems.contract import filesystems
from fstrial.model.plan import Plan, WorkloadChoice
from fstrial.model.trial import Note, NoteKind, Trial
from fstrial.model.wire import (
    Broken,
    Done,
    Progress,
    Ready,
    Reply,
    Request,
    RunTrial,
    Start,
    decode_request,
    encode,
)
from fstrial.run.trial import Venue, run_trial
from fstrial.workloads.contract import Stage, Workload, workloads

__all__ = ["main"]

_UNWIND_DEADLINE_S = 20.0


class _Ended(BaseException):
    """The controller is gone or has closed the channel."""


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--requests", type=int, required=True)
    arguments.add_argument("--replies", type=int, required=True)
    arguments.add_argument("--memory-group", type=Path)
    given = arguments.parse_args()
    speak()
    private = _enter_namespaces()
    child = os.fork()
    if child == 0:
        kernel.with_parent(signal.SIGKILL)
        _Worker(given.requests, given.replies, private).serve()
        os._exit(0)
    os.close(given.requests)
    os.close(given.replies)
    _, status = os.waitpid(child, 0)
    if given.memory_group is not None:
        _remove_group(given.memory_group)
    os._exit(0 if status == 0 else 1)


def _enter_namespaces() -> bool:
    """Whether this process has namespaces of its own: as root, or through a user namespace where that is allowed."""
    for user in (False, True):
        try:
            kernel.enter_namespaces(user=user)
        except OSError:
            continue
        return True
    return False


def _remove_group(folder: Path) -> None:
    """The kernel refuses while a dying process is still counted: try for a moment."""
    for _ in range(50):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)
        else:
            return


class _Worker:
    """One worker's life: start, trials, end."""

    def __init__(self, requests: int, replies: int, private: bool) -> None:
        self._requests = os.fdopen(requests, "rb")
        self._replies = os.fdopen(replies, "wb", buffering=0)
        self._private = private
        self._inbox: queue.Queue[Request] = queue.Queue()
        self._held: dict[str, Held] = {}
        self._workloads: dict[WorkloadChoice, Workload] = {}

    def serve(self) -> None:
        """Serve until the channel closes."""
        signal.signal(signal.SIGUSR1, self._end)
        threading.Thread(target=self._read, name="channel", daemon=True).start()
        with suppress(_Ended, BrokenPipeError), ExitStack() as stack:
            start = self._next()
            if not isinstance(start, Start):
                raise TypeError(f"the channel began with {type(start).__name__}")
            try:
                ready = self._start(start, stack)
            except FstrialError as error:
                self._say(Broken(type(error).__name__, error.message, error.hint))
                return
            except OSError as error:
                self._say(Broken(MachineError.__name__, f"the worker could not start: {error}"))
                return
            self._say(ready)
            while True:
                request = self._next()
                if isinstance(request, RunTrial):
                    self._trial(request.trial, Path(start.mount_root))

    def _read(self) -> None:
        """The channel's reader. Its end is the worker's end: the main thread unwinds, or the process just stops."""
        for line in self._requests:
            self._inbox.put(decode_request(line))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        time.sleep(_UNWIND_DEADLINE_S)
        os._exit(1)

    def _end(self, number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        raise _Ended

    def _next(self) -> Request:
        return self._inbox.get()

    def _say(self, reply: Reply) -> None:
        self._replies.write(encode(reply))

    def _start(self, start: Start, stack: ExitStack) -> Ready:
        """Claim every target and stage every source; only then come under the memory bound."""
        root = Path(start.mount_root)
        memory = self._cover(root)
        scratch = root / "scratch"
        scratch.mkdir(exist_ok=True)
        stage = Stage(memory, root.parent / "sources", _may_drop())
        notes: list[Note] = []
        for choice in start.plan.workloads:
            workload = workloads.load(choice.name)(choice.settings)
            notes.extend(Note(NoteKind.FACT, text) for text in workload.prepare(stage))
            self._workloads[choice] = workload
        for word, size in zip(start.plan.targets, start.sizes, strict=True):
            self._held[word] = stack.enter_context(target_of(word).hold(start.erase, size, scratch))
        if start.memory_group:
            Path(start.memory_group, "cgroup.procs").write_text("0")
            notes.append(_bound(start.plan))
        self._may_drop = stage.may_drop
        return Ready(int(Path("/proc/self").readlink().name), tuple(notes))

    def _cover(self, root: Path) -> Path | None:
        """A private tmpfs over the mount root, or None where this process may not mount."""
        if not self._private:
            return None
        kernel.own_mounts_only()
        kernel.mount("fstrial", root, "tmpfs", ("mode=755", "size=75%"))
        memory = root / "source"
        memory.mkdir()
        (root / "fs").mkdir()
        return memory

    def _trial(self, trial: Trial, root: Path) -> None:
        held = self._held[trial.candidate.target]
        choice = trial.candidate.filesystem
        kind = filesystems.load(choice.type)() if choice.type in filesystems.names() else None
        venue = Venue(held, kind, root / "fs", "native", self._may_drop)
        result = run_trial(
            trial,
            self._workloads[trial.workload],
            venue,
            lambda phase: self._say(Progress(trial.number, phase)),
        )
        _reap()
        self._say(Done(trial.number, result))


def _reap() -> None:
    """Process 1 inherits orphans (a FUSE daemon that has ended): collect them."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _may_drop() -> bool:
    """Only root of the machine may drop caches, not root of a user namespace."""
    return os.access("/proc/sys/vm/drop_caches", os.W_OK)


def _bound(plan: Plan) -> Note:
    return Note(NoteKind.FACT, f"page cache and memory bounded by a memory cgroup at {plan.memory_bytes} bytes")


if __name__ == "__main__":
    main()
    sys.exit(0)
