# `make demo` and `make test` are all a newcomer needs; both set up what they use.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: setup demo test lint audit bench clean

.venv/bin/python:
	$(PYTHON) -m venv .venv

# Just what the demo needs: the core and the plots.
.venv/.demo: pyproject.toml | .venv/bin/python
	$(PIP) -e ".[plot]"
	@touch $@

# Everything: all extras, the tests' oracles, the linters.
.venv/.dev: pyproject.toml | .venv/bin/python
	$(PIP) -e ".[dev]"
	@touch $@ .venv/.demo

setup: .venv/.dev

demo: .venv/.demo
	$(BIN)/covey demo --out demo-output

test: .venv/.dev lint
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

audit: .venv/.dev
	$(BIN)/python -m pytest -n 2

bench: .venv/.dev
	$(BIN)/python benchmarks/noise.py
	$(BIN)/covey bench speed --out benchmarks/results/speed.json

clean:
	rm -rf .venv build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
