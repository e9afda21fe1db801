/**
 * Lets the inspector take a free port when the gateway opens it with SIGUSR1, to see where a stuck worker is. Several
 * workers would else want the same port, 9229, and only one could be looked into. Nothing is opened by this.
 */
import { isMainThread } from 'node:worker_threads';

const PORT_DEFAULT = 9229;

export function freeInspectorPort(): void {
  // Who named a port, or an inspector at all, keeps it; `--inspect-port=0` itself would break `cluster.fork()`.
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  if (isMainThread && process.debugPort === PORT_DEFAULT && !/--(inspect|debug)/.test(given))
    process.debugPort = 0;
}
