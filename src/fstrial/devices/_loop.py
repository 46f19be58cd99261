"""Loop devices over files that were never linked: attached by one LOOP_CONFIGURE, detached when closed (loop(4)).

include/uapi/linux/loop.h has the numbers and the structures.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import MachineError, MissingRequirement
from fstrial.base.units import format_size
from fstrial.devices._block import number_at
from fstrial.devices._names import typed

__all__ = ["Loop", "attached_loop", "backing_of", "unlinked_image"]

_INFO = struct.Struct("=QQQQQIIII64s64s32sQQ")
_CONFIG_HEAD = struct.Struct("=II")
_RESERVED = bytes(64)
_LOOP_GET_STATUS64 = 0x4C05
_LOOP_CONFIGURE = 0x4C0A
_LOOP_CTL_GET_FREE = 0x4C82
_TAKEN_BY_ANOTHER = (errno.EBUSY, errno.EAGAIN, errno.ENXIO)
_AUTOCLEAR = 4
_DIRECT_IO = 16
_CONTROL = Path("/dev/loop-control")
_DEADLINE_S = 10.0


@dataclass(frozen=True)
class Loop:
    """An attached loop device: its node, an open descriptor of it, and whether direct I/O was granted."""

    path: Path
    descriptor: int
    direct_io: bool


@contextmanager
def unlinked_image(folder: Path, size_bytes: int) -> Iterator[int]:
    """Descriptor of a sparse file that has no name, so that nothing of it outlives this process (O_TMPFILE).

    Raises MachineError when the folder does not take one.
    """
    try:
        descriptor = _nameless(folder)
        try:
            os.ftruncate(descriptor, size_bytes)
        except OSError:
            os.close(descriptor)
            raise
    except OSError as error:
        raise MachineError(
            f"cannot make an image of {format_size(size_bytes)} in {typed(folder)}: {error.strerror}",
            "give another folder:  --on loop:SIZE@FOLDER",
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _nameless(folder: Path) -> int:
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
    descriptor, name = tempfile.mkstemp(dir=folder, prefix="fstrial-")
    Path(name).unlink()
    return descriptor


@contextmanager
def attached_loop(image: int, scratch: Path, block_bytes: int = 0, sysfs: Path = Path("/sys")) -> Iterator[Loop]:
    """A loop device over the open file, detached and gone from sysfs when the block ends.

    It is auto-clear: should this process die, the kernel detaches it at the last close. `scratch` takes the node
    where /dev has none (containers). `block_bytes` is its logical block, 0 for the kernel's choice of 512: direct I/O
    needs one no smaller than that of the disk below. Raises MissingRequirement or MachineError.
    """
    number, path, descriptor = _configure(image, scratch, block_bytes, sysfs)
    folder = sysfs / f"block/loop{number}/loop"
    try:
        yield Loop(path, descriptor, _direct(folder))
    finally:
        os.close(descriptor)
        try:
            _wait_until_gone(folder, os.fstat(image), path)
        finally:
            if path.parent == scratch:
                path.unlink(missing_ok=True)


def _configure(image: int, scratch: Path, block_bytes: int, sysfs: Path) -> tuple[int, Path, int]:
    """Find a free device and take it in one step; another process may be quicker, then try the next."""
    limit = time.monotonic() + _DEADLINE_S
    info = _INFO.pack(0, 0, 0, 0, 0, 0, 0, 0, _AUTOCLEAR | _DIRECT_IO, b"", b"", b"", 0, 0)
    config = _CONFIG_HEAD.pack(image, block_bytes) + info + _RESERVED
    while True:
        number = _free_number()
        try:
            path = _node(number, scratch, sysfs)
            return number, path, _opened(path, config)
        except OSError as error:
            if error.errno not in _TAKEN_BY_ANOTHER or time.monotonic() > limit:
                raise MachineError(
                    f"cannot attach an image to /dev/loop{number}: {error.strerror}", "see  losetup --list"
                ) from error
            time.sleep(0.01)


def _opened(path: Path, config: bytes) -> int:
    """Descriptor of the device at that node, after it has been given its image. Raises OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, _LOOP_CONFIGURE, config)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _free_number() -> int:
    try:
        control = os.open(_CONTROL, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise MissingRequirement(
            f"no loop devices here: {_CONTROL}: {error.strerror}",
            "as root:  modprobe loop   (without root:  fstrial run --on dir:FOLDER)",
        ) from error
    try:
        return fcntl.ioctl(control, _LOOP_CTL_GET_FREE)
    except OSError as error:
        raise MachineError(f"no free loop device: {error.strerror}", "see  losetup --list") from error
    finally:
        os.close(control)


def _node(number: int, scratch: Path, sysfs: Path) -> Path:
    """The device's node in /dev, or one of our own from the number that sysfs tells. Raises OSError."""
    usual = Path(f"/dev/loop{number}")
    told = (sysfs / f"block/loop{number}/dev").read_text().strip()
    if number_at(str(usual)) == told:
        return usual
    own = scratch / f"loop{number}"
    own.unlink(missing_ok=True)
    os.mknod(own, 0o600 | stat.S_IFBLK, os.makedev(*map(int, told.split(":"))))
    return own


def _direct(folder: Path) -> bool:
    try:
        return (folder / "dio").read_text().strip() == "1"
    except OSError:
        return False


def _wait_until_gone(folder: Path, image: os.stat_result, path: Path) -> None:
    """Detaching is lazy while somebody else, udev for one, has the device open: look until it is true."""
    limit = time.monotonic() + _DEADLINE_S
    while (folder / "backing_file").exists():
        backing = backing_of(path)
        if backing is None or (backing.device, backing.inode) != (image.st_dev, image.st_ino):
            return
        if time.monotonic() > limit:
            raise MachineError(f"{path} is not detached after {_DEADLINE_S:.0f} s", f"who has it open?  lsof {path}")
        time.sleep(0.002)


@dataclass(frozen=True)
class Backing:
    """What a loop device stands on, as LOOP_GET_STATUS64 has it: filesystem and inode of the file.

    `rdevice` is the file's own number where it is a block device, else its filesystem's, equal to `device`
    (drivers/block/loop.c, loop_get_status()).
    """

    device: int
    inode: int
    rdevice: int


def backing_of(path: Path) -> Backing | None:
    """None when it is attached to nothing. Raises OSError when it cannot be asked."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise
    try:
        answer = fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, bytes(_INFO.size))
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise
    finally:
        os.close(descriptor)
    device, inode, rdevice = _INFO.unpack(answer)[:3]
    return Backing(device, inode, rdevice)
