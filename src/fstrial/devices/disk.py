"""`/dev/...`: a real device, given up by its owner with --erase."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fstrial.base.errors import UsageError
from fstrial.base.units import format_size
from fstrial.devices._names import typed
from fstrial.devices.claim import ClaimedDevice, claim_device, inspect_device
from fstrial.devices.contract import Attached, Held, Target
from fstrial.model.trial import Note, NoteKind

__all__ = ["Place"]


class Place(Target):
    """A device that holds data until its owner says otherwise: see claim.py."""

    kind = "disk"
    about = "/dev/...  a real device; everything on it is lost, and --erase must name it"

    def examine(self, erase: tuple[str, ...], size_bytes: int) -> tuple[Note, ...]:
        suspect = inspect_device(self.word, erase)
        if suspect.block.size_bytes < size_bytes:
            raise UsageError(
                f"{typed(self.word)} has {format_size(suspect.block.size_bytes)}, "
                f"and {format_size(size_bytes)} are needed",
                "choose a larger device or a smaller scale",
            )
        return ()

    def size_bytes(self, wanted_bytes: int) -> int | None:
        return None

    def command(self, size_bytes: int) -> tuple[str, ...]:
        return ("blkdiscard", "--force", self.word)

    @contextmanager
    def hold(self, erase: tuple[str, ...], size_bytes: int, scratch: Path) -> Iterator[Held]:
        with claim_device(self.word, erase) as claimed:
            yield _HeldDisk(self.word, claimed)


@dataclass(frozen=True)
class _HeldDisk:
    word: str
    claimed: ClaimedDevice

    @contextmanager
    def attach(self) -> Iterator[Attached]:
        """The whole device, discarded where it can be, so that each trial meets the same flash."""
        refused = self.claimed.empty()
        block = self.claimed.block
        named = typed(self.word)
        note = (
            Note(NoteKind.WARNING, f"{named} was not discarded ({refused}): a trial meets it as the one before left it")
            if refused
            else Note(NoteKind.FACT, f"{named} was discarded before the trial")
        )
        yield Attached(
            writable=self.claimed,
            facts=block.facts(self.word, "disk", str(self.claimed.path)),
            statistics=block.statistics,
            below=block.disk / "stat" if block.is_partition else None,
            notes=(note,),
        )
