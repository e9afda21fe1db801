// @ts-check
/**
 * Keeps what the user has Node.js do to the app out of this process. `NODE_OPTIONS` reaches every program that Node.js runs: an
 * agent that it preloads would take here the port that the workers need, and an inspector would. See decision 0123.
 */
import { Server } from 'node:net';

/** Variables by which Node.js does more than run a program. */
const FOR_THE_APP = ['NODE_OPTIONS', 'NODE_V8_COVERAGE'];
/** Carries their values from a process that starts over, as JSON. */
const KEPT = 'SLUICE_SHIM_ENV';

/**
 * Starts this process over without them where Node.js can do that, else takes back what preloads have begun.
 *
 * @returns {Promise<NodeJS.ProcessEnv>} the environment for the gateway, as the user gave it
 */
export async function standApart() {
  const { [KEPT]: kept, ...env } = process.env;
  if (kept !== undefined) return { ...env, ...JSON.parse(kept) };
  if (!FOR_THE_APP.some((name) => env[name])) return env;
  // Plug'n'Play is a preload too, without which no package is found.
  // A parent that sends messages would lose its channel.
  if (process.versions['pnp'] === undefined && process.send === undefined) startOver(env);
  await takeBack();
  return env;
}

/**
 * Returns only where there is no `process.execve`: before Node.js 22.15.
 *
 * @param {NodeJS.ProcessEnv} env
 */
function startOver(env) {
  const { execve } =
    /** @type {{ execve?: (file: string, args: string[], env: NodeJS.ProcessEnv) => never }} */ (process);
  if (execve === undefined) return;
  const given = Object.entries(env);
  const isForTheApp = (/** @type {[string, unknown]} */ [name]) => FOR_THE_APP.includes(name);
  const kept = Object.fromEntries(given.filter(isForTheApp));
  const plain = Object.fromEntries(given.filter((entry) => !isForTheApp(entry)));
  execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...plain,
    [KEPT]: JSON.stringify(kept),
  });
}

/**
 * Frees the ports that preloads hold, refuses them others, and removes their handlers of signals, which would end this process.
 * Two names of Node.js in it are not documented; both are there in every version that cannot start over.
 */
async function takeBack() {
  const { _getActiveHandles: handles } = /** @type {{ _getActiveHandles?: () => unknown[] }} */ (
    /** @type {unknown} */ (process)
  );
  for (const handle of handles?.() ?? []) if (handle instanceof Server) handle.close();
  // Every `listen()` ends in it, those that look up a name a little later.
  Object.assign(Server.prototype, { _listen2: () => {} });
  for (const event of process.eventNames()) {
    if (typeof event === 'string' && event.startsWith('SIG')) process.removeAllListeners(event);
  }
  if (/--inspect/.test(process.env['NODE_OPTIONS'] ?? '')) (await import('node:inspector')).close();
}
