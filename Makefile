# Each target does all of its set-up: a virtual environment in .venv, packages by pip as pinned in
# constraints.txt. On Debian and Ubuntu, `make system` installs what pip can't.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYTEST_ARGS ?=
# Whoever is idle takes what is left of the others': the tests that start processes come first, and
# wait for them often enough that two cores have work for three.
WORKERS := -n 3 --dist worksteal
TRAIN_ARGS ?=

.PHONY: help train tui test test-fast test-slow lint benchmark screenshots system clean

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { echo "python's venv is missing; on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.run: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing into $(VENV), PyTorch too: this takes some minutes"
	$(PIP) --editable '.[server,mujoco,flows,tui]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing into $(VENV), PyTorch too: this takes some minutes"
	$(PIP) --editable '.[dev]'
	touch $@ $(VENV)/.run

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) --editable '.[bench]'
	touch $@

train: $(VENV)/.run  ## Train PPO on Hopper with two local env clients (TRAIN_ARGS adds flags).
	$(BIN)/plugrl-flow train gaussian-policy default ppo default --env hopper --num-procs 2 --num-envs 4 $(TRAIN_ARGS)

tui: $(VENV)/.run  ## Open the terminal app: choose, launch and watch runs.
	$(BIN)/plugrl-tui

# The tests start hundreds of processes: what is compiled is kept, for each would do it anew.
test test-fast test-slow: export PYTHONDONTWRITEBYTECODE :=

test: lint  ## Lint, types, import rules, and the tests with branch coverage.
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest $(WORKERS) --cov --cov-report=term:skip-covered $(PYTEST_ARGS)

test-fast: $(VENV)/.dev  ## The tests alone.
	$(BIN)/python -m pytest $(WORKERS) $(PYTEST_ARGS)

test-slow: $(VENV)/.dev  ## The tests that train to a threshold, kill servers or fuzz for long.
	$(BIN)/python -m pytest -m "slow or learning" --timeout 3600 $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports

benchmark: $(VENV)/.bench  ## Measure exchanges, the learn step and whole training; hours with learning.
	$(BIN)/python -m benchmarks.exchange
	$(BIN)/python -m benchmarks.learn_step
	$(BIN)/python -m benchmarks.end_to_end
	$(BIN)/python -m benchmarks.flow_overhead
	$(BIN)/python -m benchmarks.viewers
	$(BIN)/python -m benchmarks.tui_cost

screenshots: $(VENV)/.dev  ## Take all pictures anew, of real runs; Prefect's page needs Chromium.
	$(BIN)/python -m screenshots.take
	$(BIN)/python -m screenshots.take_prefect

system:  ## Install Debian packages: OpenGL for videos, tmux for tests, what pictures need.
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends \
		python3-venv libegl1 libgl1 libosmesa6 tmux librsvg2-bin fonts-firacode chromium

clean:  ## Remove the virtual environment and caches; never checkpoints.
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
