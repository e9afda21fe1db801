// Bytes that a browser gets of the page, and when it can be used, in Chromium with its CPU slowed down four times.
import { gzipSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../../tests/browser/chromium.ts';
import type { Options } from '../../lib/options.ts';
import { type Bar, median, printTable, short, sum } from '../../lib/report.ts';
import type { Server } from '../../lib/servers.ts';
import type { Peer } from '../lib/servers.ts';
import { CARDS, LISTINGS } from '../shop/data.ts';
import { READY } from '../shop/ready.ts';

const SLOW_DOWN = 4;
const JS_BYTES_MAX = 60_000;
const BLOCKED_MS_MAX = 100;
/** Time without any event after which the page counts as settled. */
const QUIET_MS = 2_000;
const SETTLED_TIMEOUT_MS = 60_000;
/** A task that takes longer keeps the user waiting. */
const LONG_TASK_MS = 50;

/** Runs in the page before its own scripts. */
const NOTES_LONG_TASKS = `globalThis.longTasks = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) longTasks.push({ startTime, duration });
}).observe({ type: 'longtask', buffered: true });`;

interface Visit {
  html_bytes: number;
  js_bytes: number;
  css_bytes: number;
  scripts: number;
  paint_ms: number;
  interactive_ms: number;
  blocked_ms: number;
  /** Components that became interactive without the user's doing. */
  ready: number;
  faults: string[];
}

interface Timeline {
  now_ms: number;
  paint_ms: number;
  ready_ms: number[];
  long_tasks: { startTime: number; duration: number }[];
}

export async function measureInBrowser(
  options: Options,
  peers: Record<string, Peer>,
): Promise<{ bars: Bar[]; data: unknown }> {
  const visits = new Map<string, Visit[]>(Object.keys(peers).map((key) => [key, []]));
  const servers: [string, Server][] = [];
  try {
    for (const [key, peer] of Object.entries(peers)) servers.push([key, await peer.start(1)]);
    for (let round = 0; round < options.runs; round += 1)
      for (const [key, server] of servers)
        visits
          .get(key)
          ?.push(await visit(`http://${server.targets[0] ?? ''}/listing?page=${round % LISTINGS}`));
  } finally {
    await Promise.all(servers.map(async ([, server]) => server.stop()));
  }

  const of = (key: string, figure: (visit: Visit) => number): number =>
    median((visits.get(key) ?? []).map(figure));
  printTable(
    ['server', 'HTML', 'JavaScript', 'files', 'CSS', 'paint ms', 'interactive ms', 'blocked ms', 'ready'],
    Object.entries(peers).map(([key, { name }]) => [
      name,
      of(key, (each) => each.html_bytes),
      of(key, (each) => each.js_bytes),
      of(key, (each) => each.scripts),
      of(key, (each) => each.css_bytes),
      short(of(key, (each) => each.paint_ms)),
      short(of(key, (each) => each.interactive_ms)),
      short(of(key, (each) => each.blocked_ms)),
      of(key, (each) => each.ready),
    ]),
  );
  const faults = new Set([...visits.values()].flat().flatMap((each) => each.faults));
  for (const fault of faults) console.log(`console: ${fault}`);
  const bars: Bar[] = [];
  if (visits.has('sluice')) {
    const bytes = of('sluice', (each) => each.js_bytes);
    const blocked_ms = of('sluice', (each) => each.blocked_ms);
    bars.push(
      {
        what: 'JavaScript of the listing, React included, gzip',
        bar: `≤ ${JS_BYTES_MAX} bytes`,
        figure: String(bytes),
        met: bytes <= JS_BYTES_MAX,
      },
      {
        what: `total blocking time at a CPU ${SLOW_DOWN} times as slow`,
        bar: `≤ ${BLOCKED_MS_MAX} ms`,
        figure: `${short(blocked_ms)} ms`,
        met: blocked_ms <= BLOCKED_MS_MAX,
      },
    );
  }
  const told = sum([...visits.values()].flat().map((each) => each.faults.length));
  bars.push({ what: 'errors and warnings in the console', bar: '0', figure: String(told), met: told === 0 });
  return { bars, data: Object.fromEntries(visits) };
}

/** One visit with nothing in the browser's caches. Bytes are those of the bodies, each through the same gzip. */
async function visit(url: string): Promise<Visit> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error('no Chromium: tests/scenarios/install.sh installs it');
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const faults: string[] = [];
    page.on('console', (message) => {
      // No server has an icon.
      if (message.location().url.endsWith('/favicon.ico')) return;
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    const bodies: Promise<{ type: string; bytes: number }>[] = [];
    page.on('response', (response) => {
      const type = response.request().resourceType();
      if (response.status() === 200)
        bodies.push(response.body().then((body) => ({ type, bytes: gzipSync(body).length })));
    });
    await page.addInitScript({ content: NOTES_LONG_TASKS });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_DOWN });
    await page.goto(url, { waitUntil: 'load' });
    const timeline = await settled(page);
    await checkUse(page);
    const sent = await Promise.all(bodies);
    const bytesOf = (type: string): number =>
      sum(sent.filter((each) => each.type === type).map(({ bytes }) => bytes));
    return {
      html_bytes: bytesOf('document'),
      js_bytes: bytesOf('script'),
      css_bytes: bytesOf('stylesheet'),
      scripts: sent.filter(({ type }) => type === 'script').length,
      ...timesOf(timeline),
      ready: timeline.ready_ms.length,
      faults,
    };
  } finally {
    await browser.close();
  }
}

