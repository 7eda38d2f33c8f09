# Every target sets up .venv first, and again after pyproject.toml or constraints.txt changed.
PYTHON ?= python3
PYTEST_ARGS ?= -n 2 --dist loadfile

BIN := .venv/bin
STAMP := .venv/.installed
SOURCES := src tests benchmarks examples typings

# Processes that tests start find the modules compiled, also where the environment has Python write no bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-checked bench bench-buffers bench-bufferize bench-planner bench-reordering bench-kernels bench-training coverage coverage-onnx pages docs package lint types clean

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: lint types docs
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

test-checked: $(STAMP)
	$(BIN)/python -m pytest tests/e2e tests/property -m "not slow" --check-memory=all $(PYTEST_ARGS)

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/run.py

bench-buffers: $(STAMP)
	$(BIN)/python benchmarks/buffers.py

bench-bufferize: $(STAMP)
	$(BIN)/python benchmarks/bufferize.py

bench-planner: $(STAMP)
	$(BIN)/python benchmarks/planner.py

bench-reordering: $(STAMP)
	$(BIN)/python benchmarks/reordering.py

bench-kernels: $(STAMP)
	$(BIN)/python benchmarks/kernels.py --output benchmarks/KERNELS.md

bench-training: $(STAMP)
	$(BIN)/python benchmarks/training.py

coverage: $(STAMP)
	$(BIN)/python benchmarks/operators.py

coverage-onnx: $(STAMP)
	$(BIN)/python -m benchmarks.onnx_nodes

pages: $(STAMP)
	$(BIN)/python docs/passes/generate.py
	$(BIN)/python docs/seeds/generate.py

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

package: $(STAMP)
	$(BIN)/python -m build --outdir dist .

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/pyright --pythonpath $(BIN)/python

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
	find $(wildcard $(SOURCES)) -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[torch,onnx,exact,blas,dev,docs]'
	touch $@
