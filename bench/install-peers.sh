#!/bin/sh
# Installs the servers that the benchmarks compare with, from Debian's own archive, where they are missing: nginx and haproxy,
# or those that are named (`install-peers.sh nginx haproxy passenger`). Packages whose program has another name are listed below.
# None is left running as a service: the benchmarks start their own, with their own configuration.
set -eu

[ $# -gt 0 ] || set -- nginx haproxy
missing=""
for package in "$@"; do
  program=$package
  case $package in
  varnish) program=varnishd ;;
  nghttp2-client) program=h2load ;;
  libjavascriptcoregtk-4.0-bin) program=jsc ;;
  esac
  command -v "$program" >/dev/null 2>&1 || [ -x "/usr/sbin/$program" ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "Installed: $*."
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "Missing:$missing. Install them with your system's package manager and run this again." >&2
  exit 1
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  as_root="sudo"
fi

# Debian starts a freshly installed service at once unless a policy says no. A policy that is already there stays.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
  $as_root chmod 755 "$policy"
  trap '$as_root rm -f "$policy"' EXIT
fi

$as_root apt-get update -qq
# The list of packages is meant to be split into words.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
