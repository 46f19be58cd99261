"""Sources that are tarballs: one that is named, and Debian's package of the kernel's source."""

from __future__ import annotations

import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from fstrial.base.errors import DataError, MissingRequirement, UsageError
from fstrial.trees.member import CHUNK_BYTES, LeftOut, Member, Source

__all__ = ["Tarball", "linux"]

_DAMAGE = (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error)
_OTHERS = "links, devices and pipes"


class Tarball(Source):
    """A tar archive: plain, or compressed by gzip, bzip2 or xz. Read as a stream, so a share costs only its part."""

    def __init__(self, path: Path, largest_share: float | None = None) -> None:
        self._path = path
        self.where = f"the tarball {path}"
        self.largest_share = largest_share

    def members(self) -> Iterator[Member | LeftOut]:
        with self._opened() as archive:
            while info := self._next(archive):
                path = self._inside(info.name)
                if info.isreg():
                    yield self._member(archive, info, path)
                elif not info.isdir():
                    yield LeftOut(path, _OTHERS)

    def _opened(self) -> tarfile.TarFile:
        try:
            return tarfile.open(self._path, "r|*")
        except tarfile.ReadError as error:
            raise UsageError(
                f"{self._path} is no tarball that can be read",
                "source= takes a folder, or a tar archive: plain or of gzip, bzip2 or xz",
            ) from error
        except OSError as error:
            raise UsageError(f"{self.where} cannot be read: {error.strerror}") from error

    def _next(self, archive: tarfile.TarFile) -> tarfile.TarInfo | None:
        try:
            return archive.next()
        except _DAMAGE as error:
            self._damaged(error)

    def _inside(self, name: str) -> str:
        """The name without `./` and doubled slashes. An absolute name or one with `..` is an attack or a mistake."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts:
            raise DataError(
                f"{self.where} names {name!r}, which lies outside of it", "pack it again with relative names"
            )
        return "/".join(parts)

    def _member(self, archive: tarfile.TarFile, info: tarfile.TarInfo, path: str) -> Member:
        return Member(path, info.size, int(info.mtime), lambda: self._chunks(archive, info))

    def _chunks(self, archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
        try:
            content = archive.extractfile(info)
            while content and (chunk := content.read(CHUNK_BYTES)):
                yield chunk
        except _DAMAGE as error:
            self._damaged(error)

    def _damaged(self, error: Exception) -> NoReturn:
        raise DataError(f"{self.where} is damaged: {error}", "fetch or pack it again") from error


def linux(folder: Path = Path("/usr/src")) -> Tarball:
    """The newest kernel source that Debian's package put on this machine: the published input, of today.

    Its largest files, generated tables of register names of up to 24 MB, are left out of a small share.
    """
    found = sorted(folder.glob("linux-source-*.tar.*"), key=_version)
    if not found:
        raise MissingRequirement(
            f"no linux-source-*.tar.xz in {folder}",
            "sudo apt-get install linux-source, or use source=generated",
        )
    return Tarball(found[-1], largest_share=1 / 50)


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", path.name))
