# make demo and make test are all a newcomer needs; both set up the environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Three workers share the tests: most are bound by the processor, and while browsers and databases are waited for a third keeps it busy.
WORKERS ?= 3
OUT ?= out
LOWEST := .venv-lowest
# uv installs several times faster than pip; where it cannot run, pip does the same.
# Its cache gains nothing here and grows by two gigabytes with each environment, because Spark comes as a source archive.
export UV_NO_CACHE := 1
INSTALL = sh -c '$(BIN)/uv pip install --quiet --python $(BIN)/python "$$@" || $(BIN)/python -m pip install --quiet "$$@"' --

.PHONY: setup setup-locked notebooks dist wheel sbom lock demo test quick near check lint types imports docs docs-serve bench soak soak-survey soak-numbers mutants lines lowest clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip uv
	$(INSTALL) --editable '.[all,dev,docs]'
	touch $(STAMP)

# The same, with the exact versions of the lock file.
setup-locked:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip uv
	$(INSTALL) --requirement requirements-dev.lock
	$(INSTALL) --no-deps --editable .
	touch $(STAMP)

demo: setup
	$(BIN)/tacit demo --out $(OUT)

test: setup
	$(BIN)/python -m pytest -n $(WORKERS)

# What is fast and touches every package, one case of each test, for while one works; and what the uncommitted change reaches.
QUICK := not slow and not spark and not postgres and not browser
quick: setup
	$(BIN)/python -m pytest -n $(WORKERS) -m '$(QUICK)' --one-case tests

near: setup
	@tests=$$($(BIN)/python -m tools.near $(if $(BASE),--base $(BASE))); \
	if [ -n "$$tests" ]; then $(BIN)/python -m pytest -n $(WORKERS) $$tests; else echo "No test is near what was changed."; fi

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

check: lint types imports test

# The site, in build/site. Any broken link, page outside the navigation or thing loaded from elsewhere stops the build.
docs: setup
	$(BIN)/properdocs build --strict

docs-serve: setup
	$(BIN)/properdocs serve

notebooks: setup
	$(BIN)/python -m pytest tests/test_notebooks.py

# Source and wheel, the wheel made from the source.
dist: setup
	rm -rf dist
	$(BIN)/uv build --quiet --out-dir dist || $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# The wheel in a clean environment, used as a newcomer would.
wheel: dist
	release/try_wheel.sh dist $(abspath $(BIN))

# What the survey server consists of.
sbom: setup
	$(BIN)/python release/sbom.py dist/tacit-survey.cdx.json

lock: setup
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-emit-index-url --no-annotate \
	    --no-header --generate-hashes --quiet --output-file requirements-dev.lock
	sed -i '1i # Exact versions for development, all extras, Python 3.11 to 3.14: make lock writes this file, make setup-locked installs it.' requirements-dev.lock

bench: setup
	$(INSTALL) --editable '.[bench]'
	$(BIN)/python -m benchmarks

# The studies at full size, too long for every change: the tests that TACIT_SOAK enlarges or that run with it only (marked
# `soak`; all others are the same in make test). The survey's are leaks, crashes, traffic and two minutes of each load; the
# numbers' are thousands of seeds and large tables.
soak: soak-survey soak-numbers

soak-survey: setup
	TACIT_SOAK=1 $(BIN)/python -m pytest -n $(WORKERS) -m soak tests/survey tests/browser
	TACIT_SOAK=1 $(BIN)/python -m benchmarks survey

soak-numbers: setup
	TACIT_SOAK=1 $(BIN)/python -m pytest -n $(WORKERS) -m soak --ignore tests/survey --ignore tests/browser

# Non-blank lines of the program, by package.
lines:
	$(BIN)/python tools/lines.py

# Puts small faults into the code and sees whether the tests notice; see docs/notes/mutants.md.
MUTANTS ?= 40
mutants: setup
	mkdir -p $(OUT) && rm -f $(OUT)/mutants.sqlite
	$(BIN)/cosmic-ray init tools/cosmic-ray.toml $(OUT)/mutants.sqlite
	$(BIN)/cr-filter-operators $(OUT)/mutants.sqlite tools/cosmic-ray.toml
	$(BIN)/python -m tools.mutants sample $(OUT)/mutants.sqlite --size $(MUTANTS)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/cosmic-ray exec tools/cosmic-ray.toml $(OUT)/mutants.sqlite
	$(BIN)/cr-report --surviving-only --show-diff $(OUT)/mutants.sqlite | tee $(OUT)/mutants.txt

# The oldest versions that pyproject.toml allows, in an environment of their own, with the tests that touch every dependency.
lowest: setup
	$(PYTHON) -m venv $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --editable '.[all,dev]'
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) -m 'not slow and not spark and not postgres and not browser'

clean:
	rm -rf $(VENV) $(LOWEST) $(OUT) build dist
