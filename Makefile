# Everything that CI runs can be run here, target by target: `make help`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
GATE := target/release/tidegated
SEEDS ?= 5

export PATH := $(PATH):$(HOME)/.cargo/bin
# One interpreter for every build of the bindings: another one would compile them anew.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Nothing is written outside the checkout; packages are linked from here, not copied.
export UV_CACHE_DIR := $(CURDIR)/$(VENV)/cache
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# The simulator as WebAssembly is built by `python -m tools.wasm`, also for `make site`.
# Whatever a crate has but its tests: profiles and pages are compiled in too.
RUST_OF = Cargo.toml Cargo.lock $(shell find $(1:%=crates/%) -type f -not -path '*/tests/*')
SHARED := core model

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | \
	    while IFS='|' read -r target text; do printf '  make %-13s %s\n' "$$target" "$$text"; done

.PHONY: build
build: $(VENV)/.built $(VENV)/.live ## Make .venv/bin/tidegate and target/release/tidegated

.PHONY: stacks
stacks: $(VENV)/.built ## Build the simulator with real stacks of QUIC (quinn, noq) and their controls, which make build leaves out
	bash tools/progress.sh "Compile the simulator with real stacks" "about 2 min" \
	    $(BIN)/maturin develop --release --locked --uv --features stacks

.PHONY: gate
gate: $(GATE) ## Make target/release/tidegated alone (gate, emulator, active nodes), without Python

.PHONY: demo
demo: $(VENV)/.built ## Compare session controls on an overloaded access link: table, pictures, data
	@# what other code has left there stays, under a number
	@demo() { $(BIN)/tidegate compare scenarios/overloaded-access-link.toml \
	    --gate none,fixed-rate:100,gss-ga,close-probe --seeds $(SEEDS) --out out/demo; }; \
	demo || { [ $$? = 2 ] && [ -e out/demo/manifest.json ] || exit 1; \
	    n=1; while [ -e out/demo-$$n ]; do n=$$((n + 1)); done; \
	    mv out/demo out/demo-$$n; echo "What was in out/demo is in out/demo-$$n now."; demo; }

.PHONY: demo-nodes
demo-nodes: $(VENV)/.built $(VENV)/.live ## Run nine active nodes on this machine, and draw the filter on its way
	target/release/tidegated testbed scenarios/testbed/experiment-2.toml --out out/demo-nodes
	$(BIN)/python -m tools.draw_testbed out/demo-nodes --source 1 --max-th 35

.PHONY: live-demo
live-demo: $(VENV)/.dev $(VENV)/.live ## Show real downloads without and with a gate, in namespaces of this machine (root)
	$(BIN)/python -m tools.live.demo

.PHONY: live-figures
live-figures: $(VENV)/.dev $(VENV)/.live ## Measure the gate and the emulated link on this machine (root)
	$(BIN)/python -m tools.live.figures

# The groups of tests, with a line on each and its time (tools/groups.sh). CARGO_TESTS has the
# gate's where it can be built. A test that needs what is not there is left out, and is in the list
# LEFT_OUT; with TIDEGATE_RUN_ALL only those of .ci/left-out.toml may be (tools/left_out.py).
LEFT_OUT := build/left-out
CARGO_TESTS = cargo test --quiet --locked --workspace --exclude tidegate-benches --exclude tidegate-py
LIVE := tidegate-common tidegate-emulate tidegate-gate tidegate-nodes tidegate-tcx tidegated
# more than there are cores: tests of processes wait most of their time
export RUST_TEST_THREADS ?= 4
PYTEST := $(BIN)/python -m pytest -rs -n 2
# one more for live tests, which wait most of their time (conftest.py)
PYTEST_ALL := $(BIN)/python -m pytest -rs -n 3

.PHONY: check
check: $(VENV)/.dev ## Find quickly what a change breaks: formats, Rust tests, quick Python tests
	@bash tools/groups.sh \
	    "formats" "cargo fmt --all --check && $(BIN)/ruff check . && $(BIN)/ruff format --check ." \
	    "Rust" "$(CARGO_TESTS) $(LIVE:%=--exclude %)" \
	    "Python, quick" "$(PYTEST) -m 'not slow and not cluster and not site and not live'"

.PHONY: test
test: $(VENV)/.dev $(VENV)/.site $(VENV)/.live ## Run all tests, Rust and Python; property tests on a twentieth of their inputs
	@mkdir -p build && rm -f $(LEFT_OUT)
	@export TIDEGATE_LEFT_OUT=$(CURDIR)/$(LEFT_OUT); bash tools/groups.sh \
	    "Rust: compile" "$(CARGO_TESTS) $$(bash tools/live.sh workspace) --no-run" \
	    "Rust" "$(CARGO_TESTS) $$(bash tools/live.sh workspace)" \
	    "WebAssembly: compile" "$(BIN)/python -m tools.wasm || true" \
	    "Python" "$(PYTEST_ALL)" \
	    "left out" "$(BIN)/python -m tools.left_out $(LEFT_OUT)"

.PHONY: test-tools
test-tools: $(VENV)/.dev ## Install what some tests take and make test leaves out without: browsers, node, ns-2, ns-3, tshark ... (root)
	$(BIN)/python -m tools.test_tools

