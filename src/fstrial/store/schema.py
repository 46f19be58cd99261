"""The tables of a store, and the version of their shape.

A sample is a row: a trial, a figure (a phase's metric), and a value or the reason why there is none.

    SELECT t.filesystem, t.block, f.phase, m.name, s.value, m.unit
      FROM samples s JOIN trials t ON t.id = s.trial_id
      JOIN figures f ON f.id = s.figure_id JOIN metrics m ON m.id = f.metric_id
     WHERE t.run_id = 7 AND f.phase = 'total' AND m.name = 'durable_s'

A trial is also kept whole, as JSON (`trials.record`), written in the same transaction as its rows and never changed
after: reading 10 000 trials back from 1.7 million rows takes three times as long as from their records. Records are
what fstrial reads; columns and samples are there to be queried. Compressed, records would take a quarter of the
space and half as much time again to read.

A change of the tables is a new VERSION and a file in migrations/versions.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

__all__ = ["VERSION", "VERSIONS", "figures", "metadata", "metrics", "runs", "samples", "trials"]

VERSIONS = ("0001",)
"""Every version there has been, the oldest first."""

VERSION = VERSIONS[-1]

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uid", String(32), nullable=False, unique=True),
    Column("label", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("stop_reason", Text, nullable=False),
    Column("plan", Text, nullable=False),  # JSON, as the next two
    Column("environment", Text, nullable=False),
    Column("declarations", Text, nullable=False),
    sqlite_autoincrement=True,  # the number of a deleted run is not given to another
)

metrics = Table(
    "metrics",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(64), nullable=False),
    Column("unit", String(16), nullable=False),
    Column("direction", String(16), nullable=False),
    Column("summary", Text, nullable=False),
    UniqueConstraint("run_id", "name"),
)

figures = Table(
    "figures",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("metric_id", ForeignKey("metrics.id", ondelete="CASCADE"), nullable=False),
    Column("phase", String(64), nullable=False),
    UniqueConstraint("metric_id", "phase"),
)

trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("block", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("filesystem", Text, nullable=False),
    Column("type", String(64), nullable=False),
    Column("target", Text, nullable=False),
    Column("workload", String(64), nullable=False),
    Column("host", String(64), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    Column("wrong_content", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("elapsed_s", Double, nullable=False),
    Column("record", Text, nullable=False),
    UniqueConstraint("run_id", "number"),
)

samples = Table(
    "samples",
    metadata,
    Column("trial_id", ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True),
    # names figures.id; as a foreign key it would have every sample searched for each figure that is deleted
    Column("figure_id", Integer, primary_key=True, autoincrement=False),
    Column("value", Double),  # NULL: missing, and the next column says why
    Column("missing", Text),
    Column("lower_bound", Boolean, nullable=False),
    sqlite_with_rowid=False,
)
