# Everything a developer or a build server calls; `make` lists it.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
ENVIRONMENT ?= dev
# Compiled modules are kept: without them each process, and a test run starts hundreds, compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin

# The package cache may lie on another file system.
export UV_LINK_MODE := copy
# A virtual environment of the caller's must not become the target of `uv sync`.
unexport VIRTUAL_ENV

.PHONY: help
help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

.PHONY: setup
setup: .venv/.synced ## make .venv with the locked Python packages

.venv/.synced: pyproject.toml sandbox/pyproject.toml uv.lock .ci/uv.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"Python 3.11 or newer is needed, this is {v[0]}.{v[1]}; name another: make PYTHON=python3.12")'
	@[ -x $(BIN)/python ] || { echo "making .venv"; $(PYTHON) -m venv .venv; }
	@[ -x $(BIN)/uv ] || { echo "installing uv"; $(BIN)/python -m pip install --quiet --require-hashes --requirement .ci/uv.txt; }
	@echo "installing the locked packages"
	@$(BIN)/uv sync --quiet --frozen --inexact --all-groups --all-extras --compile-bytecode
	@touch $@

.PHONY: tools
tools: setup ## build pulumi, the control plane and Flux from Go modules (once; about 20 minutes)
	@$(BIN)/tenantry sandbox tools

.PHONY: tools-clean-cache
tools-clean-cache: ## drop Go's build cache (about 13 GB after a cold build); the tools stay
	go clean -cache

.PHONY: schemas
schemas: tools ## derive tenantry/flux/schemas from the CRDs of the pinned Flux
	@$(BIN)/python -m docgen.schemas

.PHONY: up
up: tools ## run the sandbox, apply the environment to it with `tenantry up`, which waits until all is ready
	@$(BIN)/tenantry sandbox up --environment $(ENVIRONMENT)
	@$(BIN)/tenantry sandbox run -- pulumi stack select --create $(ENVIRONMENT)
	@$(BIN)/tenantry sandbox run -- $(BIN)/tenantry up --environment $(ENVIRONMENT) --yes --skip-preview

.PHONY: down
down: ## end the sandbox and remove all it left
	@$(BIN)/tenantry sandbox down

.PHONY: check
check: check-types check-files ## formatting, lint, types, layers, spelling, generated documentation

.PHONY: check-types
check-types: setup ## types and layers
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: check-files
check-files: setup ## formatting, lint, spelling, generated documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell
	@! git grep -nE '^(<{7}|>{7}) ' || { echo "these lines are left from a merge"; exit 1; }
	$(BIN)/python -m docgen.document --check
	$(BIN)/python -m docgen.reference --check
	$(BIN)/python -m docgen.commands --check
	$(BIN)/python -m docgen.performance --check
	$(BIN)/python -m docgen.lock --check
	$(BIN)/python docs/images/fleet.py --check

