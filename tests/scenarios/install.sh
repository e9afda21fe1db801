#!/bin/sh
# Installs what scenarios and browser tests use from Debian and is not there yet. Without it those parts are skipped.
set -eu
missing=
for tool in slowhttptest openssl; do
  command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
done
# For tests/browser; another of these does as well.
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
[ -n "$missing" ] || exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
  # shellcheck disable=SC2086 # The names are words of their own.
  if apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null; then
    exit 0
  fi
fi
echo "not installed:$missing; the scenarios that use them are skipped" >&2
