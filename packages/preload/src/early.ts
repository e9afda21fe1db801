/**
 * Catches early calls of `listen()`. It is loaded by `--require` before everything else, because what `NODE_OPTIONS` requires
 * or imports runs before the preload. An agent that opens a server there would bind the real address, which only one of all
 * workers can have. The calls are kept until the preload takes them (`early-calls.ts`). Node's compile cache is enabled here,
 * because it serves only what is loaded afterwards. Built as CommonJS; it must not know the rest.
 */
import * as nodeModule from 'node:module';
import { Server } from 'node:net';

type Listen = (this: Server, ...parts: unknown[]) => Server;

/** Early calls, under a well-known key, because the preload is another kind of module. */
export interface Early {
  readonly calls: { readonly server: Server; readonly parts: unknown[] }[];
  /** Gives `listen()` back to Node. */
  readonly end: () => void;
}

/**
 * Maximum wait for the preload in processes that load only this file, such as threads with their own
 * options.
 */
const PRELOAD_MS_MAX = 5_000;

const key = Symbol.for('sluice.early');
const holder = globalThis as unknown as Record<symbol, Early | undefined>;

enableCompileCache(process.env['SLUICE_COMPILE_CACHE']);
if (process.env['SLUICE_SOCKET'] && process.env['SLUICE_CONTROL'] && !(key in holder)) keepCalls();

function keepCalls(): void {
  const listen = Server.prototype.listen as Listen;
  const calls: Early['calls'] = [];
  const end = (): void => {
    clearTimeout(timer);
    process.off('beforeExit', giveUp);
    Object.assign(Server.prototype, { listen });
  };
  const giveUp = (): void => {
    end();
    for (const { server, parts } of calls.splice(0)) Reflect.apply(listen, server, parts);
  };
  const timer = setTimeout(giveUp, PRELOAD_MS_MAX);
  timer.unref();
  process.once('beforeExit', giveUp);
  Object.assign(Server.prototype, {
    listen(this: Server, ...parts: unknown[]): Server {
      calls.push({ server: this, parts });
      return this;
    },
  });
  holder[key] = { calls, end };
  forgetOption();
}

/** Node.js has it from 22.1 on. It never throws: without a directory that can be used, everything is compiled. */
function enableCompileCache(directory: string | undefined): void {
  const { enableCompileCache: enable } = nodeModule as {
    enableCompileCache?: (directory: string) => unknown;
  };
  if (directory) enable?.(directory);
}

/** The app's own processes are no workers: they get the options that the user gave. */
function forgetOption(): void {
  const given = process.env['SLUICE_NODE_OPTIONS'];
  if (given === undefined) return;
  delete process.env['SLUICE_NODE_OPTIONS'];
  process.env['NODE_OPTIONS'] = given;
}
