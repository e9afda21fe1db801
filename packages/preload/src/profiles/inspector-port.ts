/**
 * Lets the inspector take a free port when the gateway opens it with SIGUSR1, to see what keeps a worker busy. Several
 * workers would else want the same port, 9229, and only one could be looked into. Nothing is opened by this.
 */
import cluster from 'node:cluster';
import { isMainThread } from 'node:worker_threads';

const PORT_DEFAULT = 9229;
/** The gateway's own option, which opens nothing either. */
const HIDES_INSPECTOR = '--inspect-publish-uid=stderr';

export function freeInspectorPort(): void {
  // Who named a port, or an inspector at all, keeps it; `--inspect-port=0` itself would break `cluster.fork()`.
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  const ofUser = given.replaceAll(HIDES_INSPECTOR, '');
  if (!isMainThread || process.debugPort !== PORT_DEFAULT || /--(inspect|debug)/.test(ofUser)) return;
  process.debugPort = 0;
  // A cluster takes any `--inspect…` for an inspector, and would give its workers ports that it counts up from 0.
  if (given !== ofUser && cluster.isPrimary) cluster.settings.inspectPort = 0;
}
