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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fstrial.base import kernel, proc
from fstrial.base.errors import MissingRequirement, Refused, UsageError
from fstrial.base.units import format_size
from fstrial.devices._blkid import superblock_uuid
from fstrial.devices._block import Block, block_of
from fstrial.devices._folder import PrivateFolder
from fstrial.devices._loop import Loop, backing_of
from fstrial.devices._reasons import CHECKS, Reason, Suspect, signatures, suspect_of

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


@dataclass(frozen=True)
class Identity:
    """What must still be true of a device when it is written to."""

    number: str
    sequence: str
    serial: str
    size_bytes: int

    @classmethod
    def of(cls, block: Block) -> Identity:
        return cls(block.number, block.sequence, block.serial, block.size_bytes)


class ClaimedDevice:
    """A real block device that its owner gave up; made by `claim_device` alone."""

    def __init__(self, path: Path, descriptor: int, identity: Identity, uuid: str) -> None:
        self._path = path
        self._descriptor = descriptor
        self._identity = identity
        self._uuid = uuid

    @property
    def path(self) -> Path:
        return self._path

    def prove(self) -> None:
        """Raises Refused when it is not the same any more, or somebody else's by now."""
        _prove_same(self._path, self._identity, self._descriptor)
        _prove_uuid(self._path, self._uuid)
        _prove_free(self._path)

    def adopt_uuid(self, uuid: str) -> None:
        self._uuid = uuid

    def discard(self) -> bool:
        """Discard all of it, if it can; what it then identifies itself by is taken over."""
        self.prove()
        with suppress(OSError):
            writing = os.open(self._path, os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC)
            try:
                return kernel.discard_all(writing)
            finally:
                os.close(writing)
                self._uuid = superblock_uuid(self._path)
        return False


class OwnLoop:
    """A loop device over an image of our own; made by `claim_loop` alone."""

    def __init__(self, loop: Loop, image: int) -> None:
        self._loop = loop
        self._image = image
        self._uuid = ""
        self._identity = Identity.of(block_of(os.fstat(loop.descriptor).st_rdev))

    @property
    def path(self) -> Path:
        return self._loop.path

    def prove(self) -> None:
        """Raises Refused unless it still stands on our own image, by device and inode."""
        _prove_same(self.path, self._identity, self._loop.descriptor)
        image, backing = os.fstat(self._image), backing_of(self.path)
        if backing is None or (backing.device, backing.inode) != (image.st_dev, image.st_ino):
            raise Refused(f"{self.path} does not stand on our image any more", "did something else detach it?")
        _prove_uuid(self.path, self._uuid)
        _prove_free(self.path)

    def adopt_uuid(self, uuid: str) -> None:
        self._uuid = uuid


def claim_loop(loop: Loop, image: int) -> OwnLoop:
    """Our own loop device over our own open image; what proves that it is ours is asked before each write."""
    return OwnLoop(loop, image)


def inspect_device(word: str, erase: tuple[str, ...]) -> Suspect:
    """Look whether a named device may be given up; writes nothing.

    Raises UsageError when there is no such device, MissingRequirement without root, Refused with every reason.
    """
    suspect = _suspect(word)
    if os.geteuid() != 0:
        raise MissingRequirement(
            f"{word}: a device can only be examined and written as root",
            f"sudo fstrial …   or without root:  fstrial run --on dir:{Path.home()}",
        )
    reasons = tuple(_reasons(suspect))
    if reasons:
        told = "; ".join(f"{reason.why} ({reason.evidence})" for reason in reasons)
        raise Refused(f"{_named(word, suspect)}: {told}", "\n".join(dict.fromkeys(reason.remedy for reason in reasons)))
    known = _identities(suspect)
    if not set(erase) & set(known):
        given = f"--erase {' '.join(erase)} is not this device's" if erase else "everything on it will be lost"
        raise Refused(
            f"{_named(word, suspect)}: {given}. It is {_portrait(suspect)}",
            f"if that may be erased, say so:  --erase {known[0]}",
        )
    return suspect


