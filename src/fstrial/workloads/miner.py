"""Grant Miner's test of 2003: copy a source tree in, copy it twice within, du, delete one, tar, with syncs between.

Published for Linux 2.6.0-test. What is faithful here and what differs, and why: docs/workload-miner.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from fstrial.base.registry import unknown
from fstrial.base.units import MIB, format_size
from fstrial.model.declaration import Declaration
from fstrial.model.plan import Setting, SyncPolicy
from fstrial.trees.compare import first_difference, miscount
from fstrial.trees.manifest import FileEntry, Manifest
from fstrial.workloads._miner_figures import declaration
from fstrial.workloads._source import ARCHIVE_BYTES, SourceTree, source_keys
from fstrial.workloads.contract import Bench, Key, Needs, Phase, PhaseFailed, Stage, Workload, WrongContent

__all__ = ["Load"]

_PUBLISHED_BYTES = 295 * MIB
_COPY = ("cp", "-a", "--reflink=never", "--sparse=never")
_NAME = "mozilla"
_COPIES = 3


class Second(Enum):
    """Where the second recopy goes: into the first, as the script did, or beside it, as its message says."""

    FAITHFUL = "faithful"
    INTENDED = "intended"


def _second(text: str, what: str) -> Second:
    try:
        return Second(text)
    except ValueError:
        raise unknown(what, text, (second.value for second in Second)) from None


@dataclass(frozen=True)
class _Layout:
    """Where things lie on the filesystem under trial, named as in the script. `nested`: the faithful form."""

    root: Path
    nested: bool

    @property
    def first(self) -> Path:
        return self.root / _NAME

    @property
    def second(self) -> Path:
        return self.root / f"{_NAME}-2"

    @property
    def target_of_recopy2(self) -> Path:
        return self.second if self.nested else self.root / f"{_NAME}-3"

    @property
    def archive(self) -> Path:
        return self.root / f"{_NAME}.tar"

    @property
    def archived_trees(self) -> int:
        return 2 if self.nested else 1

    @property
    def kept(self) -> tuple[Path, ...]:
        """The folders that the delete leaves."""
        return (self.second,) if self.nested else (self.second, self.target_of_recopy2)


class Load(Workload):
    name = "miner"
    summary = "cp -a a source tree in, cp -a it twice within, du, rm -rf, tar, sync between: Grant Miner's script, 2003"
    keys = (
        *source_keys("295 MB"),
        Key(
            "second",
            "faithful",
            "recopy2: faithful copies into mozilla-2 and tar packs two trees, as the script did; "
            "intended makes mozilla-3 and tar packs one",
            _second,
        ),
    )

    def __init__(self, settings: Sequence[Setting] = ()) -> None:
        super().__init__(settings)
        self._source = SourceTree(self, _PUBLISHED_BYTES)

    def declare(self, sync: SyncPolicy) -> Declaration:
        again = "into the first copy (as the script did)" if self._nested else "to a third name (as it meant to)"
        about = (
            f"Copies {format_size(self._source.wanted_bytes)} of source files (miner.source={self.value('source')}; "
            "the published test had 295 MB) onto the filesystem, copies them within it to a second name and then "
            f"{again}, walks the first tree with du, deletes it, and packs the second with tar; syncs stand between."
        )
        return declaration(about, sync)

    def needs(self) -> Needs:
        """Half as much again as what may be there at once, on blocks of 4 KiB: three copies, or two and the archive."""
        tally = self._source.survey.tally
        copy = tally.size_bytes + 5 * 1024 * tally.files + 8 * 1024 * tally.directories
        trees = 2 if self._nested else 1
        archive = trees * (tally.size_bytes + 1024 * (tally.files + tally.directories + 1))
        return Needs(
            device_bytes=max(_COPIES * copy, (_COPIES - 1) * copy + archive) * 3 // 2 + 128 * MIB,
            write_bytes=_COPIES * copy + archive,
            files=_COPIES * tally.files + 1,
            largest_file_bytes=max(archive, self._source.survey.largest_file_bytes),
            longest_name_bytes=max(self._source.survey.longest_name_bytes, len(f"{_NAME}.tar")),
        )

    def requires(self) -> tuple[str, ...]:
        return ("cp", "sync", "du", "rm", "tar")

    def prepare(self, stage: Stage) -> tuple[str, ...]:
        return self._source.prepare(stage)

    def phases(self, root: Path) -> tuple[Phase, ...]:
        at = _Layout(root, self._nested)
        return (
            self._copy(at),
            _sync("sync1", at),
            self._recopy("recopy1", at, at.second),
            self._recopy("recopy2", at, at.target_of_recopy2),
            _sync("sync2", at),
            self._du(at),
            self._delete(at),
            self._tar(at),
            _sync("sync3", at, after=lambda bench: self._check_end(at)),
        )

    def verification(self, root: Path) -> tuple[Phase, ...]:
        """Every byte of all three trees before the delete, and of what is left, the archive included, at the end."""
        at = _Layout(root, self._nested)
        return (
            self._copy(at),
            self._recopy("recopy1", at, at.second),
            self._recopy("recopy2", at, at.target_of_recopy2),
            Phase("verify", lambda bench: self._verify(at, (at.first, *at.kept)), cold=True, timed=False),
            self._delete(at),
            self._tar(at),
            Phase("verify_end", lambda bench: self._verify_end(bench, at), cold=True, timed=False),
        )

    def _copy(self, at: _Layout) -> Phase:
        command = (*_COPY, self._source.where, str(at.first))
        return Phase("copy", lambda bench: self._move(bench, command), (command,), before=self._source.provide)

    def _recopy(self, name: str, at: _Layout, target: Path) -> Phase:
        command = (*_COPY, str(at.first), str(target))
        return Phase(name, lambda bench: self._move(bench, command), (command,))

    def _du(self, at: _Layout) -> Phase:
        command = ("du", str(at.first))

        def work(bench: Bench) -> None:
            bench.run(command)
            tally = self._manifest.tally
            bench.count(operations=tally.files + tally.directories + 1)

        return Phase("du", work, (command,))

    def _delete(self, at: _Layout) -> Phase:
        command = ("rm", "-rf", str(at.first))

        def work(bench: Bench) -> None:
            bench.run(command)
            bench.count(operations=self._manifest.tally.files)

        def after(bench: Bench) -> None:
            if at.first.exists():
                raise PhaseFailed(f"rm said nothing, but {at.first.name} is still there")

        return Phase(
            "delete", work, (command,), before=lambda bench: self._check(at, (at.first, *at.kept)), after=after
        )

    def _tar(self, at: _Layout) -> Phase:
        command = ("tar", "-cf", str(at.archive), "-C", str(at.root), at.second.name)

        def work(bench: Bench) -> None:
            bench.run(command)
            self._source.moved(bench, at.archived_trees)
            bench.record(ARCHIVE_BYTES.name, float(at.archive.stat().st_size))

        return Phase("tar", work, (command,))

    def _move(self, bench: Bench, command: Sequence[str]) -> None:
        """A command that reads the whole tree once and writes it once."""
        bench.run(command)
        self._source.moved(bench)

    def _check(self, at: _Layout, folders: Sequence[Path]) -> None:
        for folder in folders:
            try:
                wrong = miscount(folder, self._manifest_of(at, folder))
            except OSError as error:
                wrong = f"what cannot be read: {error}"
            if wrong:
                raise WrongContent(f"{folder.name} holds {wrong}")

    def _check_end(self, at: _Layout) -> None:
        """After the last phase: what the delete left is whole, beside an archive that can hold it."""
        found = sorted(entry.name for entry in at.root.iterdir())
        wanted = sorted(path.name for path in (*at.kept, at.archive))
        if found != wanted:
            raise WrongContent(f"the end holds {', '.join(found)}; {', '.join(wanted)} were left")
        self._check(at, at.kept)
        held, least = at.archive.stat().st_size, at.archived_trees * self._manifest.tally.size_bytes
        if held < least:
            raise WrongContent(f"{at.archive.name} has {held} bytes; its files alone have {least}")

    def _verify(self, at: _Layout, folders: Sequence[Path]) -> None:
        for folder in folders:
            manifest = self._manifest_of(at, folder)
            original = self._source.tree.root if manifest is self._manifest else None
            difference = first_difference(folder, manifest, original)
            if difference is not None:
                raise WrongContent(f"{folder.name}/{difference}")

    def _verify_end(self, bench: Bench, at: _Layout) -> None:
        self._check_end(at)
        self._verify(at, at.kept)
        # 1: "some files differ" (GNU tar manual, "Return Values"); they are right, so the archive is wrong
        done = bench.run(("tar", "-df", str(at.archive), "-C", str(at.root)), accept=(0, 1))
        if done.failed:
            raise WrongContent(f"{at.archive.name} differs from what it packed: {done.complaint()}")

    def _manifest_of(self, at: _Layout, folder: Path) -> Manifest:
        return self._twice if at.nested and folder == at.second else self._manifest

    @property
    def _manifest(self) -> Manifest:
        return self._source.tree.manifest

    @cached_property
    def _twice(self) -> Manifest:
        """The tree with itself inside it. Where names meet, cp's second copy is the one that stays."""
        outer = {entry.path: entry for entry in self._manifest.files}
        inner = (FileEntry(f"{_NAME}/{entry.path}", entry.size, entry.digest) for entry in self._manifest.files)
        return Manifest.of({**outer, **{entry.path: entry for entry in inner}}.values())

    @property
    def _nested(self) -> bool:
        return self.value("second") is Second.FAITHFUL


def _sync(name: str, at: _Layout, after: Callable[[Bench], None] | None = None) -> Phase:
    """sync(1) of the filesystem under trial alone: the others of the machine are none of its business."""
    command = ("sync", "-f", str(at.root))

    def work(bench: Bench) -> None:
        bench.run(command)

    return Phase(name, work, (command,), after=after)
