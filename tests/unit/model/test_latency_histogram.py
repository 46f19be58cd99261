"""Histograms against exact values, and the V2 payload against the HdrHistogram library's own."""

from __future__ import annotations

import random
import statistics

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fstrial.base.errors import DataError
from fstrial.model.histogram import HIGHEST_NS, Histogram, decode_v2, encode_v2

latencies = st.lists(st.integers(0, HIGHEST_NS), max_size=50)

# Written by the Python port of HdrHistogram (hdrhistogram 0.10.8), with the values beside each.
TWO_DIGITS = "HISTFAAAAC14nJNpmSzMwMDAzwABTFCaESj0HwTsP0AFmH4yM7F8ZGa5r8h0UpYJAAOEC3k="
TWO_DIGITS_VALUES = (1, 255, 256, 257, 1000, 1000, 123456789, 3_600_000_000_000)
TWO_DIGITS_PERCENTILES = {25: 255, 50: 257, 75: 1003, 100: 3607772528639}
THREE_DIGITS = (
    "HISTFAAAAIh4nJNpmSzMwMB+mgECmKE0I5icMa3B/gNE4Dw/01l+pqkcTE/ZmRayMH1khqLlTEzfGbGglYxM1UyVeHA2kzUQ2oJJ8mhdJmkmWSBEkPTn"
    "8zPxMnEDMQQiWNhFh6s8OxMrGDJDaVRIvOio/qGvn5mJEQ1iCOCCRCukhZmjlo9aPjIsBwDn4j8w"
)  # lowest 1, highest 10 000 000: 1000, 2000, ... 1 000 000


@given(latencies)
def test_every_percentile_is_the_sorted_value_to_within_a_bucket(values: list[int]) -> None:
    histogram = Histogram.of(values)
    for percent in (1, 25, 50, 90, 99, 100):
        found = histogram.percentile_s(percent)
        if not values:
            assert found is None
            continue
        exact = sorted(values)[max(1, -(-percent * len(values) // 100)) - 1]
        assert found is not None
        assert exact - 0.5 <= found * 1e9 <= exact * (1 + 1 / 128) + 0.5


@given(latencies, latencies)
def test_merging_is_recording_in_one_place(first: list[int], second: list[int]) -> None:
    assert Histogram.merged((Histogram.of(first), Histogram.of(second))) == Histogram.of(first + second)


def test_minimum_maximum_and_mean_are_exact() -> None:
    values = [random.Random(1).randrange(10**9) for _ in range(1000)]
    histogram = Histogram.of(values)
    assert histogram.count == 1000
    assert histogram.min_s == pytest.approx(min(values) * 1e-9, rel=1e-15)
    assert histogram.max_s == pytest.approx(max(values) * 1e-9, rel=1e-15)
    assert histogram.mean_s == pytest.approx(statistics.mean(values) * 1e-9)


def test_nothing_recorded_has_no_figures() -> None:
    empty = Histogram()
    assert (empty.count, empty.mean_s, empty.min_s, empty.max_s, empty.percentile_s(99)) == (0, None, None, None, None)
    assert empty.share_above(1) is None


def test_a_latency_beyond_the_last_bucket_counts_there_and_stays_the_maximum() -> None:
    day_ns = 86_400 * 10**9
    histogram = Histogram.of([1, day_ns])
    assert histogram.max_s == 86_400
    assert histogram.count == 2


def test_the_share_above_a_limit_counts_what_took_longer() -> None:
    histogram = Histogram.of([10**6] * 9 + [3 * 10**9])
    assert histogram.share_above(2) == pytest.approx(0.1)


def test_a_payload_of_the_hdrhistogram_library_is_read() -> None:
    histogram = decode_v2(TWO_DIGITS)
    assert histogram.buckets == Histogram.of(TWO_DIGITS_VALUES).buckets
    for percent, value in TWO_DIGITS_PERCENTILES.items():
        found = histogram.percentile_s(percent)
        assert found is not None
        assert round(found * 1e9) == value


def test_our_payload_is_the_one_the_library_writes() -> None:
    assert decode_v2(encode_v2(Histogram.of(TWO_DIGITS_VALUES))) == decode_v2(TWO_DIGITS)


def test_a_payload_of_another_precision_keeps_its_percentiles() -> None:
    histogram = decode_v2(THREE_DIGITS)
    assert histogram.count == 1000
    for percent in (10, 50, 99):
        found = histogram.percentile_s(percent)
        assert found == pytest.approx(percent * 10_000 * 1e-9, rel=0.01)


@given(latencies)
def test_buckets_survive_a_round_trip(values: list[int]) -> None:
    histogram = Histogram.of(values)
    assert decode_v2(encode_v2(histogram)).buckets == histogram.buckets


def test_large_counts_survive_a_round_trip() -> None:
    histogram = Histogram(((5, 2**62), (4863, 1)), 5, HIGHEST_NS, 5 * 2**62 + HIGHEST_NS)
    assert decode_v2(encode_v2(histogram)).buckets == histogram.buckets


@given(st.binary(max_size=60))
def test_what_is_no_payload_is_a_data_error(junk: bytes) -> None:
    for text in (junk.decode("latin-1"), TWO_DIGITS[: len(junk)]):
        with pytest.raises(DataError):
            decode_v2(text)


def test_json_keeps_a_histogram_exactly() -> None:
    histogram = Histogram.of(TWO_DIGITS_VALUES)
    assert msgspec.json.decode(msgspec.json.encode(histogram), type=Histogram) == histogram
