"""The shape of a store: as declared, as migrated, of every past version, and of a version to come."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect

from fakes.records import make_trial
from fstrial.base.errors import DataError
from fstrial.store import schema, upgrade
from fstrial.store.store import Store

STORES = Path(__file__).parent / "stores"
"""One store a version, each written by the fstrial of its time (synthetic trials) and never changed."""


def shape(engine: Engine) -> dict[str, Any]:
    """Everything SQLite says about every table but Alembic's own."""
    looked = inspect(engine)
    tables = [name for name in looked.get_table_names() if name != "alembic_version"]
    return {
        name: (
            [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in looked.get_columns(name)],
            looked.get_pk_constraint(name),
            sorted(looked.get_foreign_keys(name), key=str),
            sorted(looked.get_unique_constraints(name), key=str),
            sorted(looked.get_indexes(name), key=str),
            looked.get_table_options(name),
        )
        for name in tables
    }


def test_a_migrated_store_has_the_shape_of_a_new_one(tmp_path: Path) -> None:
    """Fails when the tables change without a new version."""
    created = create_engine(f"sqlite:///{tmp_path}/created")
    upgrade.bring_up_to_date(created)
    migrated = create_engine(f"sqlite:///{tmp_path}/migrated")
    with migrated.begin() as connection:
        upgrade.migrate(connection)
    assert shape(migrated) == shape(created)
    assert set(shape(created)) == set(schema.metadata.tables)
    with migrated.connect() as connection:
        assert upgrade._version(connection) == schema.VERSION


def test_every_known_version_has_its_migration_and_its_example() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(upgrade.__file__).with_name("migrations")))
    scripts = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert scripts == list(reversed(schema.VERSIONS))
    assert sorted(path.stem for path in STORES.iterdir()) == list(schema.VERSIONS)


@pytest.mark.parametrize("version", schema.VERSIONS)
def test_a_store_of_every_past_version_opens(version: str, tmp_path: Path) -> None:
    copy = tmp_path / "results.sqlite"
    shutil.copy(STORES / f"{version}.sqlite", copy)
    with Store.open(str(copy)) as store:
        (summary,) = store.runs()
        record = store.load(summary.id)
        assert (summary.label, len(record.trials)) == ("synthetic", 4)
        assert record.trials[0].result.phase("copy_in") is not None
        one = make_trial(number=99)
        store.add(summary.id, one.trial, one.result)


def test_an_older_store_is_upgraded_when_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version before the first is an empty database that Alembic has marked: its upgrade makes every table."""
    path = tmp_path / "results.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        database.execute("INSERT INTO alembic_version VALUES ('older')")
    monkeypatch.setattr(schema, "VERSIONS", ("older", schema.VERSION))
    migrated: list[str] = []
    monkeypatch.setattr(upgrade, "migrate", lambda connection: migrated.append(str(connection.engine.url.database)))
    with Store.open(str(path)):
        pass
    assert migrated == [str(path)]


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store.open(str(path)):
        pass
    with sqlite3.connect(path) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DataError, match="written by a newer fstrial") as caught, Store.open(str(path)):
        pass
    assert str(path) in caught.value.message
    assert "upgrade fstrial" in caught.value.hint
    assert sqlite3.connect(path).execute("SELECT * FROM alembic_version").fetchall() == [("9999",)]


def test_making_and_opening_a_store_does_not_import_alembic(tmp_path: Path) -> None:
    """Its import takes longer than listing the runs."""
    code = (
        "import sys\nfrom fstrial.store.store import Store\n"
        "for _ in range(2):\n    with Store.open(sys.argv[1]) as store:\n        store.runs()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "results.sqlite")]
    assert subprocess.run(argv, check=False, timeout=60).returncode == 0
