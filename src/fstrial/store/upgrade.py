"""The shape of a store: made when there is none, brought up to date when older, refused when newer."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, select

from fstrial.base.errors import DataError
from fstrial.store import schema
from fstrial.store.place import WRITES

__all__ = ["bring_up_to_date", "migrate"]

_version_table = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), primary_key=True),
)
"""As Alembic makes it. Made here too, because importing Alembic takes longer than a whole `fstrial list runs`."""


def bring_up_to_date(engine: Engine) -> None:
    """Make, upgrade or leave the tables. Raises DataError for a newer store or for another program's database."""
    with engine.connect() as connection:
        if _version(connection) == schema.VERSION:
            return
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        version = _version(connection)  # again, under the lock: another process may have been quicker
        if version is None:
            _create(connection)
        elif version in schema.VERSIONS[:-1]:
            migrate(connection)
        elif version != schema.VERSION:
            raise DataError(
                f"the store {engine.url.database} was written by a newer fstrial "
                f"(its version is {version}, this one knows up to {schema.VERSION})",
                "upgrade fstrial, or name another store with --store",
            )


def migrate(connection: Connection, to: str = "head") -> None:
    """Run Alembic's migrations on the connection's open transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def _version(connection: Connection) -> str | None:
    """The version a database says it has; None when it says nothing."""
    if not inspect(connection).has_table(_version_table.name):
        return None
    return connection.scalar(select(_version_table.c.version_num))


def _create(connection: Connection) -> None:
    foreign = inspect(connection).get_table_names()
    if foreign:
        raise DataError(
            f"the database {connection.engine.url.database} is not a store: it has tables of something else "
            f"({', '.join(sorted(foreign)[:3])})",
            "name another file or database with --store",
        )
    schema.metadata.create_all(connection)
    _version_table.create(connection)
    connection.execute(_version_table.insert().values(version_num=schema.VERSION))
