#!/usr/bin/env bash
# Runs the shop under Sluice, its service of suggestions beside it, and says where to look. PORT, WORKERS and ADMIN change where and
# how wide, SUGGESTIONS_PORT where the service is.
set -euo pipefail
cd "$(dirname "$0")/../.."
port=${PORT:-3000}
admin=${ADMIN:-127.0.0.1:7584}
suggestions=${SUGGESTIONS_PORT:-3100}
cat <<TEXT

The shop, one render at a time per process:

  http://localhost:$port/                 the shop
  http://localhost:$port/products         a listing of 60 cards
  http://localhost:$port/shelf            the same from a tree of 60 components; ?fail=1 has one fail
  http://localhost:$port/explore          a heavy page
  http://localhost:$port/api/suggest?q=oa autocomplete
  http://$admin/metrics       metrics

Try, from another terminal in this directory:

  make demo-load
  npx sluice status
  npx sluice top
  npx sluice cache
  npx sluice dial Reviews 0%
  npx sluice logs -f --kind access
  npx sluice scale 3
  npx sluice stop

Ctrl-C finishes what was accepted, then leaves.

TEXT
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
trap 'exit 0' INT TERM
PORT=$suggestions node examples/storefront/dist/suggestions.js &
STOREFRONT_SUGGESTIONS="http://127.0.0.1:$suggestions/batch" \
  npx sluice start examples/storefront/dist/server.js --config examples/storefront/sluice.toml --port "$port" --admin "$admin" ${WORKERS:+--workers "$WORKERS"} &
# The script ends with Sluice, and the service with the script.
wait $!
