# drivelab: `make run` shows what it does, `make test` proves it, `make check` holds what else a commit must, `make bench`
# times it. Each sets up what it needs, below this folder only, and does again only what has changed. `make help` lists
# the rest.
#
# PYTHON=python3.12 names the interpreter that .venv is made with (3.11 or newer; the newest found otherwise).

ifneq ($(filter 3.%,$(MAKE_VERSION)),)
$(error GNU make $(MAKE_VERSION) is too old: install 4.0 or newer (on macOS: gmake))
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test check bench wheel release page docs setup ray determinism lint tidy types packages test-rust histories fuzz plant test-python format pins clean

export PYTHON
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

# Relative paths only: the folder above may have blanks in its name.
VENV := .venv
PY := $(VENV)/bin/python
CARGO := cargo
LOCKED := --locked

# What this machine lacks, in one line, before anything is tried.
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),help)),)
LACKING := $(shell PYTHON='$(PYTHON)' sh tools/preflight.sh check $(if $(filter check lint format,$(MAKECMDGOALS)),lint))
ifneq ($(LACKING),)
$(error $(LACKING))
endif
endif

# Folders are listed too: their time stamps tell that a file is gone.
EXTENSION_SOURCES := Cargo.toml Cargo.lock pyproject.toml .cargo/config.toml \
	$(shell find crates catalogue -name tests -prune -o -print)

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

run: $(VENV)/stamp-package ## Reproduce a published table, with its report, in out/lkml-2007
	$(VENV)/bin/drivelab reproduce lkml-2007 --out out/lkml-2007

# The extension is built beside the test programs, in a folder of its own.
test: $(VENV)/stamp-dev ## Whether it works: the tests of the rooms, the digests, the tests of the package
	@$(MAKE) --no-print-directory $(VENV)/stamp-package & built=$$!; \
	$(MAKE) --no-print-directory test-rust; code=$$?; \
	wait $$built && exit $$code
	@$(MAKE) --no-print-directory page || echo "without the page its tests are skipped, or fail with the reason"
	@$(MAKE) --no-print-directory test-python

check: lint tidy types determinism packages ## What else must hold before a commit: lints, arrows, types, two builds with the same digests, packages

bench: ## Simulated commands per second
	$(CARGO) run --release $(LOCKED) --package drivelab-bench

wheel: $(VENV)/stamp-dev ## A wheel for a release in dist/, optimised by a profile: two builds, with a run between them (needs llvm-tools)
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" maturin build --release $(LOCKED) --pgo --interpreter $(PY) --target-dir target/profiled --out dist
	DRIVELAB_WHEEL="$$(ls -t dist/*.whl | head -n 1)" $(PY) -m pytest -k wheel tests/python/test_packaging.py

release: $(VENV)/stamp-release $(VENV)/stamp-package page ## All of a release in dist/: wheels for Linux, source distribution, parts list, checksums, tested (RELEASE='--target x86_64-unknown-linux-gnu': that wheel alone)
	$(PY) tools/release.py $(RELEASE)
	$(PY) -m pytest tests/release

page: $(VENV)/stamp-package ## The page for browsers, in build/page: opened from there, copied to any static host, or served by drivelab page (needs Node.js)
	@$(PY) tools/page.py

docs: $(VENV)/stamp-dev $(VENV)/stamp-package ## Write anew what pages print and draw of the tool's own runs
	$(PY) tools/what_queueing_buys.py
	$(PY) tools/pages.py
	$(PY) tools/notebook.py

setup: $(VENV)/stamp-dev $(VENV)/stamp-package ## What run and test need: .venv, its packages, the extension

ray: $(VENV)/stamp-ray ## Ray in .venv too: without it the tests of clusters are skipped

determinism: $(VENV)/stamp-dev ## The same seed twice, in debug and in another build: BUILD=release
	$(PY) tools/determinism.py $(or $(BUILD),editable)

lint: $(VENV)/stamp-dev ## Formatters and linters, Rust and Python; changes nothing
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets $(LOCKED) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --no-deps $(LOCKED) --package drivelab-units --package drivelab-core --package drivelab-data
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

tidy: $(VENV)/stamp-dev ## What no compiler checks: arrows between rooms, openings, lengths; the core without std, the extension for macOS and Windows
	$(PY) tools/tidy.py
	$(CARGO) fetch --quiet $(LOCKED)
	$(PY) tools/no_std.py
	$(PY) tools/foreign.py

test-rust: ## The tests of the rooms
	$(CARGO) test --workspace --no-fail-fast $(LOCKED)

