#!/bin/sh
# Installs what the scenarios use from Debian and is not there yet. Without it those parts are skipped.
set -eu
command -v slowhttptest >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
  echo 'slowhttptest is not installed; the scenarios that use it are skipped' >&2
  exit 0
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slowhttptest >/dev/null
