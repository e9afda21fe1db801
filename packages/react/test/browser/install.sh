#!/bin/sh
# Installs Debian's Chromium for the hydration test where it is missing. Without it the test says so and is skipped.
set -eu
command -v chromium >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
  if apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; then
    exit 0
  fi
fi
echo "not installed: chromium; hydration in a browser is skipped" >&2
