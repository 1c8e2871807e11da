# Everything that CI runs can be run here, target by target: `make help`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
SEEDS ?= 5

export PATH := $(PATH):$(HOME)/.cargo/bin
# One interpreter for every build of the bindings: another one would compile them anew.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | \
	    while IFS='|' read -r target text; do printf '  make %-13s %s\n' "$$target" "$$text"; done

.PHONY: build
build: $(VENV)/.built $(VENV)/.live ## Make .venv/bin/tidegate and target/release/tidegated

.PHONY: demo
demo: build ## Compare session controls on an overloaded access link: table, pictures, data
	@# what other code has left there stays, under a number
	@demo() { $(BIN)/tidegate compare scenarios/overloaded-access-link.toml \
	    --gate none,fixed-rate:100,gss-ga,close-probe --seeds $(SEEDS) --out out/demo; }; \
	demo || { [ $$? = 2 ] && [ -e out/demo/manifest.json ] || exit 1; \
	    n=1; while [ -e out/demo-$$n ]; do n=$$((n + 1)); done; \
	    mv out/demo out/demo-$$n; echo "What was in out/demo is in out/demo-$$n now."; demo; }

.PHONY: demo-nodes
demo-nodes: build ## Run nine active nodes on this machine, and draw the filter on its way
	target/release/tidegated testbed scenarios/testbed/experiment-2.toml --out out/demo-nodes
	$(BIN)/python -m tools.draw_testbed out/demo-nodes --source 1 --max-th 35

.PHONY: live-demo
live-demo: $(VENV)/.dev $(VENV)/.live ## Show real downloads without and with a gate, in namespaces of this machine (root)
	$(BIN)/python -m tools.live.demo

.PHONY: live-figures
live-figures: $(VENV)/.dev $(VENV)/.live ## Measure the gate and the emulated link on this machine (root)
	$(BIN)/python -m tools.live.figures

.PHONY: test
test: $(VENV)/.dev $(VENV)/.site $(VENV)/.live ## Run the tests of the Rust crates and of the Python package
	cargo test --workspace $$(bash tools/live.sh features)
	$(BIN)/python -m pytest tests/python tests/pages tools/tests tests/live

.PHONY: lint lint-rust lint-python
lint: lint-rust lint-python ## Check formatting, lints, types, layering, lengths and generated files

lint-rust: $(VENV)/.dev
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --keep-going $$(bash tools/live.sh features) -- -D warnings

lint-python: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict python tools examples
	$(BIN)/python -m mypy.stubtest tidegate._native
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.lint

.PHONY: bench
bench: build ## Measure the speed of the simulator on its yardstick
	$(BIN)/tidegate bench
	$(BIN)/tidegate bench --json

.PHONY: bench-peers
bench-peers: $(VENV)/.dev ## Measure other simulators on the yardstick too, and print the ratio
	$(BIN)/python -m tools.peers

.PHONY: validate
validate: $(VENV)/.dev ## Run the same transfers in ns-2 and ns-3 and print them side by side
	@command -v ns >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y ns2; } || \
	    { echo 'ns-2 is not installed; as root: apt-get install -y ns2' >&2; exit 2; }
	$(BIN)/python -m tools.validate

.PHONY: validate-live
validate-live: $(VENV)/.dev $(VENV)/.live ## Run the same transfers between real hosts of this kernel (root)
	$(BIN)/python -m tools.live.validate

.PHONY: fmt
fmt: $(VENV)/.dev ## Format Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: docs
docs: $(VENV)/.dev ## Write the generated pages: those of docs/ that come from the code
	$(BIN)/python -m tools.generate

.PHONY: site
site: $(VENV)/.site ## Build the documentation as a site that works offline: build/site/html
	$(BIN)/python -m tools.website

.PHONY: wheel
wheel: $(VENV)/.created ## Make the wheel and the source package in dist/, and try the wheel alone
	VIRTUAL_ENV=$(CURDIR)/$(VENV) bash tools/wheel.sh $(CURDIR)/$(BIN)

.PHONY: clean
clean: ## Remove everything that was built, results in out/ included
	rm -rf $(VENV) build dist out target

# Stamps: a step runs again when what it depends on is newer.

$(VENV)/.created: tools/system.sh
	python=$$(bash tools/system.sh) && "$$python" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" "maturin>=1.9.4,<2"
	touch $@

$(VENV)/.built: $(VENV)/.created pyproject.toml $(RUST)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 $(BIN)/maturin develop --release --locked --extras report
	touch $@

$(VENV)/.live: $(VENV)/.built $(shell find crates/live -name '*.[ch]') tools/live.sh
	cargo build --release --locked --package tidegate-live $$(bash tools/live.sh features)
	touch $@

$(VENV)/.dev: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/.site: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group site
	touch $@
