"""Binds csrc/ for Python: cffi's API mode against the limited API, so one build serves every Python from 3.11 on.

Read by setup.py, from the project's root; an installed fstrial never runs it.
"""

from __future__ import annotations

from pathlib import Path

from cffi import FFI

__all__ = ["make"]

SOURCES = Path("csrc")


def make() -> FFI:
    """The module `fstrial.engine._engine`, to be compiled. Its declarations are the public header itself."""
    header = (SOURCES / "engine.h").read_text()
    builder = FFI()
    builder.cdef("\n".join(line for line in header.splitlines() if not line.startswith("#")))
    builder.set_source(
        "fstrial.engine._engine",
        '#include "engine.h"',
        sources=sorted(str(file) for file in SOURCES.glob("*.c")),
        depends=sorted(str(file) for file in SOURCES.glob("*.h")),
        include_dirs=[str(SOURCES)],
        libraries=["m"],
        extra_compile_args=["-std=gnu11", "-O2", "-pthread", "-Wno-psabi"],
        extra_link_args=["-pthread"],
        py_limited_api=True,
    )
    return builder
