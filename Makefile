# Two front doors: `make demo` and `make test`. Both set up .venv from nothing but Python 3.11+ and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
GAMBIT := $(VENV)/.gambit
CORE   := $(VENV)/.core
WORKERS ?= 3
# One thread a process: the arrays are small, and parallel runs must not fight for cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Compiled once, whatever the environment says: the tests start hundreds of processes that import the package.
export PYTHONDONTWRITEBYTECODE :=
# A worker takes a row of tests and steals when it is done, so that what tests of a file share is made once, not thrice.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: demo test test-all checked compiled browser lint bench docs kernel clean

demo: $(CORE)
	$(BIN)/ncirl demo

test: checked browser  # a test that not even its timeout ends says where it hangs, and ends
	$(PYTEST) -m "not slow" -o faulthandler_timeout=400 -o faulthandler_exit_on_timeout=true

test-all: checked browser $(GAMBIT)
	$(PYTEST)

$(GAMBIT): $(READY)  # a peer that is compiled, which takes minutes: tests that every change runs do without it
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group gambit
	touch $@

checked:  # one core types, the other compiles the tests, which each worker would do by itself
	@$(MAKE) --no-print-directory -j2 lint compiled

compiled: $(READY)
	@$(BIN)/python -m pytest --collect-only -q >/dev/null 2>&1 || true

browser:
	@command -v chromium chromium-browser google-chrome chrome >/dev/null || \
	echo "Notice: no chromium found, so the page is not tested; on Debian: apt-get install chromium"

lint: $(READY)
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/mypy
	$(BIN)/codespell src tests benchmarks docs *.md

bench: $(READY)
	$(BIN)/python -m benchmarks

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

kernel: $(READY)  # after a change to the kernel's source: the compiler is a package like any other
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group kernel
	$(BIN)/python -m ncirl.solvers.certified.kernel.build

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("ncirl needs Python 3.11 or newer; try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(READY): $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
