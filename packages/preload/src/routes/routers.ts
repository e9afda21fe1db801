/**
 * Sees that the app loads a router that is known, and only then loads what notes its routes. A worker without one loads and patches
 * nothing for them. It must not know what is noted.
 */
import diagnostics from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import type { Server } from 'node:net';
import { afterRequire } from '../host/after-require.js';
import type { Catcher } from './route-catch.js';
import { importRouters } from './route-imports.js';
import type { Growth, RouteTables } from './route-tables.js';

/** Maximum number of servers whose listeners are remembered. */
const SERVERS_MAX = 10;
/** Ends of the files that have a router of Express, Koa or Hono, and some others. */
const ROUTER =
  /[\\/](?:router[\\/]index|router[\\/](?:lib[\\/])?route|express[^\\/]*[\\/]lib[\\/]application|(?:koa-)?router[\\/](?:lib[\\/]router|dist[\\/]index)|hono[\\/]dist[\\/]cjs[\\/]router[\\/][a-z-]+[\\/]router)\.js$/;

interface Loaded {
  readonly catcher: Catcher;
  readonly tables: RouteTables;
}

export class Routers {
  readonly #servers = new Set<WeakRef<Server>>();
  #modules: Modules | undefined;
  #loaded: Loaded | undefined;
  /** Whether repeated routes were looked for, which is done once. */
  #isChecked = false;

  /** Catches routers from now on, until the process ends. Resolves when those are loaded that the app `entry` imports as modules. */
  async watch(entry: string | undefined): Promise<void> {
    if (!canRequireModules) this.#modules = await importModules();
    afterRequire((module, filename) => {
      if (ROUTER.test(filename)) this.load().catcher.module(filename, module.exports);
    });
    diagnostics.subscribe('fastify.initialization', (message) => this.load().catcher.fastify(message));
    await importRouters(entry, () => this.load().catcher);
  }

  /** Notes so far. Loads what makes them, if nothing was noted yet. */
  load(): Loaded {
    if (this.#loaded === undefined) {
      const { Catcher, RouteTables } = (this.#modules ??= requireModules());
      const tables = new RouteTables();
      this.#loaded = { tables, catcher: new Catcher(tables) };
    }
    return this.#loaded;
  }

  /** A server of the app listens. */
  serves(server: Server): void {
    if (this.#servers.size < SERVERS_MAX) this.#servers.add(new WeakRef(server));
  }

  /** Returns what the app does with requests. */
  listeners(): object[] {
    return [...this.#servers].flatMap((server) => server.deref()?.listeners('request') ?? []);
  }

  /** Growth since the latest report; to be called every second from when the worker has served for one. */
  news(): Growth | undefined {
    if (this.#loaded !== undefined && !this.#isChecked) {
      this.#isChecked = true;
      void tellRepeats(this.#loaded.tables);
    }
    return this.#loaded?.tables.news();
  }
}

/** Writes lines about routes that are never reached. The first worker does so for all. */
async function tellRepeats(tables: RouteTables): Promise<void> {
  if ((process.env['NODE_APP_INSTANCE'] ?? '0') !== '0') return;
  try {
    const { repeatLines } = await import('./route-repeats.js');
    for (const line of repeatLines(tables)) process.stderr.write(`sluice: ${line}\n`);
  } catch (error) {
    process.stderr.write(`sluice: cannot look for repeated routes: ${String(error)}\n`);
  }
}

type Modules = Pick<typeof import('./route-catch.js'), 'Catcher'> &
  Pick<typeof import('./route-tables.js'), 'RouteTables'>;

/** A router's first routes are registered at once after it was loaded, so there is no time to import modules. */
const canRequireModules =
  (process.features as { readonly require_module?: boolean }).require_module === true && !warns();

/** The first versions of Node that load modules by `require` tell the app's users that they do. */
function warns(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return (major === 22 && minor < 13) || (major === 23 && minor < 5);
}

function requireModules(): Modules {
  const require = createRequire(import.meta.url);
  return {
    ...(require('./route-catch.js') as typeof import('./route-catch.js')),
    ...(require('./route-tables.js') as typeof import('./route-tables.js')),
  };
}

async function importModules(): Promise<Modules> {
  return { ...(await import('./route-catch.js')), ...(await import('./route-tables.js')) };
}
