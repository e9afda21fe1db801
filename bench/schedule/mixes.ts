// What is asked for. Servers see paths as any app has them; classes and costs are known to the benchmark alone.
import { fileURLToPath } from 'node:url';
import type { Route } from '../lib/load.ts';
import { nextEntry } from '../lib/next.ts';
import type { AppToServe } from '../lib/servers.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from '../lib/storefront.ts';
import { turnsEnvironment } from './cost.ts';

export interface Mix {
  app(workers: number): Promise<AppToServe>;
  /** Routes with their weights, for the address of a server of the app. */
  routes(target: string): Promise<Route[]>;
  /** Share of each class in the arrivals, where that depends on the load (a share of the CPU) and on what a class costs. */
  shares?(load: number, ms: Record<string, number>): Record<string, number>;
}

export const SHORT = '5 ms';
export const LONG = '100 ms';
export const SUGGEST = 'suggest';
export const REPORT = 'report';
export const LIGHT = 'light';
export const HEAVY = 'heavy';
/** Beginning of a heavy request's path, for servers that are told. */
export const HEAVY_PATH = '/heavy/';

const TERMS = 40;
const IDS = 200;

const suggest = (name: string, share: number): Route[] =>
  spread(name, share, TERMS, (at) => `/api/suggest?q=${term(at)}`);
const waiting = (light: number): Route[] => [
  ...spread(LIGHT, light, IDS, (at) => `/light/${at + 1}`),
  ...spread(HEAVY, 100 - light, IDS, (at) => `${HEAVY_PATH}${at + 1}`),
];
const pages = (name: string, share: number): Route[] =>
  spread(name, share, IDS, (at) => `/page/${1000 + 7 * at}`);

export const MIXES: Record<string, Mix> = {
  mixed: ofOurApp([...suggest(SHORT, 90), ...pages(LONG, 10)]),
  'only-short': ofOurApp(suggest(SHORT, 100)),
  'only-long': ofOurApp(pages(LONG, 100)),
  autocomplete: {
    ...ofOurApp([
      ...suggest(SUGGEST, 80),
      ...spread('product', 20, IDS, (at) => `/product/${term(at)}-${at}`),
      ...spread(REPORT, 1, IDS, (at) => `/report/${at + 1}`),
    ]),
    // A tenth of the CPU goes to reports; of the other requests one in five is a page.
    shares: (load, ms) => {
      const rest = 0.8 * (ms[SUGGEST] ?? 0) + 0.2 * (ms['product'] ?? 0);
      const others = Math.max(0, load - 0.1) / rest;
      return { [SUGGEST]: 0.8 * others, product: 0.2 * others, [REPORT]: 0.1 / (ms[REPORT] ?? 0) };
    },
  },
  quotes: ofOurApp(spread('quote', 100, IDS, (at) => `/quote/${at + 1}`)),
  waiting: ofOurApp(waiting(90)),
  next: {
    app: async (workers) => ({ entry: await nextEntry(), workers }),
    routes: async () => waiting(85),
  },
  storefront: {
    app: async (workers) => {
      if (!storefrontIsBuilt()) throw new Error('the storefront is not built; run `make build`');
      return { entry: storefrontEntry, workers };
    },
    routes: storefrontRoutes,
  },
};

/** The routes with the weights that the mix has at a load. */
export function routesAt(mix: Mix, routes: Route[], load: number, ms: Record<string, number>): Route[] {
  const shares = mix.shares?.(load, ms);
  if (shares === undefined) return routes;
  return routes.map((route) => {
    const name = route.class ?? 'all';
    const count = routes.filter((other) => other.class === route.class).length;
    return { ...route, weight: (shares[name] ?? 0) / count };
  });
}

function ofOurApp(routes: Route[]): Mix {
  return {
    app: async (workers) => ({
      entry: fileURLToPath(new URL('../apps/schedule.cjs', import.meta.url)),
      workers,
      env: await turnsEnvironment(),
    }),
    routes: async () => routes,
  };
}

function spread(name: string, share: number, count: number, path: (at: number) => string): Route[] {
  return Array.from({ length: count }, (_, at) => ({ class: name, path: path(at), weight: share / count }));
}

/** A word of its own for each number. */
function term(at: number): string {
  const letters = 'aeioulnrstdm';
  return (
    [at, at * 5 + 3, at * 11 + 7].map((each) => letters[each % letters.length]).join('') +
    String.fromCharCode(97 + (at % 26))
  );
}
