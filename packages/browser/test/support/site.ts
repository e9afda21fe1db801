// A server of pages whose boxes are written as `@sluice/render` writes them, by its own adapters.
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Adapter } from '../../../render/src/adapters/adapter.ts';
import { plain } from '../../../render/src/adapters/plain.ts';
import { preact } from '../../../render/src/adapters/preact.ts';
import { react } from '../../../render/src/adapters/react.ts';
import { slotHtml, slotsOf } from '../../../render/src/adapters/slot.ts';
import { vue } from '../../../render/src/adapters/vue.ts';
import { serialize } from '../../../render/src/state/serialize.ts';
import { type Built, build } from './build.ts';

const ADAPTERS: Readonly<Record<'react' | 'preact' | 'vue' | 'plain', Adapter>> = {
  react: react(),
  preact: preact(),
  vue: vue(),
  plain,
};

export interface Box {
  readonly n: string;
  readonly v?: string;
  readonly a?: keyof typeof ADAPTERS;
  readonly on?: 'load' | 'idle' | 'visible' | 'interaction' | `media ${string}`;
  readonly hole?: string;
  readonly props?: Record<string, unknown>;
  readonly slots?: Readonly<Record<string, readonly Box[]>>;
  /** In place of the component's HTML. */
  readonly html?: string;
  /** Without the script that has its props. */
  readonly isBare?: boolean;
}

export interface PageSpec {
  readonly boxes: readonly Box[];
  readonly before?: string;
  readonly after?: string;
  readonly data?: Record<string, unknown>;
  /** Whether the page has the inline script that keeps events. Default: true. */
  readonly early?: boolean;
}

export interface Site {
  readonly built: Built;
  readonly url: string;
  /** Paths that were asked for, with their methods and bodies. */
  readonly asked: { method: string; path: string; body: string }[];
  /** What a path answers: a page, or a listener. */
  readonly pages: Map<string, PageSpec | http.RequestListener>;
  /** HTML of boxes, numbered from `b1`. */
  html(boxes: readonly Box[]): Promise<string>;
  document(spec: PageSpec): Promise<{ head: string; body: string }>;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css' };

export async function openSite(built?: Built, adapters: Partial<typeof ADAPTERS> = {}): Promise<Site> {
  return serve(built ?? (await build()), adapters);
}

async function serve(built: Built, adapters: Partial<typeof ADAPTERS>): Promise<Site> {
  const pages: Site['pages'] = new Map();
  const asked: Site['asked'] = [];
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://site');
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      asked.push({ method: request.method ?? '', path: request.url ?? '', body });
      const page = pages.get(pathname);
      if (typeof page === 'function') page(request, response);
      else if (page) void answer(page, response);
      else sendFile(path.join(built.folder, 'client', pathname), response);
    });
  });

  async function answer(page: PageSpec, response: http.ServerResponse): Promise<void> {
    const { head, body } = await document(page);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(head + body);
  }

  async function document({ boxes, before = '', after = '', data, early = true }: PageSpec) {
    const styles = boxes.flatMap(({ n }) => built.assets.components[n]?.css ?? []);
    const links = [...new Set(styles)].map(
      (file) => `<link rel="stylesheet" href="/${file.replace(/^client\//, '')}">`,
    );
    const page = data ? `<script type="application/json" data-sluice-page>${serialize(data)}</script>` : '';
    const head = `<!doctype html><html lang="en"><head><title>page</title><link rel="icon" href="data:,">
<style>sluice-box,sluice-slot{display:contents}</style>${links.join('')}${early ? `<script>${built.assets.early.code}</script>` : ''}
<script type="module" async src="${built.assets.runtime}"></script></head><body>`;
    return { head, body: `${before}${await html(boxes)}${after}${page}</body></html>` };
  }

  async function html(boxes: readonly Box[]): Promise<string> {
    let last = 0;
    const one = async (box: Box): Promise<string> => {
      const { n, v, a = 'react', on, hole, props = {}, slots = {}, isBare } = box;
      last += 1;
      const i = `b${last}`;
      let content = box.html ?? (hole ? '' : await render(n, v, a, props, i, Object.keys(slots)));
      for (const [name, within] of Object.entries(slots)) {
        const filled = slotHtml(name).replace('></', `>${(await Promise.all(within.map(one))).join('')}</`);
        content = content.replace(slotHtml(name), () => filled);
      }
      const marks = { n, v, i, a, on, hole, s: Object.keys(slots).join(' ') || undefined };
      const written = Object.entries(marks).map(([name, value]) =>
        value === undefined ? '' : ` ${name}="${value}"`,
      );
      const script =
        (on || hole) && !isBare
          ? `<script type="application/json" data-sluice="${i}">${serialize(props)}</script>`
          : '';
      return `<sluice-box${written.join('')}>${content}</sluice-box>${script}`;
    };
    const all: string[] = [];
    for (const box of boxes) all.push(await one(box));
    return all.join('\n');
  }

  async function render(
    n: string,
    v: string | undefined,
    a: keyof typeof ADAPTERS,
    props: Record<string, unknown>,
    id: string,
    slots: readonly string[],
  ): Promise<string> {
    const load = built.components.get(v ? `${n}@${v}` : n);
    if (!load) throw new Error(`the fixture has no ${n}`);
    const context = { id, slots: slotsOf(slots), signal: new AbortController().signal };
    return (adapters[a] ?? ADAPTERS[a]).render((await load()).default, props, context);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    built,
    pages,
    asked,
    html,
    document,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      fs.rmSync(built.folder, { recursive: true });
    },
  };
}

function sendFile(file: string, response: http.ServerResponse): void {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream',
    'cache-control': 'max-age=31536000, immutable',
  });
  fs.createReadStream(file).pipe(response);
}
