"""The channel between controller and worker survives what names may hold."""

from __future__ import annotations

import pytest

from fstrial.model.trial import Outcome, TrialResult
from fstrial.model.wire import Done, decode_reply, encode


@pytest.mark.parametrize("text", ["plain", "new\nline", 'quote " and \\', "é ü 日本", "\u2028", "\x00\x1b"])
def test_any_text_is_one_line_and_reads_back(text: str) -> None:
    message = Done(1, TrialResult(Outcome.FAILED, "native", 0.0, 1.0, reason=text))
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode_reply(line) == message


def test_bytes_that_are_no_utf8_are_shown_as_escapes() -> None:
    message = Done(1, TrialResult(Outcome.FAILED, "native", 0.0, 1.0, reason="no such file: a\udcffb"))
    reply = decode_reply(encode(message))
    assert isinstance(reply, Done)
    assert reply.result.reason == "no such file: a\\xffb"
