"""The first shape of a store."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("uid", sa.String(32), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.Column("stop_reason", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("environment", sa.Text, nullable=False),
        sa.Column("declarations", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("uid", name="uq_runs_uid"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "metrics",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("unit", sa.String(16), nullable=False),
        sa.Column("direction", sa.String(16), nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_metrics"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_metrics_run_id", ondelete="CASCADE"),
        sa.UniqueConstraint("run_id", "name", name="uq_metrics_run_id_name"),
    )
    op.create_table(
        "figures",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("metric_id", sa.Integer, nullable=False),
        sa.Column("phase", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_figures"),
        sa.ForeignKeyConstraint(["metric_id"], ["metrics.id"], name="fk_figures_metric_id", ondelete="CASCADE"),
        sa.UniqueConstraint("metric_id", "phase", name="uq_figures_metric_id_phase"),
    )
    op.create_table(
        "trials",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("filesystem", sa.Text, nullable=False),
        sa.Column("type", sa.String(64), nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("workload", sa.String(64), nullable=False),
        sa.Column("host", sa.String(64), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("wrong_content", sa.Text, nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("elapsed_s", sa.Double, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trials"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_trials_run_id", ondelete="CASCADE"),
        sa.UniqueConstraint("run_id", "number", name="uq_trials_run_id_number"),
    )
    op.create_table(
        "samples",
        sa.Column("trial_id", sa.Integer, nullable=False),
        sa.Column("figure_id", sa.Integer, nullable=False),
        sa.Column("value", sa.Double),
        sa.Column("missing", sa.Text),
        sa.Column("lower_bound", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("trial_id", "figure_id", name="pk_samples"),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name="fk_samples_trial_id", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
