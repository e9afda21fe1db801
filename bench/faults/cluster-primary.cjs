// The primary of node:cluster as a careful user writes it: a worker that ends is forked again at once, and SIGUSR2 replaces one after
// the other, the new one before the old one leaves.
//
//   node cluster-primary.cjs ENTRY WORKERS
'use strict';

const cluster = require('node:cluster');
const events = require('node:events');

const [entry, workers] = process.argv.slice(2);
const leaving = new Set();

cluster.setupPrimary({ exec: entry });

function fork(place) {
  const worker = cluster.fork({ NODE_APP_INSTANCE: String(place) });
  worker.place = place;
  worker.once('exit', () => {
    if (!leaving.delete(worker)) fork(place);
  });
  return worker;
}

async function reload() {
  for (const before of Object.values(cluster.workers)) {
    if (leaving.has(before) || before.isDead()) continue;
    const after = fork(before.place);
    await events.once(after, 'listening');
    leaving.add(before);
    // Of both messages the app takes the one that it knows; `disconnect` closes its servers.
    before.disconnect();
    before.process.kill('SIGTERM');
  }
}

for (let place = 0; place < Number(workers); place += 1) fork(place);
process.on('SIGUSR2', () => void reload());
process.on('SIGTERM', () => {
  for (const worker of Object.values(cluster.workers)) worker.process.kill();
  process.exit(0);
});
