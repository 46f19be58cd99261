"""Latency histograms: HdrHistogram's layout with two significant digits, 1 ns to 4.9 hours, merged exactly.

The layout is that of Gil Tene's HdrHistogram for lowest value 1 and two significant digits: values below 256 ns
exactly, then 128 buckets an octave, so that a value read back is at most 0.8 % too high. Latencies and percentiles
are never averaged: histograms are merged.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from fstrial.base.errors import DataError

__all__ = ["HIGHEST_NS", "Histogram", "decode_v2", "encode_v2"]

HIGHEST_NS = (1 << 44) - 1
"""Longer latencies count in the last bucket; the maximum is kept exactly."""

_DIGITS = 2
_V2_COOKIE = 0x1C849303 | 0x10
_V2_COMPRESSED_COOKIE = 0x1C849304 | 0x10
_HEADER = struct.Struct(">iiiiqqd")


class Histogram(Struct, frozen=True):
    """How often each latency was seen.

    `buckets` holds (bucket number, count) of the buckets that are not empty, in ascending order. Minimum, maximum
    and total are of the exact values, in nanoseconds, and 0 while nothing was recorded.
    """

    buckets: tuple[tuple[int, int], ...] = ()
    min_ns: int = 0
    max_ns: int = 0
    total_ns: int = 0

    @staticmethod
    def of(values_ns: Iterable[int]) -> Histogram:
        """The histogram of so many values."""
        values = list(values_ns)
        counts = Counter(map(_bucket, values))
        if not values:
            return Histogram()
        return Histogram(tuple(sorted(counts.items())), min(values), max(values), sum(values))

    @staticmethod
    def merged(parts: Iterable[Histogram]) -> Histogram:
        """All parts as if they had been recorded in one."""
        filled = [part for part in parts if part.buckets]
        if not filled:
            return Histogram()
        counts: Counter[int] = Counter()
        for part in filled:
            counts.update(dict(part.buckets))
        return Histogram(
            tuple(sorted(counts.items())),
            min(part.min_ns for part in filled),
            max(part.max_ns for part in filled),
            sum(part.total_ns for part in filled),
        )

    @property
    def count(self) -> int:
        return sum(count for _, count in self.buckets)

    @property
    def mean_s(self) -> float | None:
        """None while nothing was recorded, as for all figures below."""
        return self.total_ns / self.count * 1e-9 if self.buckets else None

    @property
    def min_s(self) -> float | None:
        return self.min_ns * 1e-9 if self.buckets else None

    @property
    def max_s(self) -> float | None:
        return self.max_ns * 1e-9 if self.buckets else None

    def percentile_s(self, percent: float) -> float | None:
        """The latency that `percent` of the operations did not exceed: the upper end of its bucket, in seconds.

        `percent` is from 0 to 100. Never above the exact maximum nor below the exact minimum.
        """
        if not self.buckets:
            return None
        rank = max(1, math.ceil(percent / 100 * self.count))
        seen = 0
        for number, count in self.buckets:
            seen += count
            if seen >= rank:
                return max(self.min_ns, min(_highest_of(number), self.max_ns)) * 1e-9
        return self.max_ns * 1e-9

    def share_above(self, seconds: float) -> float | None:
        """The share of operations that took longer, to within a bucket."""
        if not self.buckets:
            return None
        limit = round(seconds * 1e9)
        return sum(count for number, count in self.buckets if _lowest_of(number) > limit) / self.count


def _octave_bucket(value: int, half_bits: int) -> int:
    """HdrHistogram's countsArrayIndex for 2^(half_bits + 1) sub-buckets and unit magnitude 0."""
    octave = max(0, value.bit_length() - half_bits - 1)
    return (octave << half_bits) + (value >> octave)


def _octave_range(number: int, half_bits: int) -> tuple[int, int]:
    """The lowest and the highest value of a bucket."""
    octave = max(0, (number >> half_bits) - 1)
    lowest = (number - (octave << half_bits)) << octave
    return lowest, lowest + (1 << octave) - 1


