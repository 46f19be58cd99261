"""Catalogues of made-up filesystems and workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fstrial.base.registry import unknown
from fstrial.model.plan import Setting
from fstrial.planning.contract import Catalogue

__all__ = ["catalogue"]

_DEFAULTS = {"source": "system", "scale": "1"}


@dataclass(frozen=True)
class _Load:
    settings: tuple[Setting, ...]


def _configure(name: str, settings: Sequence[Setting]) -> _Load:
    chosen = dict(_DEFAULTS)
    for setting in settings:
        if setting.key not in chosen:
            raise unknown(f"setting of {name}", setting.key, chosen)
        chosen[setting.key] = setting.value
    return _Load(tuple(Setting(key, value) for key, value in chosen.items()))


def catalogue(mounted: Mapping[str, str] | None = None) -> Catalogue:
    """A few filesystems, two workloads; `mounted` is the type that each existing folder is on."""
    return Catalogue(
        filesystems=("btrfs", "ext3", "ext4", "xfs"),
        workloads=("bonnie", "tree"),
        configure=_configure,
        detected=lambda word: (mounted or {}).get(word, ""),
    )
