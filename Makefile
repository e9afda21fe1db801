# The one entry to every command. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CARGO := cargo
MANIFEST := gateway/Cargo.toml
# The load generator of the benchmarks, a workspace of its own.
LOAD_MANIFEST := bench/load/Cargo.toml
# The native player of @sluice/screens, another one.
PLAYER_MANIFEST := screens/player/Cargo.toml
TARGET_DIR := $(or $(CARGO_TARGET_DIR),gateway/target)
RELEASE := $(abspath $(TARGET_DIR)/release/sluice)
STARTED := $(abspath $(TARGET_DIR)/start/sluice)
TSX := node_modules/.bin/tsx
# One file more at once than there are CPUs: much of a test is waiting, and some measure shares of CPU time.
NODE_TEST := node --import tsx --test --test-reporter=spec --test-concurrency=$(shell node -p 'os.availableParallelism() + 1')

# What users get. Benchmarks run it, and `make test-long`.
export SLUICE_BINARY := $(RELEASE)

## build: everything that `npx sluice` and the example need
.PHONY: build
build: binary-release
	@$(call named_for_npx,$(RELEASE))

# `npx sluice` in this repository runs the binary that was built last by `make build` or `make start`.
named_for_npx = platform=packages/sluice/platform/$$(node -p 'process.platform+"-"+process.arch') && mkdir -p $$platform && ln -sf $(1) $$platform/sluice

# The binary has the dashboard in it, so the packages come first. Its other crates need none, and can be built beside them.
profiles := release start dev
.PHONY: $(profiles:%=binary-%) $(profiles:%=crates-%)
$(profiles:%=binary-%): binary-%: packages crates-%
	$(CARGO) build --profile $* --locked --manifest-path $(MANIFEST) --bin sluice

$(profiles:%=crates-%): crates-%:
	$(CARGO) build --profile $* --locked --manifest-path $(MANIFEST) --lib

.PHONY: packages
packages: node_modules/.package-lock.json
	npm run build --workspaces --if-present --silent

node_modules/.package-lock.json: package-lock.json package.json
	npm ci --include=dev --no-audit --no-fund
	@touch $@

# Programs that check, serve and release the packages; apart, because only releases and their tests need them.
packaging/node_modules/.package-lock.json: packaging/package-lock.json
	npm ci --include=dev --prefix packaging --no-audit --no-fund
	@touch $@

# Programs that Python's registry has, with a folder of their own: packaging/tools/NAME.txt.
packaging/.tools/%: packaging/tools/%.txt
	python3 -m venv packaging/.tools
	packaging/.tools/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# No package manager has it. Compiling it takes a minute.
packaging/.tools/bin/cargo-fuzz:
	$(CARGO) install --quiet --locked --root packaging/.tools --target-dir packaging/.tools/target cargo-fuzz@0.13.2

# Programs of Go's modules, each with a module of its own, packaging/tools/NAME/go.mod. The first build takes long, above all that of the
# apiserver; then Go's cache has everything.
packaging/.tools/bin/helm: packaging/tools/helm/go.mod packaging/tools/helm/go.sum
packaging/.tools/bin/kube-apiserver: packaging/tools/kubernetes/go.mod packaging/tools/kubernetes/go.sum
packaging/.tools/bin/helm packaging/.tools/bin/kube-apiserver:
	mkdir -p $(@D)
	cd $(<D) && go build -trimpath -mod=readonly -o $(abspath $(@D))/ tool
	@touch $@

# What @sluice/react is measured against.
bench/react/node_modules/.package-lock.json: bench/react/package-lock.json
	npm ci --include=dev --prefix bench/react --no-audit --no-fund
	@touch $@

## player: the native player of @sluice/screens, screens/player/target/release/sluice-player; ARGS="--features window" for one with a window
.PHONY: player
player:
	$(CARGO) build --release --locked --manifest-path $(PLAYER_MANIFEST) $(ARGS)

## start: install, build, and run the example shop; PORT=… and WORKERS=… set the port and the number of workers
.PHONY: start
start: export SLUICE_BINARY := $(STARTED)
start:
	@$(MAKE) --no-print-directory --jobs=2 binary-start
	@$(call named_for_npx,$(STARTED))
	@examples/storefront/start.sh

