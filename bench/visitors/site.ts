// Pages of many visitors: components that wait, are cached, throw, come from another service or differ by arm. `plant` has the site make a
// mistake, as an app may, by which a visitor gets what is another's.
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import {
  batched,
  createPages,
  createRegistry,
  createRemote,
  type Pages,
  type PageTree,
  type RenderContext,
  type TreeNode,
} from '@sluice/render';
import { react } from '@sluice/render/react';
import { createElement, lazy, Suspense, type ReactNode } from 'react';
import type { Random } from '../../tests/support/chance.ts';
import { running, type Person } from './visitors.ts';

/**
 * - `none`: the site is right.
 * - `cache-key`: a `cacheKey` leaves the visitor out.
 * - `variable`: a component reads its visitor from a variable, after it has waited.
 * - `headers`: requests to the service have the cookie of whose page began last.
 */
export type Plant = 'none' | 'cache-key' | 'variable' | 'headers';
export const PLANTS: readonly Plant[] = ['none', 'cache-key', 'variable', 'headers'];

export interface Site {
  readonly pages: Pages;
  /** Notes whose page begins, where the mistakes read it. */
  begin(person: Person): void;
}

/** Items of the shop. Pages have few of them, so that much is found in caches. */
const ITEMS = 20;
/** Small, so that entries go as well as come. */
const CACHE_BYTES = 1024 * 1024;
const COOKIE_ARMS = { name: 'offer', since: '2026-01-01', arms: { a: 1, b: 1 } };

interface ItemProps {
  readonly secret: string;
  readonly item: number;
}

const current = (): string => running.getStore()?.secret ?? 'nobody';
const h = createElement;

export function createSite(service: string, plant: Plant): Site {
  let latest = 'nobody';
  const remote = createRemote({
    url: service,
    timeoutMs: 5_000,
    failuresMax: 1_000_000,
    cacheBytesMax: CACHE_BYTES,
    headers: () => ({ cookie: `session=${plant === 'headers' ? latest : current()}` }),
  });
  const registry = createRegistry({ adapters: [react({ onError: () => undefined })] });

  registry.register('Greeting', ({ secret }: { secret: string }) => `<b>Hello ${secret}</b>`, {
    placeholder: ({ secret }) => `<i>${secret}</i>`,
  });
  registry.register('Kept', ({ secret, item }: ItemProps) => `<p>${item} kept for ${secret}</p>`, {
    cacheKey: ({ secret, item }) => (plant === 'cache-key' ? `${item}` : `${secret} ${item}`),
    cacheTags: ({ item }) => [`item-${item}`],
  });
  registry.register('Shared', ({ item }: { item: number }) => `<p>${item} for all</p>`, {
    cacheKey: ({ item }) => `${item}`,
  });
  registry.register('Waits', async ({ item }: { item: number }) => {
    await (item % 2 === 0 ? turn() : wait(item % 5));
    return `<p>${item} waited for ${plant === 'variable' ? latest : current()}</p>`;
  });
  registry.register(
    'Throws',
    ({ secret, item }: ItemProps) => {
      if (item % 3 === 0) throw new Error(`No item ${item} for ${secret}`);
      return `<p>${item} of ${secret}</p>`;
    },
    { placeholder: ({ secret }) => `<i>not now, ${secret}</i>` },
  );

  // Of React, with a boundary that fails for some, and one that waits.
  const Inner = ({ secret, item }: ItemProps): ReactNode => {
    if (item % 4 === 0) throw new Error(`A boundary of ${secret}`);
    return h('em', null, `${secret} ${item}`);
  };
  const Boundary = (props: ItemProps): ReactNode =>
    h('div', null, h(Suspense, { fallback: `wait, ${props.secret}` }, h(Inner, props)));
  registry.register('Boundary', Boundary, {
    adapter: 'react',
    cacheKey: ({ secret, item }) => `${secret} ${item}`,
  });
  const Late = lazy(async () => {
    await turn();
    return { default: ({ secret }: { secret: string }) => h('s', null, secret) };
  });
  registry.register(
    'Suspends',
    ({ secret }: { secret: string }) => h(Suspense, { fallback: 'wait' }, h(Late, { secret })),
    { adapter: 'react' },
  );

  // Arms of an experiment, each with a component of its own.
  registry.register('Offer', ({ secret }: { secret: string }) => `<p data-arm="a">${secret}</p>`);
  registry.register('OfferB', ({ secret }: { secret: string }) => `<p data-arm="b">${secret}</p>`, {
    cacheKey: ({ secret }) => secret,
  });
  registry.register('Account', remote.component('Account', { cacheS: 60, vary: [] }));
  registry.register(
    'Frame',
    (_props: object, { slots }: RenderContext) => `<section>${slots.html('default')}</section>`,
  );

  const pages = createPages({
    registry,
    experiments: [{ ...COOKIE_ARMS, components: { Offer: { b: 'OfferB' } } }],
    overruns: false,
    onError: () => undefined,
    sources: {
      functions: {
        profile: async () => {
          await turn();
          return { secret: current() };
        },
        prices: batched((items) => items.map((item) => `${String(item)} for ${current()}`)),
      },
    },
  });
  return {
    pages,
    begin({ secret }) {
      latest = secret;
    },
  };
}

/** Trees by chance: any of the components, with props from the page's data, from sources, in slots. */
export function treeOf(random: Random): PageTree {
  const secret = { $path: '$.secret' };
  const node = (depth: number): TreeNode => {
    const item = random(ITEMS);
    switch (random(depth > 0 ? 12 : 11)) {
      case 0:
        return { component: 'Greeting', props: { secret } };
      case 1:
        return { component: 'Kept', props: { secret, item } };
      case 2:
        return { component: 'Shared', props: { item } };
      case 3:
        return { component: 'Waits', props: { item } };
      case 4:
        return { component: 'Throws', props: { secret, item } };
      case 5:
        return { component: 'Boundary', props: { secret, item } };
      case 6:
        return { component: 'Suspends', props: { secret } };
      case 7:
        return { component: 'Offer', props: { secret } };
      case 8:
        // Asked for after a wait, while other pages begin.
        return { component: 'Account', data: { profile: { source: 'profile' } }, props: { item } };
      case 9:
        return {
          component: 'Greeting',
          data: { profile: { source: 'profile' } },
          props: { secret: { $path: '$.profile.secret' } },
        };
      case 10:
        return {
          component: 'Kept',
          data: { price: { source: 'prices', args: item } },
          props: { secret: { $path: '$.price' }, item },
        };
      default:
        return { component: 'Frame', slots: { default: [node(depth - 1), node(depth - 1)] } };
    }
  };
  return { boxes: Array.from({ length: 3 + random(5) }, () => node(2)) };
}