.PHONY: lint-workflows
lint-workflows: ## check the workflows of GitHub with actionlint (needs Go; the first run builds it in 10 seconds)
	go -C .ci/actionlint tool actionlint $(addprefix $(CURDIR)/,$(wildcard .github/workflows/*.yml templates/pulumi/.github/workflows/*.yml))

.PHONY: format
format: setup ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: lock
lock: setup ## write the packages that a new fleet installs, with hashes, anew from uv.lock
	@$(BIN)/python -m docgen.lock

.PHONY: document-schema
document-schema: setup ## write the JSON Schemas anew from the model
	@$(BIN)/python -m docgen.document

.PHONY: reference
reference: setup ## write docs/tenants-reference.md and docs/cli.md anew from the model, examples and commands
	@$(BIN)/python -m docgen.reference
	@$(BIN)/python -m docgen.commands
	@$(BIN)/python -m docgen.performance

# -a writes all pages: the search would not know those that are left as they are.
.PHONY: docs
docs: setup ## write the site of the documentation to build/docs
	@$(BIN)/sphinx-build -q -W --keep-going -n -a -b html -c docs -d build/doctrees . build/docs
	@echo "build/docs/index.html: written"

.PHONY: picture
picture: setup ## draw docs/images/fleet.svg from the plan of tenants.yaml
	@$(BIN)/python docs/images/fleet.py

.PHONY: pictures
pictures: setup ## take the pictures of the page of diff, docs/images/*.png, with Chromium
	@$(BIN)/python docs/images/pages.py

.PHONY: docs-pictures
docs-pictures: docs ## take pictures of the documentation, build/docs-pictures/*.png, with Chromium, to look at
	@$(BIN)/python -m docgen.site.pictures

# The tests of these directories need only Python. They use each processor fully.
fast := tests/unit tests/components tests/golden
project := tests/frozen tests/project tests/processes sandbox/tests
at_once := -n auto --dist worksteal

.PHONY: test-fast
test-fast: setup ## unit, component and golden tests: what to run after each change
	$(BIN)/pytest $(at_once) $(fast)

.PHONY: test-project
test-project: setup ## what earlier versions gave, documentation, examples, pipelines, generators; commands as processes; the sandbox
	$(BIN)/pytest $(at_once) $(project)

.PHONY: test-python
test-python: setup ## all tests that need only Python, in one run; few examples of each property
	$(BIN)/pytest $(at_once) $(fast) $(project) tests/properties

# Tests of real programs often wait, so more of them run at a time than there are cores. Tests that share a sandbox stay together.
# Each process takes about 2 GB of memory.
WORKERS ?= 3
# How many fleets with a hostile file are judged, and ten times how many fleets the API server judges; a build server takes fewer.
FLEETS ?= 5000
export FLEETS
side_by_side := -n $(WORKERS) --dist loadgroup
real := tests/e2e tests/hostile

# Each promise once: the repository's own fleet, sources, preflight, a first fleet, the isolation of tenants. What repeats a promise with
# other fleets, waits for a long time, or breaks things in series is left to the build server.
of_e2e := accounts clusters conformance examples_flux2_multi_tenancy fleet import labels new_fleet \
	notifications preflight rehearsal sources teardown
of_faults := admission isolation reaching
share := tests/hostile $(of_e2e:%=tests/e2e/test_%.py) $(of_faults:%=tests/faults/test_%.py)

.PHONY: test
test: test-python tools ## before a push: all tests that need only Python, and a share of those of real programs
	$(BIN)/python -m docgen.schemas --check
	FLEETS=$(if $(filter command line environment,$(origin FLEETS)),$(FLEETS),1000) $(BIN)/pytest $(side_by_side) $(share)

.PHONY: test-all
test-all: test-fast test-project test-properties test-editors test-browser test-real ## every test; a build server runs them with fewer examples

.PHONY: test-hostile
test-hostile: setup ## inputs made to take time or memory, secrets in every place, hostile included files (two minutes)
	$(BIN)/pytest -n auto tests/hostile

.PHONY: test-editors
test-editors: setup ## what editors offer and show in tenants.yaml, by the language server that they run (seconds)
	@command -v npm >/dev/null || $(npm)
	mkdir -p build/editors && cp tests/editors/package*.json build/editors
	npm ci --prefix build/editors --ignore-scripts --no-audit --no-fund --silent
	$(BIN)/pytest tests/editors

install_npm := apt-get install -y --no-install-recommends nodejs npm
npm = if [ "$$(id -u)" = 0 ]; then apt-get update -qq && $(install_npm); \
	else echo "npm is missing; run: sudo $(install_npm)" >&2; exit 1; fi

.PHONY: programs
programs: tools ## see that nothing is missing without which a test is skipped: shells; as root they are installed
	@{ command -v zsh && command -v fish; } >/dev/null 2>&1 || $(programs)

install_programs := apt-get install -y --no-install-recommends zsh fish
programs = if [ "$$(id -u)" = 0 ]; then apt-get update -qq && $(install_programs); \
	else echo "a program is missing; run: sudo $(install_programs)" >&2; exit 1; fi

.PHONY: test-browser
test-browser: docs ## click through the page of diff and the documentation, in Debian's Chromium (a minute)
	@[ -x /usr/bin/chromium ] || $(chromium)
	$(BIN)/pytest tests/browser

install_chromium := apt-get install -y --no-install-recommends chromium
chromium = if [ "$$(id -u)" = 0 ]; then apt-get update -qq && $(install_chromium); \
	else echo "Chromium is missing; run: sudo $(install_chromium)" >&2; exit 1; fi

# How many examples each test of a property draws; `make test-python` draws few.
EXAMPLES ?= 100
.PHONY: test-properties
test-properties: setup ## what holds for every drawn fleet, edit and text, with many examples (EXAMPLES=N; two minutes)
	EXAMPLES=$(EXAMPLES) $(BIN)/pytest $(at_once) tests/properties

# How many runs of each sort are killed, how many edits the random walk makes, and the seed that decides which; a build server takes fewer.
POINTS ?= 20
STEPS ?= 100
SEED ?= 5
faults = tests/faults --points $(POINTS) --steps $(STEPS) --seed $(SEED)
.PHONY: test-faults
test-faults: tools ## attacks, crashes, faults, drift, a random walk on running fleets (40 minutes)
	$(BIN)/pytest $(side_by_side) $(faults)

.PHONY: test-real
test-real: tools ## all tests of real programs, also those of `make test-faults`, in one run, as a build server has it (16 minutes)
	$(BIN)/python -m docgen.schemas --check
	$(BIN)/pytest $(side_by_side) $(real) $(faults)

# `CASES="start commands"` runs some of them; `PEER="NAME=COMMAND"` measures another tool beside `render`.
CASES ?=
.PHONY: bench
bench: tools ## measure commands and runs of Pulumi, 50 minutes (CASES="start commands", PEER="NAME=COMMAND")
	$(BIN)/python -m bench.run $(CASES) $(if $(PEER),--peer "$(PEER)")
	$(BIN)/python -m docgen.performance

.PHONY: dist
dist: setup ## build wheel and sdist into dist/, and try them in clean environments outside of the repository (a minute)
	@$(BIN)/python -m tests.dist

.PHONY: release
release: setup ## build what a release consists of into dist/, twice and equal: wheels, sdists, chart, bill of materials, checksums
	@$(BIN)/python -m docgen.release

.PHONY: clean
clean: ## remove what was built here; tools stay in the user's cache
	rm -rf .venv build dist rendered .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
