#!/usr/bin/env bash
# Runs the living room under Sluice, says where to look, and writes the player's first frame. PORT, WORKERS and ADMIN set the port, the number of
# workers and the address of the admin server.
set -euo pipefail
cd "$(dirname "$0")/../.."
port=${PORT:-3200}
admin=${ADMIN:-127.0.0.1:7584}
player=${SLUICE_PLAYER:-screens/player/target/release/sluice-player}
frame=examples/living-room/dist/first-frame.png
# The player asks the server on this port, whichever the build had.
printf '{"server":"http://127.0.0.1:%s"}' "$port" > examples/living-room/dist/server.json
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
trap 'exit 0' INT TERM
npx sluice start examples/living-room/dist/server.js --port "$port" --admin "$admin" ${WORKERS:+--workers "$WORKERS"} &
sluice=$!
for _ in $(seq 100); do
  curl --silent --fail --output /dev/null "http://127.0.0.1:$port/screen" && break
  kill -0 $sluice
  sleep 0.2
done
"$player" examples/living-room/dist/player.js --allow-net "127.0.0.1:$port" --png "$frame"
cat <<TEXT

The living room, made for a television: arrow keys, Enter, Escape for Back.

  http://localhost:$port/           in the browser, drawn by WebGL
  http://localhost:$port/?remote    the same without the app: the server renders the screen after each key
  http://localhost:$port/screen     the first screen as JSON
  http://localhost:$port/model.json the graph
  http://$admin/metrics metrics

  $frame
                                 the first frame of the native player

Keys for the player, from another terminal in this directory:

  $player examples/living-room/dist/player.js --allow-net 127.0.0.1:$port \\
    --keys "ArrowRight, ArrowRight, Enter, wait 400" --png product.png --report

Ctrl-C finishes accepted requests, then exits.

TEXT
# The script ends with Sluice.
wait $sluice
