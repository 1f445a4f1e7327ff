# `make demo` and `make test` are all a newcomer needs; both set up what they use.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
# Two workers for two cores: threads of linear algebra in each would only contend for them. Compiled modules are kept,
# whatever the environment says: the tests start hundreds of processes, which would each compile the package.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2

.PHONY: setup demo test lint audit bench clean studio studio-assets chromium firefox java docs package lowest newest

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

# Downloads wait while the linters work.
test: .venv/.dev
	@$(MAKE) --no-print-directory --jobs=3 lint studio-assets chromium java
	$(PYTEST) --dist loadgroup -m "not slow" --durations=10

# The studio's map library and outlines, from npm; without npm the page shows its scatter view.
studio-assets: | .venv/bin/python
	@$(BIN)/python scripts/studio_assets.py

# The browser of tests/browser; without it they are skipped and say so.
chromium:
	@test -x /usr/bin/chromium || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && apt-get -qq update \
	  && apt-get -qq install -y --no-install-recommends chromium > /dev/null; } \
	  || echo "chromium is not installed and cannot be installed here: the browser tests will be skipped"

# The studio in another browser than that of `make test`. Where it cannot be installed the tests are skipped and say so.
firefox: .venv/.dev studio-assets
	@test -x /usr/bin/firefox-esr -a -x /usr/bin/Xvfb || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && apt-get -qq update \
	  && apt-get -qq install -y --no-install-recommends firefox-esr xvfb libgl1-mesa-dri > /dev/null; } \
	  || echo "Firefox is not installed and cannot be installed here: its tests will be skipped"
	$(PYTEST) -n 0 -rs tests/browser/test_firefox.py

# Spark's; without it the tests of Spark are skipped and say so. After the browser: apt-get works alone.
java: | chromium
	@command -v java > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && apt-get -qq update \
	  && apt-get -qq install -y --no-install-recommends openjdk-17-jre-headless > /dev/null; } \
	  || echo "Java is not installed and cannot be installed here: the tests of Spark will be skipped"

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The slow tests, then every attack at full size: hours on two cores. Interrupted, it goes on where it was.
audit: .venv/.dev studio-assets chromium java
	$(PYTEST) --dist loadgroup -m slow
	$(PYTEST) --hypothesis-profile explore tests/property
	$(BIN)/covey audit --full --out docs/audit --resume
	$(BIN)/python tests/statistical/full.py --out docs/audit/noise.json
	$(BIN)/python tests/faults/full.py --kills 500 --out docs/audit/faults.json
	$(BIN)/python tests/fuzz/full.py --inputs 100000 --out docs/audit/fuzz.json
	$(BIN)/python tests/audit/full.py --many 630 --seed 24 --out docs/audit/systematic.json

bench: .venv/.dev
	$(BIN)/python benchmarks/noise.py
	$(BIN)/covey bench speed --out benchmarks/results/speed.json

# Just what the site needs, and then the site: offline, strict, into site/. Examples run again only when they changed.
.venv/.docs: pyproject.toml | .venv/bin/python
	$(PIP) -e ".[docs]"
	@touch $@

docs: .venv/.docs
	$(BIN)/python -m sphinx -W -E --keep-going -q -c docs/site -d build/doctrees . site
	@echo "site/index.html"

# The wheel and the source distribution, with the studio's map.
package: .venv/.dev studio-assets
	$(BIN)/python -m build --no-isolation --outdir dist .

# A chosen part of the tests with the lowest versions that pyproject.toml allows, and with the newest that there are.
VERSIONED = tests/unit/test_estimator.py tests/unit/cli/test_cli.py tests/unit/cli/test_cli_files.py tests/unit/cli/test_complete.py \
  tests/unit/private/test_formats.py tests/unit/private/test_files.py tests/unit/private/test_excel_files.py \
  tests/unit/private/test_frames_of_others.py tests/unit/private/test_points.py tests/unit/published tests/unit/studio/test_studio_flow.py
# Spark is tried with the lowest alone: it asks for pandas 2.
lowest: SPARK = ,spark
lowest: VERSIONED += tests/engines/test_spark.py::test_the_estimator_takes_a_frame
lowest newest:
	$(PYTHON) -m venv .venv-$@
	.venv-$@/bin/python scripts/versions.py $@ > .venv-$@/constraints.txt
	.venv-$@/bin/python -m pip install --quiet --quiet --disable-pip-version-check -c .venv-$@/constraints.txt ".[versions$(SPARK)]"
	.venv-$@/bin/python -m pytest -q -n 2 -p no:cacheprovider --disable-warnings -m "not slow" $(VERSIONED)
	.venv-$@/bin/python scripts/versions.py table > benchmarks/results/versions/$@.md

studio: .venv/.dev studio-assets
	$(BIN)/covey studio --demo

clean:
	rm -rf .venv .venv-lowest .venv-newest site build dist demo-output src/covey/studio/assets .pytest_cache .mypy_cache .ruff_cache .hypothesis
