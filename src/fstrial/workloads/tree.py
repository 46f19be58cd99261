"""The tree test of 2007: copy a source tree in, copy it within, tar, untar, delete everything, by the real programs.

Published at linuxhelp.150m.com ("Some Filesystem Benchmarks"). What is faithful here and what differs, and why:
docs/workload-tree.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.units import MIB, format_size
from fstrial.model.declaration import Declaration
from fstrial.model.plan import Setting, SyncPolicy
from fstrial.trees.compare import first_difference, miscount
from fstrial.trees.share import PUBLISHED_BYTES
from fstrial.workloads._source import ARCHIVE_BYTES, NAME, SourceTree, source_keys
from fstrial.workloads._tree_figures import declaration
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

_COPY = ("cp", "-r", "--reflink=never", "--sparse=never")
_CLONE = ("cp", "-r", "--reflink=auto", "--sparse=never")
_COPIES = 3


@dataclass(frozen=True)
class _Layout:
    """Where things lie on the filesystem under trial, named as on the page."""

    root: Path

    @property
    def tree(self) -> Path:
        return self.root / NAME

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
        return (self.tree, self.second / NAME, self.third / NAME)


class Load(Workload):
    name = "tree"
    summary = "copy a source tree in, copy it within, tar -czf, tar -xzf, delete all: the test of linuxhelp, 2007"
    keys = (
        *source_keys("655 MiB"),
        Key("clone", "no", "yes: the copy within the filesystem may share blocks (cp --reflink=auto)", yes_or_no),
    )

    def __init__(self, settings: Sequence[Setting] = ()) -> None:
        super().__init__(settings)
        self._source = SourceTree(self, PUBLISHED_BYTES)

    def declare(self, sync: SyncPolicy) -> Declaration:
        cloned = ", where it may share blocks" if self.value("clone") else ""
        about = (
            f"Copies {format_size(self._source.wanted_bytes)} of source files (tree.source={self.value('source')}; the "
            f"published test had 655 MiB) onto the filesystem, copies them within it{cloned}, packs and unpacks "
            "them with tar and gzip, and deletes everything."
        )
        return declaration(about, sync)

    def needs(self) -> Needs:
        """Half as much again as three copies and an archive that gzip cannot shrink, on blocks of 4 KiB."""
        tally = self._source.survey.tally
        copy = tally.size_bytes + 5 * 1024 * tally.files + 8 * 1024 * tally.directories
        archive = tally.size_bytes + 1024 * (tally.files + tally.directories)
        return Needs(
            device_bytes=(_COPIES * copy + archive) * 3 // 2 + 128 * MIB,
            write_bytes=_COPIES * copy + archive // 3,
            files=_COPIES * tally.files + 1,
            largest_file_bytes=max(archive, self._source.survey.largest_file_bytes),
            longest_name_bytes=max(self._source.survey.longest_name_bytes, len(_Layout(Path()).archive.name)),
        )

    def requires(self) -> tuple[str, ...]:
        return ("cp", "du", "tar", "gzip", "rm")

    def prepare(self, stage: Stage) -> tuple[str, ...]:
        return self._source.prepare(stage)

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
        command = (*_COPY, self._source.where, f"{at.root}/")
        return Phase("copy_in", lambda bench: self._move(bench, command), (command,), before=self._source.provide)

    def _copy_within(self, at: _Layout) -> Phase:
        command = (*(_CLONE if self.value("clone") else _COPY), str(at.tree), f"{at.second}/")
        return Phase(
            "copy_within",
            lambda bench: self._move(bench, command),
            (("mkdir", str(at.second)), command),
            before=lambda bench: at.second.mkdir(),
        )

    def _tar_gz(self, at: _Layout) -> Phase:
        command = ("tar", "-czf", str(at.archive), "-C", str(at.second), NAME)

        def work(bench: Bench) -> None:
            self._move(bench, command)
            bench.record(ARCHIVE_BYTES.name, float(at.archive.stat().st_size))

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
            bench.count(operations=_COPIES * self._source.tree.manifest.tally.files + 1)

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
        self._source.moved(bench)

    def _check_counts(self, at: _Layout) -> None:
        for copy in at.copies:
            try:
                wrong = miscount(copy, self._source.tree.manifest)
            except OSError as error:
                wrong = f"what cannot be read: {error}"
            if wrong:
                raise WrongContent(f"{copy.relative_to(at.root)} holds {wrong}")

    def _verify(self, at: _Layout) -> None:
        for copy in at.copies:
            difference = first_difference(copy, self._source.tree.manifest, self._source.tree.root)
            if difference is not None:
                raise WrongContent(f"{copy.relative_to(at.root)}/{difference}")
