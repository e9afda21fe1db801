// A list of 100,000 rows in Chromium at a sixth of the CPU's speed: frames a second while a key is held, and widgets alive.
//
//   npx tsx bench/screens/scroll.ts [--quick] [--seconds N] [--slowdown N]
//
// The rows are those of the list's own test. Frames are counted by the browser, and so are those that took longer than a sixtieth of a second.
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { readOptions } from '../lib/options.ts';
import { type Bar, conclude, describe, printTable } from '../lib/report.ts';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const FRAMES_MIN = 60;
/** Frames of a display that has 60 a second may be that much late, milliseconds. */
const FRAME_MS_MAX = 1000 / 60 + 4;
/** Repeats of a key that is held. */
const REPEAT_MS = 33;

const options = readOptions({
  runs: 1,
  runsQuick: 1,
  workers: 1,
  numbers: { seconds: [30, 3], slowdown: [6, 6] },
});
const { seconds = 0, slowdown = 0 } = options.numbers;
const about = describe('A list of 100,000 rows in Chromium', options);
const bundle = await build({
  entryPoints: [
    fileURLToPath(new URL('../../packages/screens/test/support/page/scroll.tsx', import.meta.url)),
  ],
  bundle: true,
  minify: true,
  format: 'esm',
  jsx: 'automatic',
  write: false,
  define: { 'process.env.NODE_ENV': '"production"' },
});
const script = bundle.outputFiles[0]?.text ?? '';
const server = http.createServer((request, response) => {
  const isScript = request.url === '/page.js';
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  response.end(
    isScript
      ? script
      : '<!doctype html><body style="margin:0"><script type="module" src="/page.js"></script>',
  );
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: [
    '--no-sandbox',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});

interface Counted {
  frames: number;
  late: number;
  widgetsMost: number;
}

interface Page {
  posters: { widgets(): number; measures(): { key_to_command: { p95?: number; count: number } } };
  counted: Counted;
}

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const { exception } = { exception: [] as string[] };
  page.on('pageerror', (error) => exception.push(String(error)));
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForFunction(
    () => 'posters' in globalThis && (globalThis as unknown as Page).posters.widgets() > 0,
  );
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  // As a text: the compiler of this file adds helpers to functions, which the page does not have.
  await page.evaluate(`
    const counted = (globalThis.counted = { frames: 0, late: 0, widgetsMost: 0 });
    let before = 0;
    requestAnimationFrame(function frame(at) {
      counted.frames += 1;
      if (before > 0 && at - before > ${FRAME_MS_MAX}) counted.late += 1;
      before = at;
      counted.widgetsMost = Math.max(counted.widgetsMost, posters.widgets());
      requestAnimationFrame(frame);
    });
  `);
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    await page.keyboard.down('ArrowDown');
    await pause(REPEAT_MS);
  }
  await page.keyboard.up('ArrowDown');
  const taken_s = (performance.now() - start) / 1000;
  const counted = await page.evaluate(() => (globalThis as unknown as Page).counted);
  const measures = await page.evaluate(() => (globalThis as unknown as Page).posters.measures());
  const perSecond = counted.frames / taken_s;
  printTable(
    ['seconds', 'frames a second', 'late frames', 'widgets, most', 'keys used', 'key to last command p95 ms'],
    [
      [
        taken_s.toFixed(1),
        perSecond.toFixed(1),
        counted.late,
        counted.widgetsMost,
        measures.key_to_command.count,
        (measures.key_to_command.p95 ?? NaN).toFixed(2),
      ],
    ],
  );
  if (exception.length > 0) throw new Error(exception.join('\n'));
  const bars: Bar[] = [
    {
      what: `frames a second while a key is held, at ${slowdown}× CPU slow-down`,
      bar: `≥ ${FRAMES_MIN}`,
      figure: perSecond.toFixed(1),
      // A display's second frame may lie on either side of the clock's second.
      met: Math.round(perSecond) >= FRAMES_MIN,
    },
  ];
  conclude('screens-scroll', options, about, bars, { counted, measures, taken_s });
} finally {
  await browser.close();
  server.close();
}
