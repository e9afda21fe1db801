/**
 * A server for development: Vite's, and the app behind it. Components are evaluated again when they, or what they import, have changed; the
 * process and its sockets stay.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type InlineConfig, type ViteDevServer, createServer as createViteServer } from 'vite';
import { closed } from '../serve/close.js';
import type { Assets } from '../vite/assets.js';
import { buildEarlyScript } from '../vite/early-script.js';
import { DEV, SERVER, STYLE_FILES } from '../vite/modules.js';
import { ErrorPages } from './error-page.js';

/** Requests that throw or reject are answered with the error's stack, and for browsers with an overlay. */
export type DevListener = (request: IncomingMessage, response: ServerResponse) => unknown;

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
  /**
   * HTML for the end of the head: all styles as they are now, until the runtime brings them. Without it, pages are shown without styles for a
   * moment.
   */
  readonly styles: () => Promise<string>;
}

export interface DevServer {
  readonly url: string;
  readonly vite: ViteDevServer;
  close(): Promise<void>;
}

export interface StartOptions {
  /** Makes what gives the listener of the moment, for each request. */
  readonly app: (dev: DevApp, vite: ViteDevServer) => () => Promise<DevListener>;
  readonly port?: number;
  readonly host?: string;
  readonly vite?: InlineConfig;
}

export async function startDevServer({
  app: make,
  port = 0,
  host = 'localhost',
  vite: config = {},
}: StartOptions): Promise<DevServer> {
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
    styles: () => stylesOf(vite),
  };
  const app = make(dev, vite);
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

/** A style that cannot be compiled is told in the browser, by Vite's client. */
async function stylesOf(vite: ViteDevServer): Promise<string> {
  const { default: files } = (await vite.ssrLoadModule(STYLE_FILES)) as { default: readonly string[] };
  const texts = await Promise.all(
    files.map(async (file) => {
      try {
        const { default: text } = (await vite.ssrLoadModule(`${file}?inline`)) as { default: unknown };
        return String(text);
      } catch {
        return '';
      }
    }),
  );
  const text = texts.join('\n').replaceAll(/<(?=\/style)/gi, '\\3c ');
  return text.trim() === '' ? '' : `<style data-sluice-dev>${text}</style>`;
}

async function devAssets({ config }: ViteDevServer): Promise<Assets> {
  const runtime = `${config.base}@id/__x00__${DEV}`;
  return { runtime, components: {}, adapters: {}, early: await buildEarlyScript(runtime) };
}
