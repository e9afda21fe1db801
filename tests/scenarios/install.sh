#!/bin/sh
# Installs what scenarios and browser tests use from Debian and is not there yet. Without it those parts are skipped.
set -eu
missing=
for tool in slowhttptest openssl; do
  command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
done
# For tests/browser; any of these does, as in tests/browser/chromium.ts.
[ -x "${CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
  command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
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