@contextmanager
def claim_device(word: str, erase: tuple[str, ...]) -> Iterator[ClaimedDevice]:
    """The device, held by flock(2) as long as the block lasts. Raises what `inspect_device` raises."""
    suspect = inspect_device(word, erase)
    descriptor = os.open(suspect.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Refused(
                f"{word} is locked by another program ({error.strerror})", "is another fstrial running on it?"
            ) from error
        claimed = ClaimedDevice(suspect.path, descriptor, Identity.of(suspect.block), superblock_uuid(suspect.path))
        claimed.prove()
        yield claimed
    finally:
        os.close(descriptor)


@contextmanager
def claim_folder(path: Path) -> Iterator[PrivateFolder]:
    """A fresh private folder inside an existing one, removed when the block ends. Raises Refused or UsageError."""
    with PrivateFolder.inside(path) as folder:
        yield folder


def _suspect(word: str) -> Suspect:
    try:
        return suspect_of(Path(word).resolve(strict=True))
    except FileNotFoundError as error:
        raise UsageError(f"{word}: no such device", "`lsblk` shows what there is") from error
    except OSError as error:
        if error.errno == errno.ENOTBLK:
            raise UsageError(
                f"{word} is not a block device", f"for a folder on a mounted filesystem:  --on dir:{word}"
            ) from error
        raise Refused(
            f"{word} could not be examined: {error}", "only a device that can be is ever written to"
        ) from error


def _reasons(suspect: Suspect) -> Iterator[Reason]:
    """What every check says; one that cannot look is a reason of its own."""
    for check in CHECKS:
        try:
            yield from check(suspect)
        except (OSError, ValueError, LookupError) as error:
            what = check.__name__.replace("_", " ")
            yield Reason("it could not be examined", f"{what}: {error}", "only a device that can be is ever written to")


def _named(word: str, suspect: Suspect) -> str:
    return word if str(suspect.path) == word else f"{word} ({suspect.path})"


def _identities(suspect: Suspect) -> tuple[str, ...]:
    """The words by which its owner can give it up: a partition's own, not those of its disk."""
    if suspect.block.is_partition:
        told = [_partition_uuid(suspect.path)]
    else:
        told = [suspect.block.serial, *_wwn(suspect.path)]
    told += [one.uuid for one in signatures(suspect.path)]
    told.append(
        f"diskseq:{suspect.block.sequence}" if suspect.block.sequence and not suspect.block.is_partition else ""
    )
    found = tuple(dict.fromkeys(word for word in told if word))
    if not found:
        raise Refused(
            f"{suspect.path} has no serial, UUID or sequence number to be named by", "give the partition a PARTUUID"
        )
    return found


def _partition_uuid(path: Path) -> str:
    done = proc.run(
        ("blkid", "--probe", "--match-tag", "PART_ENTRY_UUID", "--output", "value", str(path)), deadline_s=60.0
    )
    return done.stdout.strip()


def _wwn(path: Path) -> list[str]:
    """World-wide name, where udev knows one."""
    done = proc.run(("lsblk", "--nodeps", "--noheadings", "--raw", "--output", "WWN", str(path)), deadline_s=60.0)
    return done.stdout.split() if not done.failed else []


def _portrait(suspect: Suspect) -> str:
    """What a person recognises it by."""
    block = suspect.block
    on_it = ", ".join(map(str, signatures(suspect.path))) or "nothing that libblkid knows"
    parts = [format_size(block.size_bytes), block.model, block.serial and f"serial {block.serial}", f"on it: {on_it}"]
    return ", ".join(part for part in parts if part)


def _prove_same(path: Path, identity: Identity, descriptor: int) -> None:
    try:
        number = path.stat().st_rdev
        now = Identity.of(block_of(number))
    except OSError as error:
        raise Refused(f"{path} could not be examined again: {error}", "was it unplugged?") from error
    if now != identity or number != os.fstat(descriptor).st_rdev:
        raise Refused(
            f"{path} is not the device that was claimed: {now} now, {identity} then", "was it exchanged? start again"
        )


def _prove_uuid(path: Path, uuid: str) -> None:
    now = superblock_uuid(path)
    if now != uuid:
        raise Refused(
            f"{path} holds another filesystem than the one that was there: UUID {now or 'none'}, not {uuid or 'none'}",
            "did another program write to it?",
        )


def _prove_free(path: Path) -> None:
    """O_EXCL on a block device fails while it is mounted, swap, held or claimed. For mkfs and mount it is let go again,
    since they claim it themselves; udev and a FUSE daemon on its way out get a moment."""
    limit = time.monotonic() + _BUSY_DEADLINE_S
    while True:
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > limit:
                raise Refused(f"{path} is in use: {error.strerror}", "see  lsof, findmnt, dmsetup ls") from error
            time.sleep(0.01)
