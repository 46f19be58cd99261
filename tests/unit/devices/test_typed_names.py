"""Names that fit on a line, can be encoded, and mean the same to a shell."""

from __future__ import annotations

import os
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from fstrial.devices._names import typed


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=24).filter(lambda name: b"\0" not in name))
def test_a_shell_reads_back_the_very_bytes(name: bytes) -> None:
    word = typed(os.fsdecode(name))
    word.encode()
    assert "\n" not in word
    done = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True, env={"LC_ALL": "C"})
    assert done.stdout == name


def test_plain_names_stay_plain() -> None:
    assert typed("/dev/disk/by-id/ata-X_1") == "/dev/disk/by-id/ata-X_1"
    assert typed("loop:2G@/srv/images") == "loop:2G@/srv/images"
