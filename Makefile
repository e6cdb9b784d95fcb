# Every target does its own set-up: a virtual environment in .venv with the package (editable,
# kernel compiled), redone only when what it depends on has changed.
#
#   make demo     one million market events, a pattern, Spark on this machine
#   make test     ruff, mypy, pytest         (PYTEST_ARGS="-k name" to choose)
#   make bench    the benchmarks

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# The compiled modules, as setup.py lists them.
KERNEL := $(wildcard $(shell sed -n 's|^    "\(cereus\.[a-z_.]*\)",$$|\1|p' setup.py \
	| sed 's|\.|/|g; s|.*|src/&.py|'))

PYTEST_ARGS ?=
BENCH_ARGS  ?=

.PHONY: demo test lint types pytest test-pure test-checked bench install clean help

help:
	@sed -n 's/^#  */  /p' Makefile

demo: install
	@$(BIN)/cereus demo

test: lint types pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

pytest: install
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The tests of the engine once more: uncompiled, and compiled with bounds checks.
test-pure: install
	CEREUS_PURE=1 $(BIN)/python -m pytest tests/engine $(PYTEST_ARGS)

test-checked: install
	@echo "Building a copy with bounds checks in build/checked ..."
	@CEREUS_CHECKED=1 $(BIN)/python -m pip install -qq --disable-pip-version-check \
		--no-deps --upgrade --target build/checked .
	PYTHONPATH=build/checked $(BIN)/python -m pytest tests/engine $(PYTEST_ARGS)

bench: install
	$(BIN)/python -m bench $(BENCH_ARGS)

install: $(STAMP)

$(STAMP): pyproject.toml setup.py $(KERNEL) | $(BIN)/python
	@echo "Installing Cereus and its tools into $(VENV) (compiling the kernel) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e ".[spark,notebook,dev]"
	@$(BIN)/python -c "from cereus.engine import compiled_notice as n; n() and print('WARNING:', n())"
	@touch $@

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
		echo "Cereus needs Python 3.11 or later; '$(PYTHON)' was not found. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Cereus needs Python 3.11 or later; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	@echo "Creating the virtual environment $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Could not create it; on Debian and Ubuntu: apt install python3-venv"; exit 1; }

clean:
	rm -rf $(VENV) build dist demo src/*.egg-info src/cereus/*/*.so src/cereus/*/*/*.so src/cereus/*/*/*/*.so spark-warehouse metastore_db \
		derby.log artifacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
