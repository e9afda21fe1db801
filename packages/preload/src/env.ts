/** Settings that the gateway gives a worker through its environment. Nothing else in the preload reads the environment. */

export interface Settings {
  /** Unique id of this worker, never reused. */
  readonly worker: number;
  /** Unix socket on which the app's main HTTP server must listen. */
  readonly socketPath: string;
  /** Unix socket of the gateway's control channel. */
  readonly controlPath: string;
  /** Number of requests that the app may hold at once; Infinity for no limit. */
  readonly concurrency: number;
  /** True if it holds more than one only while those that it has wait. */
  readonly isWhileWaiting: boolean;
  /** The gateway's own port, which the app takes for its own. */
  readonly portPublic: number;
  /** Another port whose server is the main one: as the config says, or as the worker before found out; 0 for none. */
  readonly mainPort: number;
  /** Time for which a server elsewhere waits for one on a port that is meant; Infinity if the config names the port. */
  readonly mainWait_ms: number;
  /** Whether connections to the gateway's port are refused until the app listens: no other host answers there. */
  readonly refusesEarly: boolean;
  /** File that names what this process has loaded, while the app is being developed. */
  readonly loadedPath: string | undefined;
  /** Whether `@sluice/react` renders what the app asks react-dom for. */
  readonly rendersFast: boolean;
  /** Whether the gateway keeps pages, and wants to know the tags of their parts. */
  readonly keepsPages: boolean;
  /** Whether the CPU time of requests that share the worker is measured; benchmarks compare with a worker that does not. */
  readonly measuresShared: boolean;
  /** Whether uninterrupted runs are counted; benchmarks compare with a worker that counts none. */
  readonly watchesRuns: boolean;
}

/** Returns undefined outside a worker, where the preload has nothing to do. */
export function readSettings(env: NodeJS.ProcessEnv): Settings | undefined {
  const socketPath = env['SLUICE_SOCKET'];
  const controlPath = env['SLUICE_CONTROL'];
  if (!socketPath || !controlPath) return undefined;
  return {
    worker: readInteger(env['SLUICE_WORKER'], 0),
    socketPath,
    controlPath,
    concurrency: readInteger(env['SLUICE_CONCURRENCY'], 1) || Infinity,
    isWhileWaiting: env['SLUICE_WHILE_WAITING'] === '1',
    portPublic: readInteger(env['SLUICE_PORT_PUBLIC'] ?? env['PORT'], 0),
    mainPort: readInteger(env['SLUICE_MAIN_PORT'], 0),
    mainWait_ms:
      env['SLUICE_MAIN_WAIT_MS'] === 'never' ? Infinity : readInteger(env['SLUICE_MAIN_WAIT_MS'], 3000),
    refusesEarly: env['SLUICE_REFUSES_EARLY'] !== '0',
    loadedPath: env['SLUICE_LOADED'],
    rendersFast: env['SLUICE_REACT'] === 'fast',
    keepsPages: env['SLUICE_PAGES'] === '1',
    measuresShared: env['SLUICE_MEASURES_SHARED'] !== '0',
    watchesRuns: env['SLUICE_WATCHES_RUNS'] !== '0',
  };
}

function readInteger(text: string | undefined, fallback: number): number {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return fallback;
  return Number(text);
}
