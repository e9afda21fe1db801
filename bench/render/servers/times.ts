// A process that renders the boxes of the listing as tasks, page after page, and says what they cost: by the tasks' own accounts, by a clock
// read around each render, and by the kernel's account of the main thread.
//
//   node times.mjs PAGES ROUNDS
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Adapter, type Component, createRegistry, createTaskQueue } from '@sluice/render';
import { react } from '@sluice/render/react';
import type { Account, PageAccount, Round } from '../lib/figures';
import Card from '../shop/card';
import { listing } from '../shop/data';
import Filters from '../shop/filters';
import Header from '../shop/header';
import { Crumbs, Footer, Hero, Nav, Pages, Promo } from '../shop/plain';
import Sort from '../shop/sort';

const AT_ONCE = 8;
const [pages = 100, rounds = 3] = process.argv.slice(2).map(Number);

const slots = { names: [], html: () => '' };
const queue = createTaskQueue();
/** Time within renders, by the page that ids begin with. */
const renders_us = new Map<string, number>();
const components = await componentsBy(watched(react()));

// The optimising compiler has to have seen all before anything is compared.
for (let warm = 0; warm < 3; warm += 1) await round();
const measured: Round[] = [];
for (let at = 0; at < rounds; at += 1) measured.push(await round());
console.log(JSON.stringify(measured));

async function round(): Promise<Round> {
  return { alone: await account(1), together: await account(AT_ONCE) };
}

async function account(atOnce: number): Promise<Account> {
  const accounts: PageAccount[] = [];
  const cards_us: number[] = [];
  const before_us = threadCpu_us();
  for (let at = 0; at < pages; at += atOnce) {
    const flight = Array.from({ length: atOnce }, async (_, more) => {
      const id = `p${at + more}`;
      const page = await renderPage(id, at + more);
      cards_us.push(...page.cards_us);
      accounts.push({ tasks_us: page.tasks_us, renders_us: renders_us.get(id) ?? Number.NaN });
      renders_us.delete(id);
    });
    if (atOnce > 1) flight.push(burnBeside());
    await Promise.all(flight);
  }
  const thread_us = (threadCpu_us() - before_us) / accounts.length;
  cards_us.sort((one, other) => one - other);
  return { pages: accounts, thread_us, card_us: cards_us[Math.floor(cards_us.length / 2)] ?? Number.NaN };
}

/** A box of another page that computes between awaits. */
async function burnBeside(): Promise<void> {
  const component = components.get('Burns');
  if (component === undefined) throw new Error('no component Burns');
  const result = await queue.run({ component, props: {}, context: { id: 'burns', slots } });
  if (!result.ok) throw result.error;
}

async function renderPage(id: string, page: number): Promise<{ tasks_us: number; cards_us: number[] }> {
  const data = listing(page);
  const boxes: [string, object][] = [
    ['Header', data.header],
    ['Nav', data.nav],
    ['Crumbs', data.crumbs],
    ['Filters', data.filters],
    ['Hero', data.hero],
    ['Sort', data.sort],
    ...data.promos.map((promo): [string, object] => ['Promo', promo]),
    ...data.cards.map((card): [string, object] => ['Card', card]),
    ['Pages', data.pages],
    ['Footer', data.footer],
  ];
  const tasks = queue.page();
  const cards_us: number[] = [];
  await Promise.all(
    boxes.map(async ([name, props], at) => {
      const component = components.get(name);
      if (component === undefined) throw new Error(`no component ${name}`);
      const context = { id: `${id}-${at}`, slots };
      const result = await tasks.run({ component, props: { ...props }, context });
      if (!result.ok) throw result.error;
      if (name === 'Card') cards_us.push(result.cpu_us);
    }),
  );
  return { tasks_us: tasks.cpu_us, cards_us };
}

async function burn(): Promise<string> {
  for (let part = 0; part < 4; part += 1) {
    await nextTurn();
    const until_ms = performance.now() + 1;
    while (performance.now() < until_ms);
  }
  return '';
}

/** The adapter, with a clock of its own around each render. */
function watched(adapter: Adapter): Adapter {
  return {
    ...adapter,
    render(view, props, context) {
      const began_ms = performance.now();
      try {
        return adapter.render(view, props, context);
      } finally {
        const [page = ''] = context.id.split('-');
        const passed_us = (performance.now() - began_ms) * 1000;
        renders_us.set(page, (renders_us.get(page) ?? 0) + passed_us);
      }
    },
  };
}

async function componentsBy(adapter: Adapter): Promise<ReadonlyMap<string, Component>> {
  const views = { Card, Filters, Header, Sort, Crumbs, Footer, Hero, Nav, Pages, Promo };
  const registry = createRegistry({ adapters: [adapter] });
  for (const [name, view] of Object.entries(views)) registry.register(name, view);
  registry.register('Burns', burn, { adapter: 'plain' });
  const found = new Map<string, Component>();
  for (const name of registry.names()) {
    const component = await registry.find(name);
    if (component !== undefined) found.set(name, component);
  }
  return found;
}

/** The main thread's id is that of the process. */
function threadCpu_us(): number {
  const [nanoseconds = ''] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1000;
}
