#!/usr/bin/env bash
# Runs the shop under Sluice and says where to look. PORT, WORKERS and ADMIN change where and how wide.
set -euo pipefail
cd "$(dirname "$0")/../.."
port=${PORT:-3000}
admin=${ADMIN:-127.0.0.1:9090}
cat <<TEXT

The shop, one render at a time per process:

  http://localhost:$port/                 the shop
  http://localhost:$port/products         a listing of 60 cards
  http://localhost:$port/explore          a heavy page
  http://localhost:$port/api/suggest?q=oa autocomplete
  http://$admin/metrics       metrics

Try, from another terminal in this directory:

  npx sluice status
  npx sluice top
  npx sluice cache
  npx sluice logs -f --kind access
  npx sluice scale 3
  npx sluice stop

Ctrl-C finishes what was accepted, then leaves.

TEXT
exec npx sluice start examples/storefront/dist/server.js --config examples/storefront/sluice.toml --port "$port" --admin "$admin" ${WORKERS:+--workers "$WORKERS"}
