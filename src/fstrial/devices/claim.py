"""The guard: nothing else turns a name into something writable, and it fails closed.

A block device is given up only when every check of `_reasons.CHECKS` passes, and only by the identity that its owner
types. What cannot be examined counts as in use. From the claim to the end a flock(2) is held on it; just before
each mkfs and each mount the device is proven again: the same number, sequence, serial, size and filesystem, and
nobody else's (O_EXCL). Folders get a private folder inside, and only that is ever removed.

docs/safety.md tells users what is refused and why.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from fstrial.base import kernel, proc
from fstrial.base.errors import MachineError, MissingRequirement, Refused, UsageError
from fstrial.devices import _blkid
from fstrial.devices._block import Block, block_of, number_text
from fstrial.devices._consent import identities, portrait
from fstrial.devices._folder import PrivateFolder
from fstrial.devices._loop import Loop, backing_of
from fstrial.devices._names import typed
from fstrial.devices._reasons import CHECKS, Reason, Suspect, suspect_of

__all__ = [
    "ClaimedDevice",
    "OwnLoop",
    "claim_device",
    "claim_folder",
    "claim_loop",
    "inspect_device",
    "superblock_uuid",
]

_BUSY_DEADLINE_S = 5.0
_WIPE_DEADLINE_S = 60.0
_POLL_S = 0.01
_ONLY_EXAMINED = "only a device that can be is ever written to"


def superblock_uuid(path: Path) -> str:
    """The identity of the filesystem on a device, or an empty text where there is none.

    Raises Refused when libblkid cannot say for sure what is there.
    """
    try:
        return _blkid.superblock_uuid(path)
    except OSError as error:
        raise Refused(
            f"{typed(path)}: what is on it cannot be told: {error.strerror}",
            f"wipefs {typed(path)}  shows every signature",
        ) from error


@dataclass(frozen=True)
class Identity:
    """What must still be true of a device when it is written to."""

    number: str
    sequence: str
    serial: str
    start: str
    size_bytes: int

    @classmethod
    def of(cls, block: Block) -> Identity:
        return cls(block.number, block.sequence, block.serial, block.start, block.size_bytes)

    def beside(self, other: Identity) -> str:
        """Where the two differ, in words."""
        pairs = (
            (one.name.replace("_", " "), getattr(self, one.name), getattr(other, one.name)) for one in fields(self)
        )
        return ", ".join(f"{name} {now or 'none'}, not {then or 'none'}" for name, now, then in pairs if now != then)


class _Claimed:
    """A block device held by flock(2) on an open descriptor of it."""

    def __init__(self, path: Path, descriptor: int, uuid: str) -> None:
        self._path = path
        self._shown = typed(path)
        self._descriptor = descriptor
        self._identity = Identity.of(self.block)
        self._uuid = uuid

    @property
    def path(self) -> Path:
        return self._path

    @property
    def block(self) -> Block:
        return _held(self._descriptor)

    def adopt_uuid(self, uuid: str) -> None:
        """From now on the filesystem on it must be this one."""
        self._uuid = uuid

    def prove(self) -> None:
        """Raises Refused when it is not the same any more, or somebody else's by now."""
        self._prove_same()
        if self._uuid != (now := superblock_uuid(self._path)):
            raise Refused(
                f"{self._shown} holds another filesystem than the one that was there: "
                f"UUID {now or 'none'}, not {self._uuid or 'none'}",
                "did another program write to it?",
            )
        os.close(_exclusively(self._path, os.O_RDONLY))

    def _prove_same(self) -> None:
        try:
            changed = Identity.of(self.block).beside(self._identity)
            if self._path.stat().st_rdev != os.fstat(self._descriptor).st_rdev:
                changed = "another device number"
        except OSError as error:
            raise Refused(f"{self._shown} could not be examined again: {error}", "was it unplugged?") from error
        if changed:
            raise Refused(
                f"{self._shown} is not the device that was claimed: {changed}",
                "was it exchanged? look, and start again",
            )


class ClaimedDevice(_Claimed):
    """A real block device that its owner gave up; made by `claim_device` alone."""

    def empty(self) -> str:
        """Make it ready for a fresh filesystem: discard all of it, and wipe what signatures that leaves.

        Without the second a later mkfs may leave an earlier filesystem's superblock beside its own. Returns why the
        device was not discarded; empty when it was. Raises Refused or MachineError.
        """
        self.prove()
        refused = self._discard()
        wiped = proc.run(("wipefs", "--all", "--quiet", str(self._path)), deadline_s=_WIPE_DEADLINE_S)
        if wiped.failed:
            raise MachineError(f"{self._shown}: old signatures could not be wiped: {wiped.complaint()}")
        self._uuid = superblock_uuid(self._path)
        return refused

    def _discard(self) -> str:
        descriptor = _exclusively(self._path, os.O_WRONLY)
        try:
            if os.fstat(descriptor).st_rdev != os.fstat(self._descriptor).st_rdev:
                raise Refused(f"{self._shown} is another device by now", "was it exchanged? look, and start again")
            return "" if kernel.discard_all(descriptor) else "it cannot discard"
        except OSError as error:
            return f"its discard failed: {error.strerror}"
        finally:
            os.close(descriptor)


class OwnLoop(_Claimed):
    """A loop device over an image of our own; made by `claim_loop` alone."""

    def __init__(self, loop: Loop, image: int) -> None:
        super().__init__(loop.path, loop.descriptor, "")
        self._image = image

    def _prove_same(self) -> None:
        """And it still stands on our own image, by device and inode."""
        super()._prove_same()
        image, backing = os.fstat(self._image), backing_of(self.path)
        if backing is None or (backing.device, backing.inode) != (image.st_dev, image.st_ino):
            raise Refused(f"{self._shown} does not stand on our image any more", "did something else detach it?")


