"""The tree test of 2007: copy a source tree in, copy it within, tar, untar, delete everything, by the real programs.

Published at linuxhelp.150m.com ("Some Filesystem Benchmarks"). What is faithful here and what differs, and why:
docs/workload-tree.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from fstrial.base import kernel
from fstrial.base.errors import MissingRequirement
from fstrial.base.registry import unknown
from fstrial.base.units import MIB, format_size, parse_share
from fstrial.model.declaration import Declaration
from fstrial.model.plan import SyncPolicy
from fstrial.trees.compare import first_difference, miscount
from fstrial.trees.kept import Kept, keep
from fstrial.trees.member import Source
from fstrial.trees.share import Survey, describe, share_bytes, survey
from fstrial.trees.sources import source_of
from fstrial.trees.staging import Staged, read_through, stage_tree
from fstrial.workloads._tree_figures import ARCHIVE_BYTES, declaration
from fstrial.workloads.contract import Bench, Key, Needs, Phase, PhaseFailed, Stage, Workload, WrongContent

__all__ = ["Load"]

_COPY = ("cp", "-r", "--reflink=never", "--sparse=never")
_CLONE = ("cp", "-r", "--reflink=auto", "--sparse=never")
_COPIES = 3
_NAME = "tree"
_UNSTAGED = Path("SOURCE", _NAME)
"""Stands for the staged source in a dry run."""


class Cache(Enum):
    """Whether the source is in memory when it is copied in."""

    WARM = "warm"
    COLD = "cold"


def _cache(text: str, what: str) -> Cache:
    try:
        return Cache(text)
    except ValueError:
        raise unknown(what, text, (cache.value for cache in Cache)) from None


def _yes(text: str, what: str) -> bool:
    if text not in ("yes", "no"):
        raise unknown(what, text, ("yes", "no"))
    return text == "yes"


@dataclass(frozen=True)
class _Layout:
    """Where things lie on the filesystem under trial, named as on the page."""

    root: Path

    @property
    def tree(self) -> Path:
        return self.root / _NAME

    @property
    def second(self) -> Path:
        return self.root / "copy2"

    @property
    def archive(self) -> Path:
        return self.second / "6.tar.gz"

    @property
    def third(self) -> Path:
        return self.root / "copy3"

    @property
    def copies(self) -> tuple[Path, Path, Path]:
        return (self.tree, self.second / _NAME, self.third / _NAME)


class Load(Workload):
    name = "tree"
    summary = "copy a source tree in, copy it within, tar -czf, tar -xzf, delete all: the test of linuxhelp, 2007"
    keys = (
        Key("source", "system", "system, linux, generated, or the path of a folder or tarball"),
        Key("scale", "0.1", "share of the published 655 MiB", parse_share),
        Key("cache", "warm", "is the source in memory when it is copied in: warm or cold", _cache),
        Key("clone", "no", "yes: the copy within the filesystem may share blocks (cp --reflink=auto)", _yes),
    )

    _kept: Kept | None = None
    _staged: Staged | None = None

    def declare(self, sync: SyncPolicy) -> Declaration:
        cloned = ", where it may share blocks" if self.value("clone") else ""
        about = (
            f"Copies {format_size(self._wanted_bytes)} of source files (tree.source={self.value('source')}; the "
            f"published test had 655 MiB) onto the filesystem, copies them within it{cloned}, packs and unpacks "
            "them with tar and gzip, and deletes everything."
        )
        return declaration(about, sync)

    def needs(self) -> Needs:
        """Half as much again as three copies and an archive that gzip cannot shrink, on blocks of 4 KiB."""
        tally = self._survey.tally
        copy = tally.size_bytes + 5 * 1024 * tally.files + 8 * 1024 * tally.directories
        archive = tally.size_bytes + 1024 * (tally.files + tally.directories)
        return Needs(
            device_bytes=(_COPIES * copy + archive) * 3 // 2 + 128 * MIB,
            write_bytes=_COPIES * copy + archive // 3,
            files=_COPIES * tally.files + 1,
            largest_file_bytes=max(archive, self._survey.largest_file_bytes),
            longest_name_bytes=max(self._survey.longest_name_bytes, len(_Layout(Path()).archive.name)),
        )

    def requires(self) -> tuple[str, ...]:
        return ("cp", "du", "tar", "gzip", "rm")

    def prepare(self, stage: Stage) -> tuple[str, ...]:
        cold = self.value("cache") is Cache.COLD
        if cold and not stage.may_drop:
            raise MissingRequirement(
                "tree.cache=cold needs root: caches cannot be dropped otherwise", "use --set tree.cache=warm"
            )
        folder = None if cold else stage.memory
        if folder is not None and _holds(folder, self._wanted_bytes):
            root = folder / f"source-{len(list(folder.iterdir())) + 1}" / _NAME
            self._staged = stage_tree(self._source, self._wanted_bytes, root)
            return (*self._facts(self._staged), "the source is staged in memory and read before every copy")
        self._kept = keep(
            stage.folder / "trees",
            self._survey.key,
            lambda root: stage_tree(self._source, self._wanted_bytes, root),
        )
        self._staged = self._kept.staged
        how = "dropped from memory" if cold else "read into memory"
        return (*self._facts(self._staged), f"the source is staged on disk and {how} before every copy")

    def phases(self, root: Path) -> tuple[Phase, ...]:
        at = _Layout(root)
        return (
            self._copy_in(at),
            Phase(
                "disk_usage",
                lambda bench: bench.read_space("after copy_in", root),
                shows=(("du", "-s", str(root)),),
                timed=False,
            ),
            self._copy_within(at),
            self._tar_gz(at),
            self._untar_gz(at),
            self._delete_all(at),
        )

    def verification(self, root: Path) -> tuple[Phase, ...]:
        at = _Layout(root)
        return (
            self._copy_in(at),
            self._copy_within(at),
            self._tar_gz(at),
            self._untar_gz(at),
            Phase("verify", lambda bench: self._verify(at), cold=True, timed=False),
        )

    def _copy_in(self, at: _Layout) -> Phase:
        source = _UNSTAGED if self._staged is None else self._staged.root
        command = (*_COPY, str(source), f"{at.root}/")
        return Phase("copy_in", lambda bench: self._move(bench, command), (command,), before=self._provide)

    def _copy_within(self, at: _Layout) -> Phase:
        command = (*(_CLONE if self.value("clone") else _COPY), str(at.tree), f"{at.second}/")
        return Phase(
            "copy_within",
            lambda bench: self._move(bench, command),
            (("mkdir", str(at.second)), command),
            before=lambda bench: at.second.mkdir(),
        )

    def _tar_gz(self, at: _Layout) -> Phase:
        command = ("tar", "-czf", str(at.archive), "-C", str(at.second), _NAME)

        def work(bench: Bench) -> None:
            self._move(bench, command)
            bench.record(ARCHIVE_BYTES, float(at.archive.stat().st_size))

        return Phase("tar_gz", work, (command,))

    def _untar_gz(self, at: _Layout) -> Phase:
        command = ("tar", "-xzf", str(at.archive), "-C", str(at.third))
        return Phase(
            "untar_gz",
            lambda bench: self._move(bench, command),
            (("mkdir", str(at.third)), command),
            before=lambda bench: at.third.mkdir(),
        )

    def _delete_all(self, at: _Layout) -> Phase:
        command = ("rm", "-rf", str(at.tree), str(at.second), str(at.third))

        def work(bench: Bench) -> None:
            bench.run(command)
            bench.count(operations=_COPIES * self._tree.manifest.tally.files + 1)

        def before(bench: Bench) -> None:
            self._check_counts(at)

        def after(bench: Bench) -> None:
            left = sorted(entry.name for entry in at.root.iterdir())
            if left:
                raise PhaseFailed(f"rm said nothing, but {', '.join(left)} is still there")

        return Phase("delete_all", work, (command,), before=before, after=after)

    def _move(self, bench: Bench, command: Sequence[str]) -> None:
        """A command that reads the whole tree once and writes it once."""
        bench.run(command)
        tally = self._tree.manifest.tally
        bench.count(operations=tally.files, moved_bytes=tally.size_bytes)

    def _provide(self, bench: Bench) -> None:
        """The source is in memory, or is not, whatever the trial before this one did."""
        if self.value("cache") is Cache.COLD:
            kernel.drop_caches()
        else:
            read_through(self._tree)

    def _check_counts(self, at: _Layout) -> None:
        for copy in at.copies:
            try:
                wrong = miscount(copy, self._tree.manifest)
            except OSError as error:
                wrong = f"what cannot be read: {error}"
            if wrong:
                raise WrongContent(f"{copy.relative_to(at.root)} holds {wrong}")

    def _verify(self, at: _Layout) -> None:
        for copy in at.copies:
            difference = first_difference(copy, self._tree.manifest, self._tree.root)
            if difference is not None:
                raise WrongContent(f"{copy.relative_to(at.root)}/{difference}")

    def _facts(self, staged: Staged) -> tuple[str, ...]:
        tally = staged.manifest.tally
        held = (
            f"source: {self._source.where}: {tally.files} files in {tally.directories} directories, "
            f"{format_size(tally.size_bytes)}, gzip ratio about {staged.gzip_ratio:.1f}, "
            f"digest {staged.manifest.digest}"
        )
        left = f"left out of the source: {describe(staged.left_out)}"
        return (held, left) if staged.left_out else (held,)

    @property
    def _tree(self) -> Staged:
        assert self._staged is not None, "prepare comes before phases run"
        return self._staged

    @cached_property
    def _source(self) -> Source:
        return source_of(str(self.value("source")))

    @cached_property
    def _wanted_bytes(self) -> int:
        scale = self.value("scale")
        assert isinstance(scale, float)
        return share_bytes(scale)

    @cached_property
    def _survey(self) -> Survey:
        return survey(self._source, self._wanted_bytes)


def _holds(folder: Path, wanted_bytes: int) -> bool:
    """Whether a tmpfs has room for a tree, its pages rounded up, and some to spare."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize >= wanted_bytes * 3 // 2
