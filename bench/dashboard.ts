// The dashboard in a browser, and what it costs the gateway while it is open, beside the same load without one.
//
//   npx tsx bench/dashboard.ts [--quick] [--runs N] [--seconds N] [--rate N] [--viewers N]
//
// It needs Chromium (tests/scenarios/install.sh). Each round opens the page of a gateway under load in a fresh browser: the time of the
// first paint is the browser's own (paint timing), bytes are those of the bodies and heads on the wire, counted until the page's figures
// are there. CPU time of the gateway is the kernel's; rounds without and with viewers (readers of `/events`, which is what a page is
// to the gateway) take turns, and the median difference counts.
import http from 'node:http';
import { type Browser, chromium } from 'playwright-core';
import { chromiumPath } from '../tests/browser/chromium.ts';
import { app } from '../tests/support/sluice.ts';
import { readOptions } from './lib/options.ts';
import { cpuMeter } from './lib/processes.ts';
import { conclude, describe, median, percent, printTable, short, sum } from './lib/report.ts';
import { startSluiceServer } from './lib/servers.ts';

const PAINT_MS_MAX = 1000;
const BYTES_MAX = 150_000;
const CPU_MAX = 0.02;
const CLASSES = 50;
/** Runs in the page before its own script: notes when its figures are there. */
const NOTES_FIGURES = `new MutationObserver((_, observer) => {
  if (document.querySelector('.tiles') === null) return;
  globalThis.figures_ms = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });`;

interface Opened {
  paint_ms: number;
  /** Time until the figures are there. */
  figures_ms: number;
  bytes: number;
  /** Errors and warnings of the console, and exceptions. */
  faults: string[];
  /** Share of the time for which the page's main thread worked, after that. */
  page: number;
}

const options = readOptions({
  runs: 7,
  runsQuick: 2,
  workers: 2,
  numbers: { seconds: [10, 2], rate: [100, 100], viewers: [1, 1] },
});
const { seconds = 0, rate = 0, viewers = 0 } = options.numbers;
const about = describe('The dashboard', options);
const server = await startSluiceServer({ entry: app('trivial.js'), workers: options.workers });
const agent = new http.Agent({ keepAlive: true });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let sent = 0;
const load = setInterval(() => {
  http
    .get(`http://${server.targets[0]}/class-${sent++ % CLASSES}`, { agent }, (answer) => answer.resume())
    .on('error', () => undefined);
}, 1000 / rate);
const opened: Opened[] = [];
const cores: { without: number; beside: number }[] = [];
try {
  await pause(1000);
  for (let round = 0; round < options.runs; round += 1) {
    const without = await coresWith(0);
    cores.push({ without, beside: await coresWith(viewers) });
    opened.push(await openPage(`${server.sluice.admin}/`));
  }
} finally {
  clearInterval(load);
  agent.destroy();
  await server.stop();
}

printTable(
  [
    '',
    'first paint, ms',
    'figures, ms',
    'bytes',
    'console',
    'page, of a core',
    'gateway alone',
    'with viewers',
  ],
  opened.map((each, at) => [
    `round ${at + 1}`,
    short(each.paint_ms),
    short(each.figures_ms),
    each.bytes,
    each.faults.length,
    percent(each.page),
    percent(cores[at]?.without ?? Number.NaN),
    percent(cores[at]?.beside ?? Number.NaN),
  ]),
);
for (const fault of new Set(opened.flatMap(({ faults }) => faults))) console.log(`console: ${fault}`);
const paint_ms = Math.max(...opened.map((each) => each.paint_ms));
const bytes = Math.max(...opened.map((each) => each.bytes));
const faults = sum(opened.map((each) => each.faults.length));
const cost = median(cores.map(({ without, beside }) => beside - without));
conclude(
  'dashboard',
  options,
  about,
  [
    {
      what: `first paint, the longest of ${options.runs}`,
      bar: `< ${PAINT_MS_MAX} ms`,
      figure: `${short(paint_ms)} ms`,
      met: paint_ms < PAINT_MS_MAX,
    },
    {
      what: 'bytes on the wire until the figures are there, the most',
      bar: `< ${BYTES_MAX}`,
      figure: String(bytes),
      met: bytes < BYTES_MAX,
    },
    {
      what: 'errors and warnings in the console',
      bar: '0',
      figure: String(faults),
      met: faults === 0,
    },
    {
      what: `CPU time of the gateway for ${viewers} open, of a core`,
      bar: `< ${percent(CPU_MAX)}`,
      figure: percent(cost),
      met: cost < CPU_MAX,
    },
  ],
  { opened, cores },
);

function browserPath(): string {
  const found = chromiumPath();
  if (found === undefined) throw new Error('no Chromium: tests/scenarios/install.sh installs it');
  return found;
}

/** Cores that the gateway uses with so many viewers. */
async function coresWith(open: number): Promise<number> {
  const readers = Array.from({ length: open }, () =>
    http.get(`${server.sluice.admin}/events`, (answer) => answer.resume()),
  );
  await pause(500);
  const [meter, began] = [cpuMeter([server.gatewayPid]), performance.now()];
  await pause(seconds * 1000);
  const [used = Number.NaN] = meter();
  const elapsed_s = (performance.now() - began) / 1000;
  for (const reader of readers) reader.destroy();
  return used / elapsed_s;
}

async function openPage(url: string): Promise<Opened> {
  const browser: Browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.addInitScript({ content: NOTES_FIGURES });
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Performance.enable');
    const bytesOf = new Map<string, number>();
    network.on('Network.responseReceived', ({ requestId, response }) =>
      bytesOf.set(requestId, response.encodedDataLength),
    );
    // Of the feed, which does not end and is not compressed; whatever ends is counted as it was on the wire.
    network.on('Network.dataReceived', ({ requestId, dataLength }) =>
      bytesOf.set(requestId, (bytesOf.get(requestId) ?? 0) + dataLength),
    );
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
      bytesOf.set(requestId, encodedDataLength),
    );
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    await page.locator('.u-wrap').first().waitFor();
    const bytes = sum([...bytesOf.values()]);
    const { paint_ms, figures_ms } = await page.evaluate(() => ({
      paint_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      figures_ms: (globalThis as { figures_ms?: number }).figures_ms ?? Number.NaN,
    }));
    await pause(1000);
    const worked = async (): Promise<number> => {
      const { metrics } = await network.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
    };
    const [before, began] = [await worked(), performance.now()];
    await pause(seconds * 1000);
    const share = ((await worked()) - before) / ((performance.now() - began) / 1000);
    return { paint_ms, figures_ms, bytes, faults, page: share };
  } finally {
    await browser.close();
  }
}
