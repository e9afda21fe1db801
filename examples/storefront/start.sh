#!/usr/bin/env bash
# Runs the shop under Sluice with its service of suggestions, and prints URLs. PORT, WORKERS and ADMIN set the port, the number of workers
# and the admin address; SUGGESTIONS_PORT sets the port of the service.
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

Ctrl-C finishes accepted requests, then exits.

TEXT
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
trap 'exit 0' INT TERM
PORT=$suggestions node examples/storefront/dist/suggestions.js &
STOREFRONT_SUGGESTIONS="http://127.0.0.1:$suggestions/batch" \
  npx sluice start examples/storefront/dist/server.js --config examples/storefront/sluice.toml --port "$port" --admin "$admin" ${WORKERS:+--workers "$WORKERS"} &
# The script ends with Sluice, and the service with the script.
wait $!
