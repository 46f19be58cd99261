"""Alembic's entry: migrations run on the connection that store.upgrade hands over, in its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
