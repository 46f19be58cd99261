"""One log for people who want to follow: what was run, in a form that can be pasted into a shell.

Silent unless `--verbose` (or FSTRIAL_LOG=debug) asks for it; it goes to standard error, never into results.
"""

from __future__ import annotations

import logging
import os
import sys

__all__ = ["log", "speak"]

log = logging.getLogger("fstrial")
log.addHandler(logging.NullHandler())


def speak(verbose: bool = False) -> None:
    """Let the log be heard on standard error when asked for by flag or environment."""
    if not (verbose or os.environ.get("FSTRIAL_LOG") == "debug"):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(relativeCreated)8d ms  %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
