# Two commands do everything: `make demo` (set up, then show both packages) and `make test` (set up, then run the
# tests).
# `make check` is what to run before each commit: lint, types and the tests named in tests/core.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?= lstm --gpu h100_sxm --heads 12 --head-dim 64 --batch 16 --dtype bf16

.PHONY: demo tile test test-all check torch lint docs package lock report-library clean

demo: $(VENV)/.installed
	$(BIN)/constrint solve examples/workshop.constrint
	$(BIN)/constrint solve examples/workshop.constrint --count
	$(BIN)/kerneltune tile $(ARGS)

tile: $(VENV)/.installed
	$(BIN)/kerneltune tile $(ARGS)

# By worksteal, neighbouring tests share a process, and with it manuals built, sources read, loops compiled.
test: $(VENV)/.installed-test lint
	@echo "All tests that need no GPU; on two cores they take 11 minutes, on two busy ones 25."
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not gpu and not slow" $(PYTEST_ARGS)

# Every test that needs no GPU: further combinations of cells and strategies, too.
test-all: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not gpu" $(PYTEST_ARGS)

check: $(VENV)/.installed-test lint
	@echo "The tests named in tests/core.txt; on two cores they take a minute."
	$(BIN)/python -m pytest -q -n 2 --dist worksteal @tests/core.txt

# PyTorch for the tests of its layers; TORCH may name a wheel.
TORCH ?= torch
torch: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)

docs: $(VENV)/.installed-test
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

# The distributions, each tried in an empty environment.
package:
	PYTHON=$(PYTHON) .ci/package

# The versions that CI tests with, for every system and Python.
lock: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.8'
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --extra test \
	  --no-emit-package constrint --custom-compile-command "make lock" pyproject.toml -o requirements/ci.txt

# What reports draw with, bundled from npm; and axe-core, by which tests look for barriers in a report.
report-library:
	cd kerneltune/reporting/library && npm install --no-audit --no-fund && npm run build

FORMATTED := $(shell find kernels -name '*.cu' -o -name '*.cuh')

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run -Werror $(FORMATTED)
	MYPY_NUM_WORKERS=2 $(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
