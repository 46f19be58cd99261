"""Every error a person can meet, and the exit code of its kind.

    FstrialError
    ├── UsageError            2   the request cannot be understood or cannot hold
    ├── MissingRequirement    3   a privilege, program or kernel feature is not here
    ├── Refused               4   the guard will not write to this place
    ├── MachineError          5   the machine failed in the middle: disk full, lost worker, refused mount
    ├── DataError             6   a stored or given file is damaged, locked, or from a newer version
    └── TrialsFailed          1   the run is complete and stored, and trials of it failed

An exception outside this tree is a defect of fstrial (exit code 70); Ctrl-C is 130.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "DataError",
    "ExitCode",
    "FstrialError",
    "MachineError",
    "MissingRequirement",
    "Refused",
    "TrialsFailed",
    "UsageError",
]


class ExitCode(IntEnum):
    """What the process says to its caller."""

    FINE = 0
    TRIALS_FAILED = 1
    USAGE = 2
    MISSING_REQUIREMENT = 3
    REFUSED = 4
    MACHINE = 5
    DATA = 6
    DEFECT = 70  # EX_SOFTWARE of sysexits.h
    INTERRUPTED = 130  # 128 + SIGINT, as shells have it

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.FINE: "done; every trial passed",
    ExitCode.TRIALS_FAILED: "the run is complete and stored, but trials or the content check failed",
    ExitCode.USAGE: "the request cannot be understood: unknown name, bad option, key or plan",
    ExitCode.MISSING_REQUIREMENT: "a privilege, program or kernel feature is missing; the message says how to get it",
    ExitCode.REFUSED: "the guard refused to write to the named device or folder",
    ExitCode.MACHINE: "the machine failed in the middle: disk full, worker lost, mount refused",
    ExitCode.DATA: "a store, plan or result file is damaged, locked, missing or from a newer version",
    ExitCode.DEFECT: "a defect in fstrial itself; please report it with the traceback",
    ExitCode.INTERRUPTED: "interrupted; finished trials are stored and --resume goes on",
}


class FstrialError(Exception):
    """Says what happened and to what; `hint` says what to do next."""

    exit_code: ExitCode = ExitCode.DEFECT

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(FstrialError):
    exit_code = ExitCode.USAGE


class MissingRequirement(FstrialError):
    exit_code = ExitCode.MISSING_REQUIREMENT


class Refused(FstrialError):
    exit_code = ExitCode.REFUSED


class MachineError(FstrialError):
    exit_code = ExitCode.MACHINE


class DataError(FstrialError):
    exit_code = ExitCode.DATA


class TrialsFailed(FstrialError):
    exit_code = ExitCode.TRIALS_FAILED