## living-room: install, build, and run the television app on http://localhost:3200; its first frame on the player goes into dist
.PHONY: living-room
living-room: build
	$(CARGO) build --release --locked --manifest-path screens/player/Cargo.toml
	PORT=$${PORT:-3200} $(TSX) examples/living-room/scripts/build.ts
	@examples/living-room/start.sh

## demo-load: visitors for the shop that `make start` runs, so that `sluice top` comes alive; VISITORS=…, URL=…
.PHONY: demo-load
demo-load: node_modules/.package-lock.json
	@$(TSX) examples/storefront/scripts/demo-load.ts $(if $(URL),--url $(URL)) $(if $(VISITORS),--visitors $(VISITORS))

# Tests and lints share one build, the dev profile: it finds overflows and broken assertions, and is soon there again.
TESTED := dev
TESTS := quick test test-rust test-node test-scenario test-react check lint
$(TESTS): export SLUICE_BINARY := $(abspath $(TARGET_DIR)/$(TESTED:dev=debug)/sluice)
# One seed for every test of chance, in both languages: always the same, but in `make test-long`.
$(TESTS): export SLUICE_SEED ?= 20250101
$(TESTS): export PROPTEST_RNG_SEED = $(SLUICE_SEED)

# Test files below these folders, by a part of their names; *.slow.test.ts belong to `make test-long`.
tests = $(shell find $(1) \( -name node_modules -o -name frameworks \) -prune -o \( -name '$(2).test.ts' -o -name '$(2).test.tsx' \) -print | sort)
short = $(filter-out %.slow.test.ts %.slow.test.tsx,$(call tests,$(1),*))
slow = $(call tests,$(1),*.slow)
named = $(or $(call tests,$(1),*$(F)*),$(error no test in $(1) has "$(F)" in its name))

CARGO_TEST := $(CARGO) test --locked --quiet --manifest-path $(MANIFEST)
# Rust that does no input or output.
PURE := catalog http1 message scheduler dispatch classes journal sketch history

