/**
 * The app as it is, and changes of its files in the browser and on the server without a restart. Modules of the app are evaluated again when they,
 * or what they import, have changed.
 */
import type { InlineConfig, ViteDevServer } from 'vite';
import { startDevServer, type DevApp, type DevListener, type DevServer } from './start.js';

export type { DevApp, DevListener, DevServer } from './start.js';

export interface DevOptions {
  /** A module of the app from Vite's root, `/server/app.ts`, whose default export is made by `AppFactory`. */
  readonly entry: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Default: `localhost`. */
  readonly host?: string;
  /** Root and further config of Vite. `vite.config` of the root is read as well, and has the plugin. */
  readonly vite?: InlineConfig;
}

/** Export of the entry: called once for each time that it is evaluated. */
export type AppFactory = (dev: DevApp) => DevListener | Promise<DevListener>;

export async function createDevServer({ entry, ...options }: DevOptions): Promise<DevServer> {
  return startDevServer({ ...options, app: (dev, vite) => appOf(vite, entry, dev) });
}

/** The listener of the entry as it is now; made again only when the entry was evaluated again. */
function appOf(vite: ViteDevServer, entry: string, dev: DevApp): () => Promise<DevListener> {
  let of: unknown;
  let listener: Promise<DevListener> | undefined;
  return async () => {
    const module = (await vite.ssrLoadModule(entry)) as { default?: AppFactory };
    if (typeof module.default !== 'function')
      throw new TypeError(`${entry} must export a function as default`);
    if (listener === undefined || of !== module.default) {
      of = module.default;
      listener = Promise.resolve(module.default(dev));
      // The next request tries again.
      listener.catch(() => (of = undefined));
    }
    return listener;
  };
}
