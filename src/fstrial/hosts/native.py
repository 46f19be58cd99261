"""This kernel: the worker is a child process in namespaces of its own (run/worker.py)."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from fstrial.base import errors, proc
from fstrial.base.errors import FstrialError, MachineError
from fstrial.hosts._memory import memory_group
from fstrial.hosts.contract import Host, Worker, WorkerLost
from fstrial.model.trial import Note, Trial, TrialResult
from fstrial.model.wire import Broken, Done, Progress, Ready, Reply, RunTrial, Start, decode_reply, encode

__all__ = ["Channel", "Place"]

_START_DEADLINE_S = 600.0
"""Staging a large source tree from a slow disk takes minutes."""
_SILENCE_S = 120.0
"""Beyond a phase's own deadline: what unmount and detach may take."""


class Place(Host):
    """The native host."""

    name = "native"
    about = "this kernel; needs root for anything but dir: targets"

    @contextmanager
    def worker(self, start: Start) -> Iterator[Worker]:
        with ExitStack() as stack:
            group = ""
            if start.plan.memory_bytes is not None:
                group = str(stack.enter_context(memory_group(start.plan.memory_bytes)))
            channel = stack.enter_context(_started(group))
            channel.send(msgspec.structs.replace(start, memory_group=group))
            yield _Native(channel, channel.expect_ready(_START_DEADLINE_S).notes)


@dataclass
class Channel:
    """JSON lines with a worker: requests one way, replies the other, its standard error kept for the worst case."""

    requests: BinaryIO
    replies: BinaryIO
    errors: int
    child: subprocess.Popen[bytes]
    _buffer: bytes = field(default=b"", init=False)

    def send(self, message: Start | RunTrial) -> None:
        try:
            self.requests.write(encode(message))
        except OSError as error:
            raise WorkerLost(self._last_words()) from error

    def receive(self, deadline_s: float) -> Reply:
        """The next reply. Raises WorkerLost when the worker is gone or silent for that long."""
        limit = time.monotonic() + deadline_s
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.replies], [], [], max(0.0, limit - time.monotonic()))
            if not ready:
                raise WorkerLost(f"the worker said nothing for {deadline_s:.0f} s")
            received = os.read(self.replies.fileno(), 1 << 16)
            if not received:
                raise WorkerLost(self._last_words())
            self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\n")
        return decode_reply(line)

    def expect_ready(self, deadline_s: float) -> Ready:
        """What follows Start. Raises the error of ours that the worker met."""
        reply = self.receive(deadline_s)
        if isinstance(reply, Ready):
            return reply
        if isinstance(reply, Broken):
            kind = getattr(errors, reply.error, MachineError)
            raise (kind(reply.message, reply.hint) if issubclass(kind, FstrialError) else MachineError(reply.message))
        raise WorkerLost(f"the worker answered {type(reply).__name__} before it was ready")

    def _last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self.child.wait(5.0)
        size = os.fstat(self.errors).st_size
        words = os.pread(self.errors, 4096, max(0, size - 4096)).decode("utf-8", "replace").strip()
        status = self.child.returncode
        ending = "is still there but closed the channel" if status is None else f"ended with status {status}"
        return f"the worker {ending}" + (f": {words}" if words else "")


class _Native:
    """A live worker on this kernel."""

    def __init__(self, channel: Channel, notes: tuple[Note, ...]) -> None:
        self._channel = channel
        self._notes = notes

    @property
    def notes(self) -> tuple[Note, ...]:
        return self._notes

    def run(self, trial: Trial, progress: Callable[[Progress], None]) -> TrialResult:
        self._channel.send(RunTrial(trial))
        while True:
            reply = self._channel.receive(trial.deadline_s + _SILENCE_S)
            if isinstance(reply, Progress):
                progress(reply)
            elif isinstance(reply, Done) and reply.number == trial.number:
                return reply.result
            else:
                raise WorkerLost(f"the worker answered {reply!r} to trial {trial.number}")


@contextmanager
def _started(group: str) -> Iterator[Channel]:
    """The worker's process with its two pipes. A session of its own: Ctrl-C in a terminal is the controller's."""
    requests_read, requests_write = os.pipe()
    replies_read, replies_write = os.pipe()
    words = os.memfd_create("worker-stderr")
    argv = [sys.executable, "-P", "-m", "fstrial.run.worker"]
    argv += ["--requests", str(requests_read), "--replies", str(replies_write)]
    argv += ["--memory-group", group] if group else []
    keep = {name: value for name, value in os.environ.items() if name in ("FSTRIAL_LOG", "XDG_CACHE_HOME")}
    with (
        os.fdopen(requests_write, "wb", buffering=0) as requests,
        os.fdopen(replies_read, "rb", buffering=0) as replies,
        proc.started(
            argv,
            pass_fds=(requests_read, replies_write),
            env=keep,
            stderr=words,
            new_session=True,
            grace_s=30.0,
        ) as child,
    ):
        os.close(requests_read)
        os.close(replies_write)
        try:
            yield Channel(requests, replies, words, child)
        finally:
            requests.close()
            with suppress(subprocess.TimeoutExpired):
                child.wait(30.0)
            os.close(words)
