# The commands that the README and CI call. `make demo` and `make test` work on a fresh machine with Rust, Python 3.11+
# and a C compiler.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# One profile for tests and product, and all of the workspace: nothing is compiled twice. The binding has no tests of its
# own, but what it asks of libraries counts. The oracle is tested by itself, afterwards: it takes more of the crate domain,
# with which all that stands on domain would be compiled once more, and asks an example of crates/internet.
CARGO_TEST := cargo test --release --locked --workspace --exclude dnsrig-oracle

.PHONY: help setup installed packages build demo test test-rust harnesses test-python lint format docs bench fuzz clean

help:
	@echo "make demo    set up, run the first study on the embedded server and every server found, leave a report"
	@echo "make test    set up and run every test (Rust and Python)"
	@echo "make lint    formatting, static checks, licences, generated files up to date"
	@echo "make bench   every performance claim: against peers, of the simulated Internet and of verification (takes hours; docs/benchmarks.md)"
	@echo "make docs    write the generated pages in docs/reference"
	@echo "make setup   what the others begin with: Debian packages (as root), $(VENV), the build"

setup: installed build

installed: packages $(VENV)/.dependencies

packages:
	@sh tools/debian-packages.sh

$(VENV)/.dependencies: pyproject.toml tools/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dnsrig needs Python 3.11 or later; $(PYTHON) is `$(PYTHON) --version`. Set PYTHON=..." >&2; exit 3; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/install_dependencies.py
	touch $@

build: $(VENV)/.dependencies
	@command -v cargo >/dev/null || { echo "dnsrig needs Rust (cargo): see https://rustup.rs" >&2; exit 3; }
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked

demo: setup
	$(BIN)/dnsrig servers
	$(BIN)/dnsrig run denial-cost --quick --out runs

test: setup test-rust test-python

test-rust:
	$(CARGO_TEST)
	cargo test --release --locked -p dnsrig-oracle

harnesses:
	$(CARGO_TEST) --no-run

# Most tests wait for servers, so files run beside each other; TEST_WORKERS=0 runs all in one process.
TEST_WORKERS ?= 4
test-python:
	$(BIN)/pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder --durations=25

lint: setup
	cargo fmt --all --check
	cargo clippy --release --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=python:bench $(BIN)/mypy -p targets
	$(BIN)/python -m mypy.stubtest dnsrig._core --ignore-disjoint-bases
	$(BIN)/python tools/check_licences.py
	$(BIN)/python tools/write_reference.py --check

format:
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup
	$(BIN)/python tools/write_reference.py

BENCHES := load_targets sign_targets capture_targets internet_rate internet_memory "internet_cost --rate 100,250,500" \
	replay_chain "resolver_null --runs 22" verify_times
bench: setup
	@for one in $(BENCHES); do echo "bench/$$one"; $(BIN)/python bench/$$one || missed="$$missed, bench/$$one"; done; \
	test -z "$$missed" || { echo "not all is as it should be, as said above$$missed" >&2; exit 1; }

clean:
	cargo clean
	rm -rf $(VENV)
