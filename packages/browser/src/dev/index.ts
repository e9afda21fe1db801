/**
 * A server for development: the app as it is, and changes of its files in the browser and on the server without a restart.
 * Modules of the app are evaluated again when they, or what they import, have changed; the process and its sockets stay.
 */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type InlineConfig, type ViteDevServer, createServer as createViteServer } from 'vite';
import type { Assets } from '../vite/assets.js';
import { buildEarlyScript } from '../vite/early-script.js';
import { DEV, SERVER } from '../vite/modules.js';
import { ErrorPages } from './error-page.js';

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

/** Requests that throw or reject are answered with the error's stack, and for browsers with an overlay. */
export type DevListener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Export of the entry: called once for each time that it is evaluated. */
export type AppFactory = (dev: DevApp) => DevListener | Promise<DevListener>;

export interface DevApp {
  /** Assets as in `sluice-assets.json`; styles come by the runtime. */
  readonly assets: Assets;
  /** The server's components as they are now; `register(registry)` adds them. */
  readonly components: () => Promise<{
    register<R>(registry: R): R;
    readonly names: readonly string[];
    /** Component of React, in a type that needs no types of React. */
    readonly wrap?: ((props: { readonly children: unknown }) => null) | undefined;
  }>;
}

export interface DevServer {
  readonly url: string;
  readonly vite: ViteDevServer;
  close(): Promise<void>;
}

export async function createDevServer({
  entry,
  port = 0,
  host = 'localhost',
  vite: config = {},
}: DevOptions): Promise<DevServer> {
  const server = createServer();
  const errorPages = new ErrorPages();
  const vite = await createViteServer({
    ...config,
    appType: 'custom',
    plugins: [config.plugins, errorPages.plugin],
    // Its WebSocket on the same port, so that a second one is not needed.
    server: { ...config.server, middlewareMode: true, hmr: { server } },
  });
  const dev: DevApp = {
    assets: await devAssets(vite),
    components: () => vite.ssrLoadModule(SERVER) as ReturnType<DevApp['components']>,
  };
  const app = appOf(vite, entry, dev);
  server.on('request', (request, response) => {
    vite.middlewares(request, response, () => {
      app()
        .then((listener) => listener(request, response))
        .catch((error: unknown) => errorPages.answer(vite, error, request, response));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    vite,
    async close() {
      await vite.close();
      await closed(server);
    },
  };
}

/** The listener of the entry as it is now; made again only when the entry was evaluated again. */
function appOf(vite: ViteDevServer, entry: string, dev: DevApp): () => Promise<DevListener> {
  let of: unknown;
  let listener: Promise<DevListener> | undefined;
  return async () => {
    const module = (await vite.ssrLoadModule(entry)) as { default?: AppFactory };
    if (typeof module.default !== 'function')
      throw new TypeError(`${entry} has to export a function by default`);
    if (listener === undefined || of !== module.default) {
      of = module.default;
      listener = Promise.resolve(module.default(dev));
      // The next request tries again.
      listener.catch(() => (of = undefined));
    }
    return listener;
  };
}

async function devAssets({ config }: ViteDevServer): Promise<Assets> {
  const runtime = `${config.base}@id/__x00__${DEV}`;
  return { runtime, components: {}, adapters: {}, early: await buildEarlyScript(runtime) };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
