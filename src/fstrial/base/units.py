"""Sizes, durations and shares as people type them and read them.

Sizes are of 1024: `2G` is 2 × 1024³ bytes, as mkfs and truncate have it.
"""

from __future__ import annotations

import re

from fstrial.base.errors import UsageError

__all__ = [
    "GIB",
    "KIB",
    "MIB",
    "format_duration",
    "format_size",
    "parse_duration",
    "parse_share",
    "parse_size",
    "size_word",
]

KIB = 1024
MIB = 1024**2
GIB = 1024**3

_SIZE_UNITS = {"": 1, "B": 1, "K": KIB, "M": MIB, "G": GIB, "T": 1024**4, "P": 1024**5}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)(?:iB|B)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|)")
_DURATION_UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_size(text: str, what: str = "size") -> int:
    """Bytes of `512`, `64K`, `1.5G`; `what` names the option or key in the error.

    Raises UsageError.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{what}: {text!r} is not a size", "write a number with K, M, G or T, such as 2G")
    size = round(float(match[1]) * _SIZE_UNITS[match[2].upper()])
    if size <= 0:
        raise UsageError(f"{what}: {text!r} is no more than nothing", "write a size above 0, such as 2G")
    return size


def parse_duration(text: str, what: str = "duration") -> float:
    """Seconds of `90`, `90s`, `10m`, `1h30m`. Raises UsageError."""
    bare = text.strip()
    parts = list(_DURATION.finditer(bare))
    if not bare or "".join(part[0] for part in parts) != bare:
        raise UsageError(f"{what}: {text!r} is not a duration", "write 90s, 10m or 1h30m")
    seconds = sum(float(part[1]) * _DURATION_UNITS[part[2]] for part in parts)
    if seconds <= 0:
        raise UsageError(f"{what}: {text!r} is no time at all", "write a duration above 0, such as 10m")
    return seconds


def parse_share(text: str, what: str = "share") -> float:
    """0.05 of `5%` or of `0.05`. Raises UsageError unless above 0."""
    bare = text.strip()
    try:
        share = float(bare.removesuffix("%")) / (100.0 if bare.endswith("%") else 1.0)
    except ValueError:
        share = float("nan")
    if not 0.0 < share < float("inf"):
        raise UsageError(f"{what}: {text!r} is not a share above 0", "write 5% or 0.05")
    return share


def size_word(size_bytes: int) -> str:
    """The shortest exact word that parse_size reads back: `2G`, `1536M`, `1000`."""
    for unit in ("T", "G", "M", "K"):
        if size_bytes and size_bytes % _SIZE_UNITS[unit] == 0:
            return f"{size_bytes // _SIZE_UNITS[unit]}{unit}"
    return str(size_bytes)


def format_size(size_bytes: float) -> str:
    """For people: three significant digits and an IEC unit."""
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB" if abs(value) < 999.5 else f"{value:.0f} TiB"


def format_duration(seconds: float) -> str:
    """For people: `38 ms`, `4.21 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 99.5:
        return f"{seconds:.3g} s"
    if seconds < 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min"
