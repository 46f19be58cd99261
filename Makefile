# Two commands matter on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test prove bench check clean help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready ## .venv with fstrial in it and, as root, the tools of every filesystem
	@scripts/install-tools $(BIN)/fstrial

.venv/.ready: pyproject.toml scripts/make-venv
	@scripts/make-venv $(PYTHON)
	@touch $@

check: .venv/.ready ## format, lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