/**
 * Times of a page. Interactive is the end of the first paint, of the last component that hydrates by itself, and of the last long task;
 * two quiet seconds follow. Blocked is the time of long tasks after the paint beyond 50 ms each.
 */
function timesOf({ paint_ms, ready_ms, long_tasks }: Timeline): {
  paint_ms: number;
  interactive_ms: number;
  blocked_ms: number;
} {
  const ends = long_tasks.map(({ startTime, duration }) => startTime + duration);
  const after = long_tasks.filter(({ startTime, duration }) => startTime + duration > paint_ms);
  const blocked = after.map(({ startTime, duration }) => {
    const from = Math.max(startTime, paint_ms);
    return Math.max(0, startTime + duration - from - LONG_TASK_MS);
  });
  return {
    paint_ms,
    interactive_ms: Math.max(paint_ms, ...ready_ms, ...ends),
    blocked_ms: sum(blocked),
  };
}

async function settled(page: Page): Promise<Timeline> {
  const deadline_ms = performance.now() + SETTLED_TIMEOUT_MS;
  for (;;) {
    const timeline = await page.evaluate(readTimeline, READY);
    if (timeline.now_ms - timesOf(timeline).interactive_ms >= QUIET_MS) return timeline;
    if (performance.now() > deadline_ms) throw new Error('the page does not come to rest');
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 10));
  }
}

/** Runs in the page. */
function readTimeline(ready: string): Timeline {
  const marks = performance.getEntriesByType('mark').filter(({ name }) => name.startsWith(ready));
  const { longTasks } = globalThis as unknown as { longTasks: Timeline['long_tasks'] };
  return {
    now_ms: performance.now(),
    paint_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now(),
    ready_ms: marks.map(({ startTime }) => startTime),
    long_tasks: longTasks,
  };
}

/** The page does what it should: all cards are there, and the first that is in stock can be bought. */
async function checkUse(page: Page): Promise<void> {
  const cards = await page.locator('.card').count();
  if (cards !== CARDS) throw new Error(`the page has ${cards} cards`);
  const buttons = page.locator('.add:not([disabled])');
  await buttons.first().click();
  await page.getByText('1 in the cart').first().waitFor({ timeout: 10_000 });
}
