# Two commands matter on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-tools prove bench check clean help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready ## .venv with fstrial in it and, as root, the tools of every filesystem
	@scripts/install-tools filesystems $(BIN)/fstrial

.venv/.ready: pyproject.toml setup.py scripts/make-venv src/fstrial/engine/_build.py $(wildcard csrc/*.[ch])
	@scripts/make-venv $(PYTHON)
	@touch $@

check: .venv/.ready ## format, lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

demo: setup ## which of ext4, xfs and btrfs does the tree test best here: table, verdict, report
	@scripts/demo $(BIN)/fstrial

test: setup test-tools check ## every test; skips say why, and fail when FSTRIAL_REQUIRE is set
	$(BIN)/python -m pytest tests

test-tools:
	@scripts/install-tools tests

prove: setup test-tools ## the long simulations and kill series, in full
	$(BIN)/python bench/prove_statistics.py
	FSTRIAL_PROVE=1 $(BIN)/python -m pytest tests/harness tests/kernel tests/unit/store/test_killed.py

bench: setup ## figures of fstrial itself, as ratios; one group: make bench BENCH=harness
	@for group in $(or $(BENCH),$(basename $(notdir $(sort $(filter-out bench/prove_% bench/_%,$(wildcard bench/*.py)))))); do \
		$(BIN)/python -u bench/$$group.py || exit 1; done

clean: ## the virtual environment and what builds leave
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
