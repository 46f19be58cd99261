"""By what words a device's owner gives it up, and how the owner is told what it is."""

from __future__ import annotations

import json

from fstrial.base import proc
from fstrial.base.errors import Refused
from fstrial.base.units import format_size
from fstrial.devices._blkid import partition_uuid
from fstrial.devices._reasons import Suspect

__all__ = ["identities", "portrait"]

_DEADLINE_S = 60.0


def identities(suspect: Suspect) -> tuple[str, ...]:
    """Words that name this device and no other, the best first; blanks in them are single.

    A partition's own (PARTUUID, filesystem), not those of its disk. The last resort for a disk is its sequence number,
    `diskseq:N`: the kernel gives another whenever another medium is behind the name.

    Raises Refused when there are none, OSError when they cannot be read.
    """
    if suspect.block.is_partition:
        told = [partition_uuid(suspect.path)]
        sequence = ""
    else:
        told = [*_of_hardware(suspect), suspect.block.serial]
        sequence = suspect.block.sequence
    told += [one.uuid for one in suspect.signatures]
    told.append(sequence and f"diskseq:{sequence}")
    found = tuple(dict.fromkeys(" ".join(word.split()) for word in told if word))
    if not found:
        raise Refused(
            f"{suspect.shown} has no serial, UUID or sequence number to be named by",
            "a partition of it with a PARTUUID would do",
        )
    return found


def portrait(suspect: Suspect) -> str:
    """What a person recognises it by."""
    block = suspect.block
    on_it = ", ".join(map(str, suspect.signatures)) or "nothing that libblkid knows"
    parts = [format_size(block.size_bytes), block.model, block.serial and f"serial {block.serial}", f"on it: {on_it}"]
    return ", ".join(part for part in parts if part)


def _of_hardware(suspect: Suspect) -> list[str]:
    """Serial and world-wide name as udev, and so lsblk(8), shows them."""
    done = proc.run(
        ("lsblk", "--nodeps", "--json", "--output", "SERIAL,WWN", str(suspect.path)), deadline_s=_DEADLINE_S
    )
    if done.failed:
        return []
    (told,) = json.loads(done.stdout, strict=False)["blockdevices"]
    return [told["serial"] or "", told["wwn"] or ""]