def claim_loop(loop: Loop, image: int) -> OwnLoop:
    """Our own loop device over our own open image. Raises Refused."""
    _lock(loop.path, loop.descriptor)
    own = OwnLoop(loop, image)
    own._prove_same()
    return own


def inspect_device(word: str, erase: tuple[str, ...]) -> Suspect:
    """Look whether a named device may be given up; writes nothing.

    Raises UsageError when there is no such device, MissingRequirement without root, Refused with every reason.
    """
    suspect = _suspect(word)
    _judge(word, suspect, erase)
    return suspect


@contextmanager
def claim_device(word: str, erase: tuple[str, ...]) -> Iterator[ClaimedDevice]:
    """The device, held by flock(2) as long as the block lasts, and examined under it.

    Raises what `inspect_device` raises.
    """
    path = _suspect(word).path
    with _examining(word):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _lock(path, descriptor)
        with _examining(word):
            suspect = Suspect(path, _held(descriptor))
        _judge(word, suspect, erase)
        claimed = ClaimedDevice(path, descriptor, superblock_uuid(path))
        claimed.prove()
        yield claimed
    finally:
        os.close(descriptor)


@contextmanager
def claim_folder(path: Path) -> Iterator[PrivateFolder]:
    """A fresh private folder inside an existing one, removed when the block ends. Raises Refused or UsageError."""
    with PrivateFolder.inside(path) as folder:
        yield folder


def _held(descriptor: int) -> Block:
    return block_of(number_text(os.fstat(descriptor).st_rdev))


def _suspect(word: str) -> Suspect:
    with _examining(word):
        try:
            # unlike Path.resolve it tells a circle of links by OSError (Python 3.11)
            suspect = suspect_of(Path(os.path.realpath(word, strict=True)))
        except FileNotFoundError as error:
            raise UsageError(f"{typed(word)}: no such device", "`lsblk` shows what there is") from error
        except OSError as error:
            if error.errno != errno.ENOTBLK:
                raise
            raise _no_block_device(word) from error
    if os.geteuid() != 0:
        raise MissingRequirement(
            f"{typed(word)}: a device can only be examined and written as root",
            f"sudo fstrial …   or without root:  fstrial run --on {typed(f'dir:{Path.home()}')}",
        )
    return suspect


@contextmanager
def _examining(word: str) -> Iterator[None]:
    """What cannot be looked at is refused."""
    try:
        yield
    except (OSError, ValueError, LookupError) as error:
        raise Refused(f"{typed(word)} could not be examined: {error}", _ONLY_EXAMINED) from error


def _no_block_device(word: str) -> UsageError:
    if Path(word).is_dir():
        return UsageError(
            f"{typed(word)} is a folder, not a block device",
            f"to work in it, on the filesystem mounted there:  --on {typed(f'dir:{word}')}",
        )
    return UsageError(f"{typed(word)} is not a block device", "`lsblk` shows what there is")


def _judge(word: str, suspect: Suspect, erase: tuple[str, ...]) -> None:
    """Raises Refused with every reason; when there is none, and consent is missing, with the word to give it by."""
    named = typed(word) if str(suspect.path) == word else f"{typed(word)} ({suspect.shown})"
    reasons = tuple(_reasons(suspect))
    if reasons:
        told = "; ".join(f"{reason.why} ({reason.evidence})" for reason in reasons)
        raise Refused(f"{named}: {told}", "\n".join(dict.fromkeys(reason.remedy for reason in reasons)))
    with _examining(word):
        known = identities(suspect)
    if not {" ".join(one.split()) for one in erase} & set(known):
        given = f"--erase {' '.join(map(typed, erase))} is not this device's" if erase else "its content would be lost"
        raise Refused(
            f"{named}: {given}. It is {portrait(suspect)}",
            f"if that may be erased, say so:  --erase {typed(known[0])}",
        )


def _reasons(suspect: Suspect) -> Iterator[Reason]:
    """What every check says; one that cannot look is a reason of its own."""
    for check in CHECKS:
        try:
            yield from check(suspect)
        except (OSError, ValueError, LookupError) as error:
            what = check.__name__.replace("_", " ")
            yield Reason("it could not be examined", f"{what}: {error}", _ONLY_EXAMINED)


def _lock(path: Path, descriptor: int) -> None:
    """flock(2), waiting a moment for udev, which holds a shared one while it looks (systemd, BLOCK_DEVICE_LOCKING)."""
    limit = time.monotonic() + _BUSY_DEADLINE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno != errno.EAGAIN or time.monotonic() > limit:
                raise Refused(
                    f"{typed(path)} is locked by another program ({error.strerror})",
                    "another fstrial?  see  lslocks",
                ) from error
            time.sleep(_POLL_S)


def _exclusively(path: Path, mode: int) -> int:
    """Descriptor of a device that nobody else has: O_EXCL fails while it is mounted, swap, held or claimed.

    For mkfs and mount it must be closed again, since they claim it themselves; udev and a FUSE daemon on its way
    out get a moment.
    """
    limit = time.monotonic() + _BUSY_DEADLINE_S
    while True:
        try:
            return os.open(path, mode | os.O_EXCL | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > limit:
                shown = typed(path)
                raise Refused(f"{shown} is in use: {error.strerror}", f"see  lsof {shown}; findmnt {shown}") from error
            time.sleep(_POLL_S)
