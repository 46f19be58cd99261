"""What controller and worker say to each other: one JSON object a line, over a descriptor of its own.

Controller to worker: Start, then RunTrial as often as it likes; closing the pipe ends the worker at once.
Worker to controller: Ready or Broken after Start; for each trial Progress as it goes, then Done.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from fstrial.model.plan import Plan
from fstrial.model.trial import Note, Trial, TrialResult

__all__ = [
    "Broken",
    "Done",
    "Progress",
    "Ready",
    "Reply",
    "Request",
    "RunTrial",
    "Start",
    "decode_reply",
    "decode_request",
    "encode",
]


class Start(Struct, frozen=True, tag="start"):
    """`sizes` are the device sizes in bytes, one a target of the plan; `erase` the identities given with --erase;
    `memory_group` a folder of the memory cgroup to join once sources are staged; `mount_root` an existing folder to
    cover with private mounts."""

    plan: Plan
    sizes: tuple[int, ...]
    erase: tuple[str, ...]
    mount_root: str
    memory_group: str = ""


class RunTrial(Struct, frozen=True, tag="trial"):
    trial: Trial


class Ready(Struct, frozen=True, tag="ready"):
    """Sources are staged and targets claimed; `pid` as the host's /proc has it."""

    pid: int
    notes: tuple[Note, ...] = ()


class Progress(Struct, frozen=True, tag="progress"):
    number: int
    phase: str


class Done(Struct, frozen=True, tag="done"):
    number: int
    result: TrialResult


class Broken(Struct, frozen=True, tag="broken"):
    """An error of the tree in base/errors.py, by class name, met while starting."""

    error: str
    message: str
    hint: str = ""


Request = Start | RunTrial
Reply = Ready | Progress | Done | Broken

_requests = msgspec.json.Decoder(Request)
_replies = msgspec.json.Decoder(Reply)
_encoder = msgspec.json.Encoder()


def encode(message: Request | Reply) -> bytes:
    """One line. A file name in a reason may have bytes that are no UTF-8: they are written as `\\xff`."""
    try:
        return _encoder.encode(message) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(_printable(msgspec.to_builtins(message))) + b"\n"


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {key: _printable(one) for key, one in value.items()}
    return [_printable(one) for one in value] if isinstance(value, list | tuple) else value


def decode_request(line: bytes) -> Request:
    return _requests.decode(line)


def decode_reply(line: bytes) -> Reply:
    return _replies.decode(line)