histories: ## Random histories of small systems, all data checked: HISTORIES=100000 of them
	DRIVELAB_HISTORIES=$(or $(HISTORIES),100000) $(CARGO) test --release $(LOCKED) --package drivelab-simulate --test histories -- --nocapture what_was

fuzz: $(VENV)/stamp-dev ## New random cases of the core's properties (PROPTEST_CASES=5000), random whole scenarios (FUZZ=20000, from seed FROM=1 on), then SECONDS=600 of libFuzzer for each reader
	PROPTEST_CASES=$(or $(PROPTEST_CASES),5000) $(CARGO) test --release $(LOCKED) --package drivelab-core --test core
	DRIVELAB_THOROUGH=1 $(CARGO) test --release $(LOCKED) --package drivelab-durability --test durability
	DRIVELAB_FUZZ=$(or $(FUZZ),20000) DRIVELAB_FUZZ_FROM=$(or $(FROM),1) $(CARGO) test --release $(LOCKED) --package drivelab-simulate --test fuzz -- --nocapture
	$(PY) tools/fuzz.py --seconds $(or $(SECONDS),600)

plant: $(VENV)/stamp-dev ## Faults planted in a copy of the tree, one at a time: which of them the tests let live
	$(PY) tools/plant.py

test-python: $(VENV)/stamp-dev $(VENV)/stamp-package ## The tests of package, tools and tables
	$(PY) -m pytest --numprocesses auto --dist loadgroup --durations 15 --ignore tests/python/test_packaging.py --ignore tests/release

# Two at a time, each platform with a cache of its own: none keeps more than one processor busy.
types: $(VENV)/stamp-dev $(VENV)/stamp-package ## Types of the package, on Linux, macOS and Windows, and of its stubs
	@$(PY) -m mypy --cache-dir .mypy_cache/darwin --platform darwin python/drivelab & other=$$!; \
	$(PY) -m mypy python/drivelab tools; code=$$?; \
	wait $$other && exit $$code
	@$(PY) -m mypy --cache-dir .mypy_cache/win32 --platform win32 python/drivelab & other=$$!; \
	$(PY) -m mypy.stubtest drivelab._core; code=$$?; \
	wait $$other && exit $$code

packages: $(VENV)/stamp-dev $(VENV)/stamp-package ## Wheel and source distribution, each installed and run
	$(PY) -m pytest tests/python/test_packaging.py

format: $(VENV)/stamp-dev ## Format everything
	$(CARGO) fmt --all
	$(PY) -m ruff check --fix --exit-zero --quiet .
	$(PY) -m ruff format .

pins: ## Renew requirements/*.txt from requirements/*.in (needs the network)
	rm -rf build/pins
	"$$(sh tools/preflight.sh python)" -m venv build/pins
	build/pins/bin/python -m pip install --quiet pip-tools==7.6.2
	for name in run dev ray release; do \
		build/pins/bin/python -m piptools compile --quiet --upgrade --generate-hashes --strip-extras --no-header \
			--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
			--output-file requirements/$$name.txt requirements/$$name.in || exit 1; \
	done

clean: ## Delete everything that was built, .venv included
	rm -rf $(VENV) target build dist out web/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf python/drivelab/_core*.so python/drivelab/served/site drivelab._core.data

$(VENV)/folder:
	rm -rf $(VENV)
	"$$(sh tools/preflight.sh python)" -m venv $(VENV)
	pwd -P > $@

$(VENV)/stamp-run: requirements/run.txt $(VENV)/folder
	@echo "installing the pinned packages"
	$(PY) -m pip install --quiet --require-hashes -r $<
	touch $@

$(VENV)/stamp-dev: requirements/dev.txt $(VENV)/stamp-run
	$(PY) -m pip install --quiet --require-hashes -r $<
	touch $@

$(VENV)/stamp-ray: requirements/ray.txt $(VENV)/stamp-dev
	$(PY) -m pip install --quiet --require-hashes -r $<
	touch $@

$(VENV)/stamp-release: requirements/release.txt $(VENV)/stamp-dev
	$(PY) -m pip install --quiet --require-hashes -r $<
	touch $@

# The build tool is the pinned one, found on PATH; nothing is fetched but what Cargo.lock names.
$(VENV)/stamp-package: $(EXTENSION_SOURCES) $(VENV)/stamp-run
	@echo "building the extension: a minute or two the first time"
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m pip install --quiet --no-index --no-deps --no-build-isolation --editable .
	PYTHONDONTWRITEBYTECODE= $(PY) -c 'from drivelab.charts.scripts import packed; packed()'
	touch $@