.PHONY: test-long
test-long: $(VENV)/.dev ## Run the property tests on all of their inputs
	@export TIDEGATE_LONG=1 HYPOTHESIS_PROFILE=long; bash tools/groups.sh \
	    "Rust, all inputs" "cargo test --quiet --locked -p tidegate-capture -p tidegate-model --test all" \
	    "Python, all inputs" "$(PYTEST) $$(grep -l hypothesis tests/python/test_*.py | xargs)"

.PHONY: lint lint-rust lint-python
lint: lint-rust lint-python crates ## Check formatting, lints, types, layering, lengths, generated files and packages

lint-rust: $(VENV)/.dev
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --keep-going $$(bash tools/live.sh workspace) -- -D warnings

lint-python: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict python tools examples
	$(BIN)/python -m mypy.stubtest tidegate._native
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.lint

.PHONY: crates
crates: $(VENV)/.dev ## See that core, model and sim can be published: manifests, packages, their pages
	$(BIN)/python -m tools.crates

# the revision with which the crates are compared; default: the last release
BASE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)

.PHONY: semver
semver: $(VENV)/.created ## Find what the last release has in core, model and sim and a user would miss
	@[ -n "$(BASE)" ] || { echo 'There is no release to compare with; another revision: make semver BASE=REVISION' >&2; exit 2; }
	[ -x $(BIN)/cargo-semver-checks ] || cargo install --quiet --locked --root $(VENV) cargo-semver-checks@0.51.0
	$(BIN)/cargo-semver-checks semver-checks --baseline-rev $(BASE) \
	    --package tidegate-core --package tidegate-model --package tidegate-sim

.PHONY: bench
bench: build ## Measure the speed of the simulator on its yardstick
	$(BIN)/tidegate bench
	$(BIN)/tidegate bench --json

.PHONY: bench-peers
bench-peers: $(VENV)/.dev ## Measure other simulators on the yardstick too, and print the ratio
	$(BIN)/python -m tools.peers

.PHONY: validate
validate: $(VENV)/.dev ## Run the same transfers in ns-2, ns-3 and a queue of Linux, and print them side by side
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

.PHONY: deb
deb: ## Make the Debian package of tidegated in dist/: program, systemd unit, manual pages
	bash tools/deb.sh

.PHONY: test-deb
test-deb: deb $(VENV)/.dev ## Install, run and purge the Debian package in a bare Debian, also by systemd (root; some minutes)
	@command -v mmdebstrap >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y mmdebstrap; } || \
	    { echo 'mmdebstrap is not installed; as root: apt-get install -y mmdebstrap' >&2; exit 2; }
	TIDEGATE_DEB="$$(ls dist/tidegated_*.deb)" $(BIN)/python -m pytest -n 0 tests/live/test_deb.py

.PHONY: openwrt
openwrt: $(VENV)/.openwrt ## Make the package for routers with OpenWrt in dist/ (PROCESSOR=aarch64, armv7l, x86_64)
	PYTHONPATH=python $(BIN)/python -m tools.openwrt $(PROCESSOR)

.PHONY: test-openwrt
test-openwrt: openwrt ## Run the package for aarch64 in a kernel under qemu (root; some minutes)
	PYTHONPATH=python $(BIN)/python -m tools.openwrt_boot

.PHONY: test-kernels
test-kernels: $(VENV)/.dev $(VENV)/.live ## Run the tests of the gate in Debian's kernels under qemu (some minutes each)
	$(BIN)/python -m tools.kernels

.PHONY: clean
clean: ## Remove everything that was built, results in out/ included
	rm -rf $(VENV) build dist docs/gallery docs/scenario-keys.md docs/lessons/*-live.md docs/validation-tables.md docs/matrix-cells.md docs/papers/*/claims.md out target fuzz/target tools/*/target python/tidegate/_native*.so

# Stamps: a step runs again when what it depends on is newer.

$(VENV)/.created: tools/system.sh
	python=$$(bash tools/system.sh python) && "$$python" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-cache-dir "maturin>=1.9.4,<2" "uv>=0.9"
	touch $@

$(VENV)/.built: $(VENV)/.created pyproject.toml $(call RUST_OF,capture py sim $(SHARED))
	@# packages come from elsewhere while the compiler keeps the processors busy
	$(BIN)/uv pip install --quiet --requirements pyproject.toml --extra report & packages=$$!; \
	bash tools/progress.sh "Compile the simulator" "about 1 min 20 s" \
	    $(BIN)/maturin develop --release --locked --uv --extras report; \
	wait $$packages
	touch $@

$(GATE): $(call RUST_OF,capture common emulate gate nodes tcx tidegated $(SHARED)) tools/live.sh
	bash tools/system.sh
	bash tools/progress.sh "Compile tidegated" "about 2 min 10 s" \
	    cargo build --release --locked --package tidegated $$(bash tools/live.sh features)
	touch $@

$(VENV)/.live: $(VENV)/.created $(GATE)
	touch $@

$(VENV)/.dev: $(VENV)/.built
	$(BIN)/uv pip install --quiet --group dev
	touch $@

$(VENV)/.openwrt: $(VENV)/.created pyproject.toml
	$(BIN)/uv pip install --quiet --group openwrt
	touch $@

$(VENV)/.site: $(VENV)/.built
	$(BIN)/uv pip install --quiet --group site
	touch $@
