/**
 * Libraries that keep what they know of clients in the memory of their process: with several workers, a client's next request may go to
 * one that knows nothing of it. They are recognised as the app loads or uses them, and reported to the gateway. It brings clients back
 * to their worker where it can, and tells the operator what else to set.
 */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Control } from '../control/control.js';
import type { ToGateway } from '../control/messages.js';
import { packageOf } from '../routes/route-imports.js';
import { nextTurn } from '../timers.js';
import { afterRequire } from './after-require.js';

type Kept = Omit<Extract<ToGateway, { type: 'keeps-state' }>, 'type'>;
type Exports = Record<string, unknown>;

const MODULE =
  /[\\/]node_modules[\\/](express-session[\\/]session[\\/]memory|memorystore[\\/]lib[\\/]memorystore|faye[\\/]src[\\/]adapters[\\/]node_adapter|json-server[\\/]lib[\\/]server[\\/]router[\\/]index|@colyseus[\\/]core[\\/]build[\\/]MatchMaker)\.c?js$/;
/** A command of json-server is a module of its own packages, in which nothing can be seen. */
const JSON_SERVER = /[\\/]node_modules[\\/]json-server[\\/]/;
const MATCH_MAKER = join('build', 'MatchMaker.mjs');

/** Watches for such libraries from now on, until the process ends. */
export function reportState(control: Control, entry: string | undefined): void {
  const state = new StateReport(control);
  afterRequire((module, filename) => {
    const found = MODULE.exec(filename)?.[1];
    if (found !== undefined) state.loaded(found, module);
  });
  if (entry === undefined) return;
  if (isJsonServer(entry)) state.report({ library: 'json-server' });
  // Imported before the app's first line, it would read an environment that the app has yet to set.
  control.onOpen(() => {
    const colyseus = colyseusOf(entry);
    if (colyseus !== undefined) nextTurn(() => void importColyseus(state, colyseus));
  });
}

/** Gets the copy that the app has imported. */
async function importColyseus(state: StateReport, path: string): Promise<void> {
  try {
    state.colyseus((await import(pathToFileURL(path).href)) as Exports);
  } catch {
    // The app's own import says better what is wrong.
  }
}

class StateReport {
  readonly #control: Control;
  readonly #reported = new Set<string>();

  constructor(control: Control) {
    this.#control = control;
  }

  /** One of the modules above was loaded, `found` being the end of its path. */
  loaded(found: string, module: NodeModule): void {
    const library = /^@?[^\\/]+/.exec(found)?.[0];
    if (library === 'express-session') module.exports = this.#noting(module.exports, { library });
    else if (library === 'faye') this.#faye(module.exports);
    else if (library === '@colyseus') this.#control.onOpen(() => this.colyseus(module.exports as Exports));
    else if (library !== undefined) this.report({ library });
  }

  report(kept: Kept): void {
    const key = JSON.stringify(kept);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#control.send({ type: 'keeps-state', ...kept });
  }

  /** Reports the process id by which clients name this process, in the path of each connection to a room. */
  colyseus(exports: Exports): void {
    // It may still wait for its driver.
    void Promise.resolve(exports['onReady']).then(() => {
      const { processId, driver } = exports;
      if (typeof processId !== 'string') return;
      const isShared = Object(driver).constructor?.name !== 'LocalDriver';
      this.report({ library: 'colyseus', name: processId, ...(isShared ? { shared: true } : {}) });
    });
  }

  /** Every client of Faye loads its server as well; only an app that makes one has state. With an engine of its own, others share it. */
  #faye(exports: unknown): void {
    const prototype = (exports as { prototype?: { initialize?: unknown } } | undefined)?.prototype;
    const initialize = prototype?.initialize;
    if (prototype === undefined || typeof initialize !== 'function') return;
    const report = (options: FayeOptions | undefined): void => {
      const { engine, mount = '/bayeux' } = options ?? {};
      if (engine?.type === undefined && typeof mount === 'string') this.report({ library: 'faye', mount });
    };
    Object.assign(prototype, {
      initialize(this: object, ...given: unknown[]): unknown {
        report(given[0] as FayeOptions | undefined);
        return Reflect.apply(initialize, this, given) as unknown;
      },
    });
  }

  /** The same constructor, which reports its first use. */
  #noting(exports: unknown, kept: Kept): unknown {
    if (typeof exports !== 'function') return exports;
    return new Proxy(exports, {
      construct: (target, given, self) => {
        this.report(kept);
        return Reflect.construct(target, given, self) as object;
      },
    });
  }
}

interface FayeOptions {
  readonly mount?: unknown;
  readonly engine?: { readonly type?: unknown };
}

function isJsonServer(entry: string): boolean {
  try {
    return JSON_SERVER.test(realpathSync(entry));
  } catch {
    return false;
  }
}

/** Path of Colyseus' matchmaker as a module, if the app's script is one and its package names Colyseus. */
function colyseusOf(entry: string): string | undefined {
  const core = packageOf(entry, '@colyseus/core');
  const meta = packageOf(entry, 'colyseus');
  const folders = [
    core,
    meta && join(meta, 'node_modules', '@colyseus', 'core'),
    meta && join(dirname(meta), '@colyseus', 'core'),
  ];
  return folders.flatMap((folder) => (folder ? [join(folder, MATCH_MAKER)] : [])).find(existsSync);
}
