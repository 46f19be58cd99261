"""System calls that Python 3.11 does not bring: mount, umount, syncfs, unshare, prctl, and ioctls.

Everything here raises OSError with errno, as the `os` module does; callers turn that into words.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "block_device_size",
    "discard_all",
    "drop_caches",
    "enter_namespaces",
    "mount",
    "own_mounts_only",
    "syncfs",
    "umount",
    "with_parent",
]

_libc = ctypes.CDLL(None, use_errno=True)

# linux/mount.h
_MOUNT_FLAGS = {
    "ro": 1,
    "nosuid": 2,
    "nodev": 4,
    "noexec": 8,
    "sync": 16,
    "mand": 64,
    "dirsync": 128,
    "noatime": 1024,
    "nodiratime": 2048,
    "relatime": 1 << 21,
    "strictatime": 1 << 24,
    "lazytime": 1 << 25,
}
_NEGATIONS = {"rw", "suid", "dev", "exec", "async", "atime", "diratime", "defaults"}
_MS_REC = 16384
_MS_PRIVATE = 1 << 18

# linux/sched.h
_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_BLKGETSIZE64 = 0x80081272  # linux/fs.h
_BLKDISCARD = 0x1277


def _checked(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount(source: str, target: Path, kind: str, options: Iterable[str] = ()) -> None:
    """mount(2). Options that are flags of the call become flags, all others the filesystem's data."""
    flags = 0
    data = []
    for option in options:
        if option in _MOUNT_FLAGS:
            flags |= _MOUNT_FLAGS[option]
        elif option not in _NEGATIONS:
            data.append(option)
    _checked(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            kind.encode(),
            ctypes.c_ulong(flags),
            os.fsencode(",".join(data)) if data else None,
        ),
        "mount",
    )


def umount(target: Path) -> None:
    """umount2(2) without following a symbolic link (UMOUNT_NOFOLLOW)."""
    _checked(_libc.umount2(os.fsencode(target), 8), "umount")


def own_mounts_only() -> None:
    """Make every mount of this namespace private, so that none of ours is ever seen outside it."""
    _checked(_libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "mount --make-rprivate")


def syncfs(descriptor: int) -> None:
    """syncfs(2): all of the descriptor's filesystem is on the device, or OSError (EIO since Linux 5.8)."""
    _checked(_libc.syncfs(descriptor), "syncfs")


def enter_namespaces(*, user: bool = False) -> None:
    """unshare(2) a mount and a PID namespace; the next child is process 1 of the latter.

    With `user`, in a user namespace of its own where this user keeps its number: the way that needs no root.
    """
    uid, gid = os.getuid(), os.getgid()
    _checked(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWPID | (_CLONE_NEWUSER if user else 0)), "unshare")
    if user:
        # user_namespaces(7): setgroups must be denied before an unprivileged gid_map is written
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when its parent dies (prctl(2), PR_SET_PDEATHSIG)."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")


def block_device_size(descriptor: int) -> int:
    """Bytes of an open block device."""
    answer = fcntl.ioctl(descriptor, _BLKGETSIZE64, bytes(8))
    return int(struct.unpack("Q", answer)[0])


def discard_all(descriptor: int) -> bool:
    """Discard a whole block device; False when it cannot discard."""
    try:
        fcntl.ioctl(descriptor, _BLKDISCARD, struct.pack("QQ", 0, block_device_size(descriptor)))
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL):
            return False
        raise
    return True


def drop_caches() -> None:
    """Drop the page cache and the inode and dentry caches of the whole machine. Needs root."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")
