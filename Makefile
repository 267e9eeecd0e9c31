# Everything runs in a virtual environment of its own; nothing is installed on the machine.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# One BLAS thread per process: the arrays are narrow, and tests and benchmarks run several processes.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint bench service-bench calibration clean

demo: $(VENV)/.installed        ## set up and run the main job on embedded defaults
	$(BIN)/consilience demo

test: lint                      ## set up, lint, type-check, run all tests
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.peers           ## speed against python-fedci and statsmodels, in one run
	$(BIN)/python benchmarks/ci_speed.py
	$(BIN)/python benchmarks/masking_cost.py
	$(BIN)/python benchmarks/ci_memory.py

service-bench: $(VENV)/.dev     ## the study server: latency against in process, and fifty studies at once
	$(BIN)/python benchmarks/service_latency.py
	$(BIN)/python benchmarks/service_load.py

calibration: $(VENV)/.dev       ## type-I error of every pair of kinds; rewrites docs/calibration.md
	$(BIN)/python benchmarks/calibration.py --out docs/calibration.md

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "consilience needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); apt-get install -y python3-venv && $(PYTHON) -m venv $(VENV); } \
	  || { echo "Python's venv module is missing; install Debian's package python3-venv and run make again."; exit 1; }

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet -c constraints.txt -e .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.peers: $(VENV)/.dev
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev,peers]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