## quick: what to run before each commit: types, lints, formats, unit tests, 1,000 React trees, a few scenarios; two minutes
.PHONY: quick
quick: export SLUICE_SIM_DAYS := 1000
quick: lint
	$(CARGO_TEST) $(patsubst gateway/%/Cargo.toml,-p sluice_%,$(wildcard $(PURE:%=gateway/%/Cargo.toml)))
	$(NODE_TEST) $(filter-out %.slow.test.ts,$(wildcard packages/*/test/*.test.ts tests/docs/*.test.ts tests/support/*.test.ts)) $$(grep -l '^// Part of `make quick`' tests/scenarios/*.test.ts)
	cd packages/react && node --import tsx test/differential/run.ts --trees 1000 --seed $$SLUICE_SEED

## test: install, build, and run every test that fits into a coffee break
.PHONY: test
test: test-rust test-node
	@echo "make test: all suites passed"

.PHONY: test-rust
test-rust:
	$(CARGO_TEST) --workspace
	$(CARGO) test --locked --quiet --manifest-path $(LOAD_MANIFEST)
	$(CARGO) test --locked --quiet --manifest-path $(PLAYER_MANIFEST)

.PHONY: test-node
test-node: packages packaging/node_modules/.package-lock.json binary-$(TESTED)
	tests/scenarios/install.sh
	node --import tsx tests/support/run.ts $(call short,packages examples tests bench)

## test-scenario: the scenarios with F in their names: make test-scenario F=drain
.PHONY: test-scenario
test-scenario: packages binary-$(TESTED)
	$(NODE_TEST) --test-concurrency=1 $(call named,tests/scenarios)

## test-react: the tests of @sluice/react with F in their names: make test-react F=cached
.PHONY: test-react
test-react: packages
	$(NODE_TEST) $(call named,packages/react/test)

## test-long: the same on the binary that users get, with every framework, the slow tests, and a seed of its own
.PHONY: test-long
test-long: export SLUICE_TEST_LONG := 1
test-long: export SLUICE_SIM_DAYS := 100000
test-long: export SLUICE_RELEASES := 1000
test-long: export SLUICE_SEED := $(or $(SLUICE_SEED),$(shell echo $$((RANDOM * 32768 + RANDOM))))
test-long: build check-bench
	@echo "replay with: make test-long SLUICE_SEED=$$SLUICE_SEED"
	$(MAKE) test TESTED=release
	$(TSX) packages/compiler/test/support/install.ts
	$(MAKE) packaging/.tools/bin/helm packaging/.tools/bin/kube-apiserver || echo "NOT tested: the chart, because Go cannot build helm and kube-apiserver"
	$(NODE_TEST) --test-concurrency=1 $(call slow,packages tests)

## check: formatters, lints, types, stale generated files, licences and audits of dependencies
.PHONY: check
check: lint notices audit audit-crates

.PHONY: notices
notices: node_modules/.package-lock.json
	$(TSX) packaging/notices.ts --check

.PHONY: lint
lint: packages binary-dev
	$(CARGO) fmt --manifest-path $(MANIFEST) --all --check
	$(CARGO) clippy --quiet --locked --manifest-path $(MANIFEST) --workspace --all-targets -- -D warnings
	$(CARGO) fmt --manifest-path $(LOAD_MANIFEST) --check
	$(CARGO) clippy --quiet --locked --manifest-path $(LOAD_MANIFEST) --all-targets -- -D warnings
	$(CARGO) fmt --manifest-path $(PLAYER_MANIFEST) --check
	$(CARGO) clippy --quiet --locked --manifest-path $(PLAYER_MANIFEST) --all-targets -- -D warnings
	$(SLUICE_BINARY) generate . --check
	$(TSX) screens/generate.ts --check
	npm run --silent format:check
	npm run --silent lint
	$(TSX) tests/prose/run.ts
	$(TSX) tests/conformance/locks.ts --check
	npm run --silent --workspace docs site
	npm run typecheck --workspaces --if-present --silent
	for project in tests/*/tsconfig.json packaging/tsconfig.json bench/tsconfig.json bench/render/tsconfig.json; do node_modules/.bin/tsc -p $$project --noEmit || exit 1; done

## site: build the site from docs/ into docs/dist, without the network; a dead link fails. ARGS=dev serves it while you write
.PHONY: site
site: node_modules/.package-lock.json
	npm run --silent --workspace docs site$(if $(ARGS),:$(ARGS))

## prose: the writing rules in docs, help, errors and doc comments; ARGS="--list guide/" for some pages
.PHONY: prose
prose: node_modules/.package-lock.json
	$(TSX) tests/prose/run.ts $(ARGS)

# The registry may be out of reach, which is no fault of a change.
.PHONY: audit
audit:
	@audit="npm audit --omit=dev --audit-level=high --fetch-retries=0 --fetch-timeout=20000"; \
	report=$$($$audit --json) || true; \
	if grep -q auditReportVersion <<< "$$report"; then $$audit; else echo "NOT audited: npm's registry gave no answer"; fi

# Licences, sources and banned crates need no network, except for the tool itself. Advisories are a repository that may be out of reach.
DENY := cargo-deny --manifest-path $(MANIFEST) --config gateway/deny.toml --locked --log-level error
DENY_PLAYER := cargo-deny --manifest-path $(PLAYER_MANIFEST) --config screens/player/deny.toml --all-features --locked --log-level error
.PHONY: audit-crates
audit-crates:
	@command -v cargo-deny > /dev/null || $(MAKE) --silent packaging/.tools/deny || echo "NOT audited: cargo-deny cannot be installed"
	@export PATH="$(abspath packaging/.tools/bin):$$PATH"; command -v cargo-deny > /dev/null || exit 0; \
	$(DENY) check --hide-inclusion-graph licenses bans sources; \
	$(DENY_PLAYER) check --hide-inclusion-graph licenses bans sources; \
	export GIT_HTTP_LOW_SPEED_LIMIT=1000 GIT_HTTP_LOW_SPEED_TIME=30; \
	if report=$$($(DENY) check advisories 2>&1 && $(DENY_PLAYER) check advisories 2>&1); then echo "$$report"; \
	elif grep -q 'failed to fetch advisory database' <<< "$$report"; then echo "NOT audited: the database of advisories gave no answer"; \
	else echo "$$report"; exit 1; fi

# The types of React's bench need a gigabyte of what it compares with.
.PHONY: check-bench
check-bench: packages bench/react/node_modules/.package-lock.json
	node_modules/.bin/tsc -p bench/react/tsconfig.json --noEmit

## generate: write the reference pages, the schema and the types from the catalogue and the sources
.PHONY: generate
generate: binary-dev
	$(abspath $(TARGET_DIR))/debug/sluice generate .
	$(TSX) screens/generate.ts
	$(TSX) tests/docs/tables.ts
	$(TSX) tests/docs/decisions.ts
	$(TSX) tests/docs/comparison.ts
	$(TSX) packaging/notices.ts

## format: rewrite the sources as the formatters want them
.PHONY: format
format: node_modules/.package-lock.json
	$(CARGO) fmt --manifest-path $(MANIFEST) --all
	$(CARGO) fmt --manifest-path $(LOAD_MANIFEST)
	$(CARGO) fmt --manifest-path $(PLAYER_MANIFEST)
	npm run --silent format
	$(TSX) tests/conformance/locks.ts

## fuzz: the fuzz targets of the codecs and of the exchange, from their seeds; SECONDS_EACH=… instead of a minute, F=chunked for one
.PHONY: fuzz
fuzz:
	@command -v cargo-fuzz > /dev/null || $(MAKE) --silent packaging/.tools/bin/cargo-fuzz
	@export PATH="$$PATH:$(abspath packaging/.tools/bin)" RUSTC_BOOTSTRAP=1; cd gateway/fuzz; \
	for target in $(or $(F),request_head response_head chunked rewritten_request exchange proxy_header); do \
		mkdir -p corpus/$$target; \
		$(CARGO) fuzz run -s none $$target corpus/$$target $$(find seeds -name $$target) -- \
			-dict=http1.dict -max_total_time=$(or $(SECONDS_EACH),60); done

## fuzz-react: random trees through the renderer and another React; REACT=canary or 19.4.0, ARGS="--trees 20000 --seed 7"
.PHONY: fuzz-react
fuzz-react: packages
	cd packages/react && node --import tsx test/differential/against.ts $(or $(REACT),latest) $(ARGS)

## bench-serve: storefront and trivial handler through Sluice, nginx + HAProxy, HAProxy, node:cluster; ARGS="--app trivial" for one
.PHONY: bench-serve
bench-serve: build
	bench/install-peers.sh
	$(TSX) bench/serve.ts $(ARGS)

## bench-NAME: one of render5ms overload slow-clients slow-readers memory overlap answers storefront own-cpu attribution tail-profiles hotspots dashboard everything-on preload breathe scale shared-cache composed front; ARGS=--quick for a short one
.PHONY: bench-render5ms bench-overload bench-slow-clients bench-slow-readers bench-memory bench-overlap bench-answers bench-storefront bench-own-cpu bench-attribution bench-tail-profiles bench-hotspots bench-dashboard bench-everything-on bench-preload bench-breathe bench-scale bench-sync-runs bench-shared-cache bench-composed bench-waiting bench-visitors bench-front
bench-render5ms bench-overload bench-slow-clients bench-slow-readers bench-memory bench-overlap bench-answers bench-storefront bench-own-cpu bench-attribution bench-tail-profiles bench-hotspots bench-dashboard bench-everything-on bench-preload bench-breathe bench-scale bench-sync-runs bench-shared-cache bench-composed bench-waiting bench-visitors bench-front: bench-%: build
	$(TSX) bench/$*.ts $(ARGS)

## bench-faults: failures per kill, reload and loop, against nginx + HAProxy, Passenger, PM2, node:cluster; 25 minutes; ARGS="--mode kills" for one bar
.PHONY: bench-faults
bench-faults: build
	bench/install-peers.sh nginx haproxy passenger
	$(TSX) bench/faults.ts $(ARGS)

## bench-schedule: short requests beside long ones, against nginx, HAProxy, Passenger, Watt, PM2, node:cluster; ARGS="--mode waiting" and others
.PHONY: bench-schedule
bench-schedule: build
	bench/install-peers.sh nginx haproxy passenger
	$(TSX) bench/schedule.ts $(ARGS)

## bench-cache: hits, joined misses, hit ratio and p99 of the page cache, against Varnish and nginx; ARGS="--mode hits" for one of them
.PHONY: bench-cache
bench-cache: build
	bench/install-peers.sh nginx varnish hitch nghttp2-client
	$(TSX) bench/cache.ts $(ARGS)

## bench-render: a page of 60 boxes against Express, Next.js and rendering threads; ARGS="--mode browser" for batch, bad-box, components, times or browser
.PHONY: bench-render
bench-render: build
	$(TSX) bench/render.ts $(ARGS)

## bench-graph: the model of a graph against Falcor, its router against falcor-router and graphql-js with DataLoader; ARGS=--quick for a short one
.PHONY: bench-graph
bench-graph: packages
	$(TSX) bench/graph.ts $(ARGS)
	$(TSX) bench/graph-router.ts $(ARGS)

## bench-react: renders of React pages, against react-dom and other libraries; ARGS="--only listing,libraries" for some
.PHONY: bench-react
bench-react: packages
	NODE_ENV=production $(TSX) bench/react.ts $(ARGS)

## bench-screens: keys, first screens and props through 100 wrappers on engines that interpret, against react-reconciler, Preact, Solid and LightningJS; a list of 10⁵ in Chromium; ARGS=--quick
.PHONY: bench-screens
bench-screens: packages player
	bench/install-peers.sh libjavascriptcoregtk-4.0-bin chromium
	$(TSX) bench/screens.ts $(ARGS)
	QUICKJS=screens/player/target/release/sluice-player $(TSX) bench/screens/wrappers.ts
	$(TSX) bench/screens/scroll.ts $(ARGS)

## dist: binaries that this machine can build, tarballs of the packages, bill of materials and checksums, in dist/
.PHONY: dist
dist:
	$(MAKE) dist-binaries
	$(MAKE) dist-packages

## dist-binaries: binaries alone, in dist/binaries/; PLATFORMS="linux-x64" for some
.PHONY: dist-binaries
dist-binaries: packages
	$(MAKE) packaging/.tools/zig
	PATH="$(abspath packaging/.tools/bin):$$PATH" $(TSX) packaging/binaries.ts $(PLATFORMS)

## test-dist: scenarios and installs with the binary of dist/binaries/ for this machine
.PHONY: test-dist
test-dist: export SLUICE_BINARY := $(abspath dist/binaries/$(shell node -p 'process.platform+"-"+process.arch')/sluice)
test-dist: export SLUICE_SEED ?= 20250101
test-dist: packages packaging/node_modules/.package-lock.json
	tests/scenarios/install.sh
	$(NODE_TEST) $(call short,tests/scenarios tests/packaging)

## dist-packages: the rest of dist/, from the binaries in dist/binaries/; ARGS=--complete wants those of every platform
.PHONY: dist-packages
dist-packages: packages
	$(TSX) packaging/dist.ts $(ARGS)

## publish: what is in dist/ to npm, with provenance; ARGS=--dry-run to see it
.PHONY: publish
publish:
	$(TSX) packaging/publish.ts $(ARGS)

## version: give the packages and the gateway the next version, by the files in .changeset/
.PHONY: version
version: packages packaging/node_modules/.package-lock.json
	$(TSX) packaging/version.ts

## clean: remove what was built
.PHONY: clean
clean:
	$(CARGO) clean --manifest-path $(MANIFEST)
	$(CARGO) clean --manifest-path $(PLAYER_MANIFEST)
	rm -rf dist packages/*/dist examples/*/dist node_modules packaging/node_modules packaging/.tools

## help: this list
.PHONY: help
help:
	@grep -E '^## ' $(MAKEFILE_LIST) | sed -E 's/^## ([^:]+): /  \1\t/' | expand -t 22
