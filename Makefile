# Two commands do everything: `make tile` (set up, then print a tiling) and `make test` (set up, then run all checks).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?= lstm --gpu h100_sxm --heads 12 --head-dim 64 --batch 16 --dtype bf16

.PHONY: tile test test-all torch lint docs clean

tile: $(VENV)/.installed
	$(BIN)/kerneltune tile $(ARGS)

test: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest -n 2 -m "not gpu and not slow" $(PYTEST_ARGS)

# Every test that needs no GPU: further combinations of cells and strategies, too.
test-all: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest -n 2 -m "not gpu" $(PYTEST_ARGS)

# PyTorch for the tests of its layers; TORCH may name a wheel.
TORCH ?= torch
torch: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)

docs: $(VENV)/.installed-test
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
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