def _bucket(value_ns: int) -> int:
    return _octave_bucket(min(value_ns, HIGHEST_NS), 7)


def _lowest_of(number: int) -> int:
    return _octave_range(number, 7)[0]


def _highest_of(number: int) -> int:
    return _octave_range(number, 7)[1]


def encode_v2(histogram: Histogram) -> str:
    """HdrHistogram's V2 compressed payload in base64, as a line of its log format holds it.

    Format: HdrHistogram's `AbstractHistogram.encodeIntoCompressedByteBuffer`: a big-endian header, then the counts
    as ZigZag LEB128 numbers with runs of zeros as their negative length, deflated.
    """
    counts = b"".join(_leb128(_zigzag(number)) for number in _with_zero_runs(histogram.buckets))
    header = _HEADER.pack(_V2_COOKIE, len(counts), 0, _DIGITS, 1, HIGHEST_NS, 1.0)
    payload = zlib.compress(header + counts)
    return base64.b64encode(struct.pack(">ii", _V2_COMPRESSED_COOKIE, len(payload)) + payload).decode("ascii")


def decode_v2(text: str) -> Histogram:
    """The histogram of a V2 compressed payload in base64, written by any HdrHistogram.

    Of another precision it is put into our buckets by the middle of each of its own. The payload holds no exact
    minimum, maximum and total: they are those of the buckets. Raises DataError.
    """
    try:
        raw = base64.b64decode(text, validate=True)
        cookie, length = struct.unpack_from(">ii", raw)
        if cookie != _V2_COMPRESSED_COOKIE:
            raise DataError(f"not a V2 compressed HdrHistogram: its first word is {cookie & 0xFFFFFFFF:#x}")
        payload = zlib.decompress(raw[8 : 8 + length])
        cookie, length, offset, digits, lowest, _, ratio = _HEADER.unpack_from(payload)
    except (binascii.Error, struct.error, zlib.error, ValueError) as error:
        raise DataError(f"not an HdrHistogram payload: {error}") from error
    if cookie != _V2_COOKIE or offset != 0 or ratio != 1.0 or not 0 <= digits <= 5 or lowest < 1:
        raise DataError("an HdrHistogram payload of a kind that is not supported")
    counts = payload[_HEADER.size : _HEADER.size + length]
    return _from_counts(_without_zero_runs(_leb128_numbers(counts)), digits, lowest)


def _from_counts(counts: Iterable[tuple[int, int]], digits: int, lowest: int) -> Histogram:
    half_bits = max(0, (2 * 10**digits - 1).bit_length() - 1)
    unit = lowest.bit_length() - 1
    found: Counter[int] = Counter()
    ends: list[int] = []
    total = 0
    for number, count in counts:
        low, high = (end << unit for end in _octave_range(number, half_bits))
        middle = (low + high) // 2
        found[_bucket(middle)] += count
        total += middle * count
        ends += (low, high)
    if not found:
        return Histogram()
    return Histogram(tuple(sorted(found.items())), min(ends), max(ends), total)


def _with_zero_runs(buckets: Iterable[tuple[int, int]]) -> Iterator[int]:
    expected = 0
    for number, count in buckets:
        if number > expected:
            yield expected - number
        yield count
        expected = number + 1


def _without_zero_runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    index = 0
    for number in numbers:
        if number < 0:
            index -= number
            continue
        if number:
            yield index, number
        index += 1


def _zigzag(number: int) -> int:
    return (number << 1) ^ (number >> 63)


def _leb128(number: int) -> bytes:
    """Seven bits a byte, lowest first; HdrHistogram's variant gives the ninth byte all of its eight bits."""
    out = bytearray()
    while number > 0x7F and len(out) < 8:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _leb128_numbers(data: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in data:
        last = byte < 0x80 or shift == 56
        number |= (byte if shift == 56 else byte & 0x7F) << shift
        shift += 7
        if last:
            yield (number >> 1) ^ -(number & 1)
            number = shift = 0
    if shift:
        raise DataError("an HdrHistogram payload that ends in the middle of a number")
