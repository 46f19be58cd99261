"""The one door to external programs: argv lists only, a deadline always, logged so they can be pasted."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import MachineError, MissingRequirement
from fstrial.base.log import log

__all__ = ["Completed", "environment", "find", "paste", "run", "started"]

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_KEPT_OUTPUT_BYTES = 64 * 1024


@dataclass(frozen=True)
class Completed:
    """A program that ran to its end. `user_s` and `sys_s` include the children it waited for (wait4(2)).

    `exit_status` is negative when a signal ended it (minus the signal's number). `stdout` and `stderr` hold the
    last 64 KiB of each.
    """

    argv: tuple[str, ...]
    exit_status: int
    elapsed_s: float
    user_s: float
    sys_s: float
    stdout: str
    stderr: str
    timed_out: bool = False

    @property
    def failed(self) -> bool:
        return self.exit_status != 0

    def complaint(self) -> str:
        """The program's own last words, or how it ended."""
        words = self.stderr.strip() or self.stdout.strip()
        ending = "passed its deadline and was killed" if self.timed_out else f"exit status {self.exit_status}"
        return f"{words} ({ending})" if words else ending


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What programs see: built, not inherited, so that a locale or an alias changes no figure and no parser."""
    built = {"PATH": _SYSTEM_PATH, "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": os.environ.get("HOME", "/")}
    built.update(extra or {})
    return built


def paste(argv: Sequence[str]) -> str:
    """The command as a person would type it."""
    return shlex.join(argv)


def find(program: str) -> str | None:
    """The program's path, sbin folders included, or None."""
    return shutil.which(program, path=_SYSTEM_PATH)


def run(
    argv: Sequence[str],
    *,
    deadline_s: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    discard: bool = False,
) -> Completed:
    """Run a program to its end and say what it cost.

    A program past `deadline_s` is killed and returned with `timed_out`. With `discard` its standard output is
    /dev/null and `stdout` is empty. Raises MissingRequirement when it is not installed, MachineError when it cannot
    be started.
    """
    path = find(argv[0])
    if path is None:
        raise MissingRequirement(f"the program {argv[0]} is not installed", "`fstrial doctor` names its package")
    with _memory() as out, _memory() as err:
        begin = time.monotonic()
        try:
            child = subprocess.Popen(
                [path, *argv[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if discard else out,
                stderr=err,
                cwd=cwd,
                env=environment(env),
                process_group=0,
            )
        except OSError as error:
            raise MachineError(f"cannot start {paste(argv)}: {error.strerror}") from error
        timed_out = _wait_or_kill(child, deadline_s)
        _, wait_status, usage = os.wait4(child.pid, 0)
        elapsed_s = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(wait_status)
        done = Completed(
            argv=tuple(argv),
            exit_status=child.returncode,
            elapsed_s=elapsed_s,
            user_s=usage.ru_utime,
            sys_s=usage.ru_stime,
            stdout=_tail(out),
            stderr=_tail(err),
            timed_out=timed_out,
        )
    log.debug("%s  # exit %d, %.3f s", paste(argv), done.exit_status, done.elapsed_s)
    return done


@contextmanager
def started(
    argv: Sequence[str],
    *,
    pass_fds: Sequence[int] = (),
    env: Mapping[str, str] | None = None,
    stderr: int | None = None,
    new_session: bool = False,
    grace_s: float = 5.0,
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that lives as long as the block: asked to end, then killed, always waited for."""
    log.debug("%s &", paste(argv))
    child = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        pass_fds=tuple(pass_fds),
        env=environment(env),
        start_new_session=new_session,
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(grace_s)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _wait_or_kill(child: subprocess.Popen[bytes], deadline_s: float) -> bool:
    """Wait until the child can be reaped; kill its process group when the deadline passes, and say so.

    pidfd_open(2) and poll(2), because `Popen.wait(timeout)` sleeps between looks and blurs a time by up to 50 ms.
    """
    descriptor = os.pidfd_open(child.pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        if poller.poll(deadline_s * 1000):
            return False
        os.killpg(child.pid, signal.SIGKILL)
        return True
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise
    finally:
        os.close(descriptor)


@contextmanager
def _memory() -> Iterator[int]:
    """A file that no disk sees: what a program prints must not write to the disk that is on trial."""
    descriptor = os.memfd_create("output")
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _tail(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    kept = os.pread(descriptor, _KEPT_OUTPUT_BYTES, max(0, size - _KEPT_OUTPUT_BYTES))
    return kept.decode("utf-8", "replace")
