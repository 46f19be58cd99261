"""The source tree of the tests that copy one in: its settings, its staging, and what holds before every copy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from fstrial.base import kernel
from fstrial.base.errors import MissingRequirement, UsageError
from fstrial.base.registry import unknown
from fstrial.base.units import format_size, parse_share
from fstrial.model.metric import Direction, Metric, Unit
from fstrial.trees.kept import Kept, keep
from fstrial.trees.member import Source
from fstrial.trees.share import Survey, TooSmall, describe, fitting_scale, share_bytes, survey
from fstrial.trees.sources import source_of
from fstrial.trees.staging import Staged, read_through, stage_tree
from fstrial.workloads.contract import Bench, Key, Stage, Workload

__all__ = ["ARCHIVE_BYTES", "NAME", "Cache", "SourceTree", "source_keys"]

ARCHIVE_BYTES = Metric("archive_bytes", Unit.BYTES, Direction.NEITHER, "size of the archive that was made of the tree")

NAME = "tree"
"""What the staged source's folder is called."""


class Cache(Enum):
    """Whether the source is in memory when it is copied in."""

    WARM = "warm"
    COLD = "cold"


def _cache(text: str, what: str) -> Cache:
    try:
        return Cache(text)
    except ValueError:
        raise unknown(what, text, (cache.value for cache in Cache)) from None


def source_keys(published: str) -> tuple[Key, ...]:
    """The settings `source`, `scale` and `cache` of a test whose published input had that size."""
    return (
        Key("source", "system", "system, linux, generated, or the path of a folder or tarball"),
        Key("scale", "0.1", f"share of the published {published}", parse_share),
        Key("cache", "warm", "is the source in memory when it is copied in: warm or cold", _cache),
    )


@dataclass
class SourceTree:
    """The source that a workload's `source_keys` describe, staged at most once."""

    workload: Workload
    published_bytes: int
    _staged: Staged | None = None
    _kept: Kept | None = None

    @property
    def tree(self) -> Staged:
        assert self._staged is not None, "prepare comes before phases run"
        return self._staged

    @property
    def where(self) -> str:
        """The staged folder as commands have it, or what stands for it in a dry run."""
        return f"SOURCE/{NAME}" if self._staged is None else str(self._staged.root)

    @cached_property
    def wanted_bytes(self) -> int:
        scale = self.workload.value("scale")
        assert isinstance(scale, float)
        return share_bytes(scale, self.published_bytes)

    @cached_property
    def survey(self) -> Survey:
        """The share before it is read. Raises UsageError when the source is missing, unreadable or too small."""
        try:
            return survey(self._source, self.wanted_bytes)
        except TooSmall as error:
            name = self.workload.name
            fits = fitting_scale(error.held_bytes, self.published_bytes)
            lower = f"--set {name}.scale={fits:g} fits, or " if fits else ""
            raise UsageError(error.message, f"{lower}name another {name}.source") from error

    def prepare(self, stage: Stage) -> tuple[str, ...]:
        """Stage it, in memory where it may be and fits, else on disk. Returns facts for the result."""
        cold = self._cold
        if cold and not stage.may_drop:
            name = self.workload.name
            raise MissingRequirement(
                f"{name}.cache=cold needs root: caches cannot be dropped otherwise", f"use --set {name}.cache=warm"
            )
        folder = None if cold else stage.memory
        if folder is not None and _holds(folder, self.wanted_bytes):
            root = folder / f"source-{len(list(folder.iterdir())) + 1}" / NAME
            self._staged = stage_tree(self._source, self.wanted_bytes, root)
            return (*self._facts(self._staged), "the source is staged in memory and read before every copy")
        self._kept = keep(
            stage.folder / "trees",
            self.survey.key,
            lambda root: stage_tree(self._source, self.wanted_bytes, root),
        )
        self._staged = self._kept.staged
        how = "dropped from memory" if cold else "read into memory"
        return (*self._facts(self._staged), f"the source is staged on disk and {how} before every copy")

    def provide(self, bench: Bench) -> None:
        """Before a copy: the source is in memory, or is not, whatever the trial before this one did."""
        if self._cold:
            kernel.drop_caches()
        else:
            read_through(self.tree)

    def moved(self, bench: Bench, trees: int = 1) -> None:
        """Count a command that went once through so many trees, reading or writing each byte."""
        tally = self.tree.manifest.tally
        bench.count(operations=trees * tally.files, moved_bytes=trees * tally.size_bytes)

    @property
    def _cold(self) -> bool:
        return self.workload.value("cache") is Cache.COLD

    @cached_property
    def _source(self) -> Source:
        return source_of(str(self.workload.value("source")))

    def _facts(self, staged: Staged) -> tuple[str, ...]:
        tally = staged.manifest.tally
        held = (
            f"source: {self._source.where}: {tally.files} files in {tally.directories} directories, "
            f"{format_size(tally.size_bytes)}, gzip ratio about {staged.gzip_ratio:.1f}, "
            f"digest {staged.manifest.digest}"
        )
        left = f"left out of the source: {describe(staged.left_out)}"
        return (held, left) if staged.left_out else (held,)


def _holds(folder: os.PathLike[str], wanted_bytes: int) -> bool:
    """Whether a tmpfs has room for a tree, its pages rounded up, and some to spare."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize >= wanted_bytes * 3 // 2
