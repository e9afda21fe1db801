# The one entry to every command. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CARGO := cargo
MANIFEST := gateway/Cargo.toml
TARGET_DIR := $(or $(CARGO_TARGET_DIR),gateway/target)
BINARY := $(TARGET_DIR)/release/sluice
TSX := node_modules/.bin/tsx
NODE_TEST := node --import tsx --test

export SLUICE_BINARY := $(abspath $(BINARY))

## build: everything that `npx sluice` and the example need
.PHONY: build
build: binary packages

.PHONY: binary
binary:
	$(CARGO) build --release --locked --manifest-path $(MANIFEST) --bin sluice
	@platform=packages/sluice/platform/$$(node -p 'process.platform+"-"+process.arch') && mkdir -p $$platform && ln -sf $(abspath $(BINARY)) $$platform/sluice

.PHONY: packages
packages: node_modules/.package-lock.json
	npm run build --workspaces --if-present --silent

node_modules/.package-lock.json: package-lock.json package.json
	npm ci --include=dev --no-audit --no-fund
	@touch $@

# What @sluice/react is measured against.
bench/react/node_modules/.package-lock.json: bench/react/package-lock.json
	npm ci --include=dev --prefix bench/react --no-audit --no-fund
	@touch $@

## start: install, build, and run the example shop; PORT=… and WORKERS=… change where and how wide
.PHONY: start
start: build
	@examples/storefront/start.sh

## test: install, build, and run every test that fits into a coffee break
.PHONY: test
test: build test-rust test-packages test-gateway test-conformance
	@echo "make test: all suites passed"

.PHONY: test-rust
test-rust:
	$(CARGO) test --profile checked --locked --quiet --manifest-path $(MANIFEST) --workspace

.PHONY: test-packages
test-packages: packages
	npm run typecheck --workspaces --if-present --silent
	npm run test --workspaces --if-present --silent

.PHONY: test-gateway
test-gateway: build
	tests/scenarios/install.sh
	$(NODE_TEST) --test-concurrency=2 tests/support/*.test.ts tests/docs/*.test.ts tests/strictness/*.test.ts tests/scenarios/*.test.ts bench/*/*.test.ts

.PHONY: test-conformance
test-conformance: build
	$(NODE_TEST) --test-concurrency=1 tests/conformance/*.test.ts

## test-long: the same with every framework, more seeds and the slow scenarios
.PHONY: test-long
test-long: export SLUICE_TEST_LONG := 1
test-long: export SLUICE_SIM_SEEDS := 100000
test-long: test
	npm run test:long --workspaces --if-present --silent

## check: formatters, lints, types, stale generated files, audits of dependencies
.PHONY: check
check: packages bench/react/node_modules/.package-lock.json
	$(CARGO) fmt --manifest-path $(MANIFEST) --all --check
	$(CARGO) clippy --release --locked --manifest-path $(MANIFEST) --workspace --all-targets -- -D warnings
	$(CARGO) run --release --quiet --locked --manifest-path $(MANIFEST) --bin sluice -- generate . --check
	npm run --silent format:check
	npm run --silent lint
	npm run typecheck --workspaces --if-present --silent
	for project in tests/*/tsconfig.json bench/tsconfig.json bench/react/tsconfig.json; do node_modules/.bin/tsc -p $$project --noEmit || exit 1; done
	npm audit --omit=dev --audit-level=high || echo "check: npm's registry answered no audit, or found something (above)"

## generate: write the reference pages, the schema and the types from the catalogue and the sources
.PHONY: generate
generate: binary node_modules/.package-lock.json
	$(BINARY) generate .
	$(TSX) tests/docs/tables.ts

## format: rewrite the sources as the formatters want them
.PHONY: format
format: node_modules/.package-lock.json
	$(CARGO) fmt --manifest-path $(MANIFEST) --all
	npm run --silent format

## fuzz: the four fuzz targets of the codec, a minute each (needs cargo-fuzz)
.PHONY: fuzz
fuzz:
	cd gateway/fuzz && for target in request_head response_head chunked rewritten_request; do \
		RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run -s none $$target -- -max_total_time=$(or $(SECONDS_EACH),60); done

## bench-serve: storefront and trivial handler through Sluice, nginx + HAProxy, HAProxy, node:cluster; ARGS="--app trivial" for one
.PHONY: bench-serve
bench-serve: build
	bench/install-peers.sh
	$(TSX) bench/serve.ts $(ARGS)

## bench-NAME: one of render5ms overload slow-clients slow-readers memory overlap answers storefront own-cpu attribution; ARGS=--quick for a short one
.PHONY: bench-render5ms bench-overload bench-slow-clients bench-slow-readers bench-memory bench-overlap bench-answers bench-storefront bench-own-cpu bench-attribution
bench-render5ms bench-overload bench-slow-clients bench-slow-readers bench-memory bench-overlap bench-answers bench-storefront bench-own-cpu bench-attribution: bench-%: build
	$(TSX) bench/$*.ts $(ARGS)

## bench-faults: kills, loops and reloads through Sluice, nginx + HAProxy, PM2; ARGS="--mode kills" for one bar
.PHONY: bench-faults
bench-faults: build
	bench/install-peers.sh
	$(TSX) bench/faults.ts $(ARGS)

## bench-schedule: short requests beside long ones, against nginx, HAProxy, Passenger, Watt, PM2, node:cluster; ARGS="--mode waiting" and others
.PHONY: bench-schedule
bench-schedule: build
	bench/install-peers.sh nginx haproxy passenger
	$(TSX) bench/schedule.ts $(ARGS)

## bench-react: renders of React pages, against react-dom and other libraries; ARGS="--only listing,libraries" for some
.PHONY: bench-react
bench-react: packages
	NODE_ENV=production $(TSX) bench/react.ts $(ARGS)

## clean: remove what was built
.PHONY: clean
clean:
	$(CARGO) clean --manifest-path $(MANIFEST)
	rm -rf packages/*/dist examples/*/dist node_modules

## help: this list
.PHONY: help
help:
	@grep -E '^## ' $(MAKEFILE_LIST) | sed -E 's/^## ([^:]+): /  \1\t/' | expand -t 22
