# make demo      run a sample trace: a table here, a picture in demo-result/policies.png; compile all policies
# make test      style, types, dependencies between the rooms, and the tests; small cases run in plain Python
# make test-long what takes long by nature: kills, whole studies, the examples of all pages, each rule compiled
# make test-all  all of it: every small case compiled, too, in every combination, and eight times as many random ones
# make docs      the documentation as a site, in site/; a warning is an error
# make pages     the pages of docs/reference/ that follow from the tables of keys and fields, and the schemas, anew
# make samples   the sample traces anew, from their recipes
#
# All create a virtual environment in .venv and install into it what they need.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
RESULT ?= demo-result
WORKERS ?= 2

# Where it is set, each process of the tests would read all sources anew, and each worker rewrite all tests.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: help demo test test-long test-all docs pages samples clean

help:
	@sed -n -e 's/^# make /make /p' -e 's/^#                /               /p' Makefile

demo: $(VENV)/ready
	$(BIN)/scheduler-sim run configs/systems/cluster-128.yaml workloads/sample-1000.swf --policy easy --out $(RESULT)
	@echo
	$(BIN)/python analysis/two_policies.py configs/systems/cluster-128.yaml workloads/sample-1000.swf $(RESULT)/policies.png 42 97
	@echo
	@echo "compiling the engine for the other policies, so that their first runs do not wait; Ctrl-C is fine"
	$(BIN)/scheduler-sim prepare

test: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not long'

test-long: $(VENV)/ready-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'long and not exhaustive' --hypothesis-profile=long --durations=20

test-all: $(VENV)/ready-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile=all

docs: $(VENV)/ready-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Whole pages, each as PAGE=MODULE that prints it, and those with tables between marks, whose module fills them.
PRINTED := recipe=generation.keys_page facility=energy.facility_page power=energy.keys_page result=result.reference \
  profile=scaling.keys_page fields=workload.fields_page source-columns=loaders.sources_page \
  study=study.keys_page applications=applications.keys_page
FILLED := metrics=metrics.page statistics=metrics.page policy=policy.page slurm=policy.slurm_page messages=messages.keys_page
SCHEMAS := $(basename $(notdir $(wildcard configs/schemas/*.json)))

pages: $(VENV)/ready
	@set -e; for pair in $(PRINTED); do \
	  $(BIN)/python -m scheduler_sim.$${pair#*=} > page.new; mv page.new docs/reference/$${pair%=*}.md; done
	@set -e; for pair in $(FILLED); do \
	  $(BIN)/python -m scheduler_sim.$${pair#*=} docs/reference/$${pair%=*}.md; done
	@set -e; for kind in $(SCHEMAS); do \
	  $(BIN)/scheduler-sim schema $$kind > page.new; mv page.new configs/schemas/$$kind.json; done

samples: $(VENV)/ready
	$(BIN)/scheduler-sim generate workloads/sample-1000.yaml --out workloads/sample-1000.swf
	$(BIN)/scheduler-sim generate workloads/sample-modular.yaml --out workloads/sample-modular.mwf
	$(BIN)/python workloads/sacct_like.py
	$(BIN)/python workloads/queue_like.py
	$(BIN)/python workloads/benchmark_like.py
	$(BIN)/python workloads/source_samples.py
	$(BIN)/python workloads/site_dumps.py
	$(BIN)/python workloads/message_traces.py

clean:
	rm -rf $(VENV) $(RESULT) site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/ready: $(VENV)/bin/python pyproject.toml
	@echo "installing scheduler-sim into $(VENV); this takes a minute or two"
	$(PIP) --editable '.[report]'
	@touch $@

$(VENV)/ready-dev: $(VENV)/bin/python pyproject.toml
	@echo "installing scheduler-sim and its test tools into $(VENV); this takes a minute or two"
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/ready

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "scheduler-sim needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python's venv is missing; on Debian and Ubuntu: sudo apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
