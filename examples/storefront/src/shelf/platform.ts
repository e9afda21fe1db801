/**
 * The page platform: components by name, the service of one of them, the experiment, and styles. It is loaded by the first page
 * that needs it, so that the rest of the shop starts as fast as without. It must not know routes or trees.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PageTree, Registry, RenderOptions } from '@sluice/render';
import type { DataSource } from '@sluice/graph';
import { graphSource } from './graph-source.js';

export interface PlatformOptions {
  /** The shop's data as the visitor of a request may see it. */
  graphOf: (req: IncomingMessage) => DataSource;
  /** Where the build has put `components.js`, `sluice-assets.json` and the styles of all pages. */
  folder: string;
  /** Address of the service of suggestions: `service.ts`. */
  suggestions_url: string;
}

/** Trees are checked, at their first use: they are JSON. */
export interface Platform {
  page(
    req: IncomingMessage,
    res: ServerResponse,
    tree: unknown,
    data: Record<string, unknown>,
    options: Pick<RenderOptions, 'format' | 'headers' | 'more' | 'variants'>,
  ): Promise<void>;
  /** Props of one box, for a browser that has to render it. */
  box(req: IncomingMessage, res: ServerResponse, tree: unknown, data: Record<string, unknown>): Promise<void>;
  /** Resolves to false for requests that are not for styles. */
  styles(req: IncomingMessage, res: ServerResponse): Promise<boolean>;
}

const suggestionsTimeout_ms = 300;

export async function createPlatform(options: PlatformOptions): Promise<Platform> {
  const { graphOf, folder, suggestions_url } = options;
  const [render, { react }, built] = await Promise.all([
    import('@sluice/render'),
    import('@sluice/render/react'),
    // Made by the build, so the compiler of types knows nothing of it.
    import(/* @vite-ignore */ pathToFileURL(join(folder, 'components.js')).href) as Promise<{
      register(to: Registry): Registry;
    }>,
  ]);
  const registry = built.register(render.createRegistry({ adapters: [react()] }));
  const remote = render.createRemote({ url: suggestions_url, timeoutMs: suggestionsTimeout_ms });
  registry.register('Suggestions', remote.component('Suggestions', { cacheS: 10 }), {
    placeholder: '<p>Nothing to suggest at the moment.</p>',
  });
  const pages = render.createPages({
    registry,
    assets: join(folder, 'sluice-assets.json'),
    // Visitors see page after page, so a file that the browser keeps beats styles in each page.
    styles: { root: folder, base: ['base.css', 'parts.css'], inlineBytesMax: 0 },
    visitor: { cookie: 'visitor', setsCookie: true },
    document: {
      defaults: { links: [{ rel: 'icon', href: '/assets/icon.svg', type: 'image/svg+xml' }] },
      bodyStart: '<a class="skip" href="#content">Skip to content</a>',
    },
    sources: { functions: { graph: graphSource(graphOf) } },
    experiments: [
      {
        name: 'card-layout',
        since: '2026-11-24',
        arms: { grid: 50, wide: 50 },
        components: { Card: { wide: 'CardWide' } },
      },
    ],
    onError(error, component) {
      // A service that is down would fill the log; pages say so, and Sluice counts it.
      if (!(error instanceof render.RemoteError))
        console.warn(`${component} could not be rendered: ${error.message}`);
    },
  });
  const check: (tree: unknown) => asserts tree is PageTree = render.checkTree;
  return {
    async page(req, res, tree, data, rendering) {
      check(tree);
      await render.respond(pages, req, res, tree, data, rendering);
    },
    async box(req, res, tree, data) {
      check(tree);
      await render.respondBox(pages, req, res, tree, data);
    },
    styles: render.styleHandler(pages),
  };
}
