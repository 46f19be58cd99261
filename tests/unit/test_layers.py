"""The rooms' import table, and what a guest's worker must not import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fstrial"

_BOTTOM = {"model", "base"}
MAY_IMPORT = {
    "base": set(),
    "model": {"base"},
    **dict.fromkeys(
        ("planning", "devices", "filesystems", "hosts", "engine", "trees", "probes", "stats", "store", "formats"),
        _BOTTOM,
    ),
    "workloads": {"engine", "trees", "formats", *_BOTTOM},
    "run": {
        "planning", "devices", "filesystems", "hosts", "engine", "trees", "probes", "stats", "store", "formats",
        "workloads", *_BOTTOM,
    },
    "report": {"stats", "store", *_BOTTOM},
}  # fmt: skip
"""Room: the rooms it may import. `cli` may import everything, and nobody imports `cli`."""

WORKER_ROOMS = ("devices", "filesystems", "trees", "workloads", "probes", "engine")
HEAVY = ("numpy", "scipy", "sqlalchemy", "alembic", "altair", "vl_convert", "jinja2", "rich", "click")


def _rooms() -> list[str]:
    return sorted(folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists())


def _imports(file: Path) -> set[str]:
    """The rooms that a file imports, at its top or inside its functions."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fstrial."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "fstrial":
            found |= {alias.name for alias in node.names if (SOURCE / alias.name).is_dir()}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("fstrial.")}
    return found


@pytest.mark.parametrize("room", [room for room in _rooms() if room != "cli"])
def test_a_room_imports_only_the_rooms_below_it(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}
    broken = {
        str(file.relative_to(SOURCE)): sorted(_imports(file) - allowed)
        for file in (SOURCE / room).rglob("*.py")
        if _imports(file) - allowed
    }
    assert not broken


def test_every_room_stands_in_the_table() -> None:
    assert set(_rooms()) - {"cli"} <= set(MAY_IMPORT)


def test_the_worker_starts_without_anything_heavy() -> None:
    code = (
        "import sys, importlib, pkgutil, fstrial.run.worker\n"
        f"for room in {WORKER_ROOMS!r}:\n"
        "    try: package = importlib.import_module('fstrial.' + room)\n"
        "    except ModuleNotFoundError: continue\n"
        "    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(module.name)\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_programs_are_started_in_one_module_only() -> None:
    doors = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if any(word in file.read_text() for word in ("subprocess.Popen(", "subprocess.run(", "os.system(", "os.exec"))
    }
    assert doors == {"base/proc.py"}
