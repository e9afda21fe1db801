// Servers and clients of Falcor's protocol on loopback.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { route, Router, type RouteDefinition } from '../../src/router/index.js';
import { graphHandler, type WireOptions } from '../../src/wire/index.js';
import type { Envelope, PathSet } from '../../src/types.js';

const require = createRequire(import.meta.url);

/** Observable of Falcor, of whatever version. */
export interface Observable<T> {
  subscribe(next: (value: T) => void, error?: (error: unknown) => void, done?: () => void): unknown;
}

export interface FalcorModel {
  get(...paths: unknown[]): Observable<{ json: unknown }>;
  set(...values: unknown[]): Observable<{ json: unknown }>;
  call(
    path: unknown,
    args?: unknown[],
    suffixes?: unknown[],
    paths?: unknown[],
  ): Observable<{ json: unknown }>;
  getCache(): unknown;
}

/** The client of Netflix, 2.4. */
export const falcor = require('falcor') as {
  readonly Model: new (options: { source?: unknown; cache?: unknown }) => FalcorModel;
};

/** The client's data source over XMLHttpRequest, 0.1. */
export const FalcorHttp = require('falcor-http-datasource') as new (url: string, options?: object) => unknown;

interface FalcorRouter {
  get(paths: readonly PathSet[]): Observable<Envelope>;
  set(envelope: Envelope): Observable<Envelope>;
  call(path: unknown, args: unknown, suffixes: unknown, paths: unknown): Observable<Envelope>;
}

/** The router of Netflix, 0.8. */
export const FalcorServer = require('falcor-router') as {
  createClass(routes: readonly object[]): new () => FalcorRouter;
};

/** Last value of an observable. */
export async function last<T>(observable: Observable<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let value: T | undefined;
    observable.subscribe(
      (next) => {
        value = next;
      },
      reject,
      () => resolve(value),
    );
  });
}

/** Serves on a free port of loopback until the test ends. */
export async function serve(
  t: { after(task: () => void | Promise<void>): void },
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves a router at `/model.json`. */
export async function serveGraph<Data>(
  t: { after(task: () => void | Promise<void>): void },
  router: Router<Data>,
  options?: WireOptions<Data>,
): Promise<string> {
  const graph = graphHandler(router, options);
  const origin = await serve(t, async (request, response) => {
    if (!(await graph.node(request, response))) response.writeHead(404).end();
  });
  return `${origin}/model.json`;
}

/** Titles in lists, which can be rated, and put into a list. */
export class Shop {
  readonly ratings = new Map<number, number>();
  readonly mine: number[] = [3, 5, 8];

  routes(): RouteDefinition[] {
    const { ratings, mine } = this;
    return [
      route('lists.mine[{integers:places}]', {
        get: async ({ places }) =>
          places.map((place) => ({ path: ['lists', 'mine', place], value: this.at(place) })),
      }),
      { route: 'lists.mine.length', get: () => ({ path: ['lists', 'mine', 'length'], value: mine.length }) },
      {
        route: 'lists.mine.push',
        call: (_match, [id]) => {
          if (typeof id !== 'number') throw new Error('no id');
          mine.push(id);
          return [
            { path: ['lists', 'mine', mine.length - 1], value: this.at(mine.length - 1) },
            { path: ['lists', 'mine', 'length'], value: mine.length },
          ];
        },
      },
      route('titlesById[{integers:ids}]["name","tags"]', {
        get: async ({ ids }) => ({
          jsonGraph: {
            titlesById: Object.fromEntries(
              ids.map((id) => [id, { name: `Title ${id} ü`, tags: { $type: 'atom', value: ['a', id] } }]),
            ),
          },
        }),
      }),
      route('titlesById[{integers:ids}].rating', {
        get: ({ ids }) =>
          ids.map((id) => ({ path: ['titlesById', id, 'rating'], value: ratings.get(id) ?? 0 })),
        set: (values, _context, { ids }) => {
          const { titlesById } = values as { titlesById: Record<number, { rating: number }> };
          return ids.map((id) => {
            ratings.set(id, Math.min(5, titlesById[id]?.rating ?? 0));
            return { path: ['titlesById', id, 'rating'], value: ratings.get(id) };
          });
        },
      }),
      {
        route: 'broken',
        get: () => {
          throw new Error('secret');
        },
      },
    ];
  }

  private at(place: number): object | undefined {
    const id = this.mine[place];
    return id === undefined ? undefined : { $type: 'ref', value: ['titlesById', id] };
  }
}

export { Router };
