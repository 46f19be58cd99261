"""The tests with one big file of the classic pages: write it, copy it, read it, cat it, delete it, with real programs.

Published by Justin Piszcz (Linux Gazette 102, 2004, and 122, 2006), in Mongo's tables (2005, 2006) and on the PowerMac
page (2001). What is faithful here and what differs, and why: docs/workload-largefile.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import UsageError
from fstrial.base.registry import unknown
from fstrial.base.units import MIB, format_size, parse_size
from fstrial.model.declaration import Declaration
from fstrial.model.plan import SyncPolicy
from fstrial.workloads._largefile_content import RANDOM_FILE, Content, RandomSource, first_wrong_byte, provide
from fstrial.workloads._largefile_figures import declaration
from fstrial.workloads.contract import (
    Bench,
    Key,
    Needs,
    Phase,
    PhaseFailed,
    Stage,
    Workload,
    WrongContent,
    yes_or_no,
)

__all__ = ["Load"]

_COPY = ("cp", "--reflink=never", "--sparse=never")
_ZEROS = Path("/dev/zero")
_UNSTAGED = Path("SOURCE", RANDOM_FILE)
"""Stands for the staged source in a dry run."""


def _size(text: str, what: str) -> int:
    size = parse_size(text, what)
    if size % MIB:
        raise UsageError(f"{what}: {text!r} is no whole number of MiB: dd writes blocks of 1 MiB", "write 256M or 1G")
    return size


def _content(text: str, what: str) -> Content:
    try:
        return Content(text)
    except ValueError:
        raise unknown(what, text, (content.value for content in Content)) from None


@dataclass(frozen=True)
class _Layout:
    """The two files on the filesystem under trial."""

    root: Path

    @property
    def file(self) -> Path:
        return self.root / "largefile"

    @property
    def copy(self) -> Path:
        return self.root / "largefile-copy"

    @property
    def both(self) -> tuple[Path, Path]:
        return (self.file, self.copy)


class Load(Workload):
    name = "largefile"
    summary = "dd one big file, cp it, dd and cat it to /dev/null, rm: Piszcz's tests 13, 14 and 17, Mongo's dd"
    keys = (
        Key("size", "256M", "size of the file, whole MiB; published: 512M to 5000M, most often 1G", _size),
        Key(
            "content", "random", "random, or zeros as published, which a compressing filesystem gets for free", _content
        ),
        Key("fsync", "no", "yes: the write and the copy end with an fsync of their file", yes_or_no),
    )

    _source: RandomSource | None = None

    def declare(self, sync: SyncPolicy) -> Declaration:
        synced = " (each with an fsync)" if self.value("fsync") else ""
        about = (
            f"Writes a file of {format_size(self._size_bytes)} and copies it{synced}, reads it cold and warm, reads "
            f"the copy cold, and deletes both (largefile.content={self._content.value}; the published tests wrote "
            "zeros, most often 1 GiB)."
        )
        return declaration(about, sync)

    def needs(self) -> Needs:
        """Half as much again as both files."""
        return Needs(
            device_bytes=3 * self._size_bytes + 128 * MIB,
            write_bytes=2 * self._size_bytes,
            files=2,
            largest_file_bytes=self._size_bytes,
            longest_name_bytes=max(len(path.name) for path in _Layout(Path()).both),
        )

    def requires(self) -> tuple[str, ...]:
        return ("dd", "cp", "cat", "rm", *(("sync",) if self.value("fsync") else ()))

    def prepare(self, stage: Stage) -> tuple[str, ...]:
        if self._content is Content.ZEROS:
            return (f"source: {_ZEROS}",)
        self._source = provide(self._size_bytes, stage)
        return self._source.facts()

    def phases(self, root: Path) -> tuple[Phase, ...]:
        at = _Layout(root)
        return (
            self._write(at),
            self._copy(at),
            self._read("read_cold", self._dd(at.file, Path(os.devnull)), cold=True),
            self._read("read_warm", self._dd(at.file, Path(os.devnull)), cold=False),
            self._read("cat", ("cat", str(at.copy)), cold=True),
            self._delete(at),
        )

    def verification(self, root: Path) -> tuple[Phase, ...]:
        at = _Layout(root)
        return (
            self._write(at),
            self._copy(at),
            Phase("verify", lambda bench: self._verify(at), cold=True, timed=False),
        )

    def _write(self, at: _Layout) -> Phase:
        synced = ("conv=fsync",) if self.value("fsync") else ()
        command = (*self._dd(self._input, at.file), *synced)
        return Phase("write", lambda bench: self._move(bench, (command,)), (command,), before=self._provide)

    def _copy(self, at: _Layout) -> Phase:
        synced = (("sync", str(at.copy)),) if self.value("fsync") else ()
        commands = ((*_COPY, str(at.file), str(at.copy)), *synced)
        return Phase("copy", lambda bench: self._move(bench, commands), commands)

    def _read(self, name: str, command: tuple[str, ...], cold: bool) -> Phase:
        return Phase(name, lambda bench: self._move(bench, (command,)), (command,), cold=cold)

    def _delete(self, at: _Layout) -> Phase:
        command = ("rm", *map(str, at.both))

        def work(bench: Bench) -> None:
            bench.run(command)
            bench.count(operations=2)

        def after(bench: Bench) -> None:
            if left := sorted(entry.name for entry in at.root.iterdir()):
                raise PhaseFailed(f"rm said nothing, but {', '.join(left)} is still there")

        return Phase("delete", work, (command,), before=lambda bench: self._check_sizes(at), after=after)

    def _dd(self, source: Path, destination: Path) -> tuple[str, ...]:
        return ("dd", f"if={source}", f"of={destination}", "bs=1M", f"count={self._size_bytes // MIB}")

    def _move(self, bench: Bench, commands: Sequence[Sequence[str]]) -> None:
        """Commands that read or write the whole file once."""
        for command in commands:
            bench.run(command, discard=True)
        bench.count(operations=1, moved_bytes=self._size_bytes)

    def _provide(self, bench: Bench) -> None:
        """The source is in memory, whatever the trial before this one did."""
        if self._source is not None:
            self._source.read_through()

    def _check_sizes(self, at: _Layout) -> None:
        for path in at.both:
            try:
                size_bytes = path.stat().st_size
            except OSError as error:
                raise WrongContent(f"{path.name} cannot be read: {error.strerror}") from error
            if size_bytes != self._size_bytes:
                raise WrongContent(f"{path.name} has {size_bytes} bytes; {self._size_bytes} were written")

    def _verify(self, at: _Layout) -> None:
        for path in at.both:
            if wrong := first_wrong_byte(path, self._content, self._size_bytes):
                raise WrongContent(f"{path.name} {wrong}")

    @property
    def _input(self) -> Path:
        if self._content is Content.ZEROS:
            return _ZEROS
        return _UNSTAGED if self._source is None else self._source.path

    @property
    def _size_bytes(self) -> int:
        size = self.value("size")
        assert isinstance(size, int)
        return size

    @property
    def _content(self) -> Content:
        content = self.value("content")
        assert isinstance(content, Content)
        return content
