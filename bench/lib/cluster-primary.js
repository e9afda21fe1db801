// The usual node:cluster setup around an app that knows nothing of it: `cluster-primary.js ENTRY WORKERS`.
import cluster from 'node:cluster';

const [, , exec, workers] = process.argv;
cluster.setupPrimary({ exec });
for (let at = 0; at < Number(workers); at++) cluster.fork();
process.on('SIGTERM', () => {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill();
  process.exit(0);
});
