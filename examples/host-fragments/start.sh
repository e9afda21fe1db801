#!/usr/bin/env bash
# Runs Sluice with the components, and the shop in Python in front of it. PORT and HOST_PORT change where.
set -euo pipefail
cd "$(dirname "$0")/../.."
port=${PORT:-3000}
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
trap 'exit 0' INT TERM
npx sluice start examples/host-fragments/dist/server.js --config examples/host-fragments/sluice.toml --port "$port" &
SLUICE_URL="http://127.0.0.1:$port/batch" CLIENT_URL="http://localhost:$port/assets/client.js" PORT=${HOST_PORT:-8000} \
  python3 examples/host-fragments/host/app.py &
# The shop stays when Sluice leaves.
wait $!
