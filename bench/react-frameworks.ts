// `react = "fast"` under frameworks that render by react-dom: whether their pages are the same bytes, and CPU time of the worker for a
// request with and without it, in turns.
//
//   npx tsx bench/react-frameworks.ts [--quick] [--runs N] [--requests N] [--only next,astro,react-router]
//
// The apps are installed and built where that is not done yet, without lock files: the figures are of the versions that the table names.
// Frameworks need Node 22 or later, which npm installs beside the conformance apps where the one at hand is older.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { readOptions } from './lib/options.ts';
import { cpuMeter, familyOf } from './lib/processes.ts';
import { versionIn } from './lib/npm.ts';
import { type Bar, conclude, describe, median, printTable, sum } from './lib/report.ts';
import { type Sluice, startSluice } from '../tests/support/sluice.ts';
import { installIfStale } from '../tests/conformance/prepare.ts';
import { runtimeFor } from '../tests/conformance/runtime.ts';

const NODE_MIN = '24.0.0';
const INSTALL_MS_MAX = 10 * 60_000;
/** Workers report renders once a second; a busy machine may take longer. */
const REPORT_MS = 3_000;
const SIDES = ['stock', 'fast'] as const;

interface Page {
  readonly name: string;
  readonly path: string;
  /** Whether react-dom is the app's own, so that it is caught. Next.js' app router brings one of its own. */
  readonly isCaught: boolean;
}

interface Framework {
  readonly folder: string;
  readonly package: string;
  readonly leaves: string;
  readonly command: string[];
  readonly pages: readonly Page[];
}

const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  next: {
    folder: 'bench/apps/frameworks/next',
    package: 'next',
    leaves: '.next/BUILD_ID',
    command: ['next', 'start'],
    pages: [
      { name: 'Next.js, pages router', path: '/list?n=60', isCaught: true },
      { name: 'Next.js, app router', path: '/app-page', isCaught: false },
    ],
  },
  astro: {
    folder: 'bench/apps/frameworks/astro',
    package: 'astro',
    leaves: 'dist/server/entry.mjs',
    command: ['node', 'dist/server/entry.mjs'],
    pages: [{ name: 'Astro with React', path: '/', isCaught: true }],
  },
  'react-router': {
    folder: 'tests/conformance/frameworks/react-router',
    package: 'react-router',
    leaves: 'build/server/index.js',
    command: ['react-router-serve', './build/server/index.js'],
    pages: [{ name: 'React Router', path: '/echo', isCaught: true }],
  },
};

interface Row {
  readonly version: string;
  readonly page: Page;
  readonly bytes: number;
  readonly isSame: boolean;
  readonly stock_us: number[];
  readonly fast_us: number[];
}

const options = readOptions({ runs: 20, runsQuick: 2, workers: 1, numbers: { requests: [200, 30] } });
const { requests = 0 } = options.numbers;
const about = describe('React under frameworks', options);
const runtime = await runtimeFor(NODE_MIN, true);
if (runtime === undefined) throw new Error(`npm has no Node ${NODE_MIN} for this platform`);
const rows: Row[] = [];
/** Frameworks that could not be measured, with the reason. */
const failed: Record<string, string> = {};
for (const [name, framework] of Object.entries(FRAMEWORKS)) {
  if (options.only.length > 0 && !options.only.includes(name)) continue;
  try {
    rows.push(...(await compare(framework)));
  } catch (error) {
    failed[name] = String(error);
    console.error(`${name} is not measured: ${failed[name]}`);
  }
}
const ratio = (row: Row): number =>
  median(row.stock_us.map((stock_us, at) => (row.fast_us[at] ?? Number.NaN) / stock_us));
printTable(
  ['page', 'version', 'bytes', 'same bytes', 'stock, µs', 'fast, µs', 'fast / stock'],
  rows.map((row) => [
    row.page.name,
    row.version,
    row.bytes,
    row.isSame ? 'yes' : 'NO',
    median(row.stock_us).toFixed(0),
    median(row.fast_us).toFixed(0),
    ratio(row).toFixed(3),
  ]),
);
conclude('react-frameworks', options, about, bars(), { node: runtime.version, rows, failed });

async function prepare(folder: string, framework: Framework, env: NodeJS.ProcessEnv): Promise<void> {
  const npm = (...args: string[]): void =>
    void execFileSync('npm', args, { cwd: folder, env, stdio: ['ignore', 2, 2], timeout: INSTALL_MS_MAX });
  const isInstalled = fs.existsSync(path.join(folder, 'node_modules', framework.package));
  if (fs.existsSync(path.join(folder, 'package-lock.json'))) await installIfStale(folder, runtime?.bin ?? '');
  else if (!isInstalled) npm('install', '--no-package-lock', '--no-audit', '--no-fund');
  if (!fs.existsSync(path.join(folder, framework.leaves))) npm('run', 'build');
}

async function compare(framework: Framework): Promise<Row[]> {
  const folder = path.join(import.meta.dirname, '..', framework.folder);
  const env = {
    PATH: [runtime?.bin, path.join(folder, 'node_modules/.bin'), process.env['PATH']].join(path.delimiter),
    HOST: '127.0.0.1',
    NEXT_TELEMETRY_DISABLED: '1',
    ASTRO_TELEMETRY_DISABLED: '1',
    SLUICE_LOG_ACCESS: 'false',
  };
  await prepare(folder, framework, { ...process.env, ...env });
  const sluices: Sluice[] = [];
  try {
    for (const renderer of ['react-dom', 'fast']) {
      const { command } = framework;
      const started = { ...env, SLUICE_REACT_RENDERER: renderer };
      sluices.push(await startSluice({ command, cwd: folder, workers: 1, env: started }));
    }
    const [stock, fast] = sluices;
    assert.ok(stock !== undefined && fast !== undefined);
    const found: Row[] = [];
    for (const page of framework.pages) {
      // Renders of the page before may still be on their way.
      await new Promise((done) => setTimeout(done, REPORT_MS));
      const before = await rendersOf(fast);
      const [plain, quick] = [await textOf(stock, page), await textOf(fast, page)];
      const isSeen = await seesRender(fast, before);
      assert.equal(isSeen, page.isCaught, `${page.name}: whether @sluice/react rendered it`);
      const row: Row = {
        version: versionIn(folder, framework.package),
        page,
        bytes: Buffer.byteLength(plain),
        isSame: plain === quick,
        stock_us: [],
        fast_us: [],
      };
      console.error(`${page.name} …`);
      for (const sluice of sluices) await cpuOf(sluice, page, requests * 5);
      for (let round = 0; round < options.runs; round += 1) {
        const sides = round % 2 === 0 ? SIDES : SIDES.toReversed();
        for (const side of sides)
          row[`${side}_us`].push(await cpuOf(side === 'stock' ? stock : fast, page, requests));
      }
      found.push(row);
    }
    return found;
  } finally {
    for (const sluice of sluices) await sluice.stop();
  }
}

async function textOf(sluice: Sluice, page: Page): Promise<string> {
  const response = await fetch(sluice.url + page.path);
  assert.equal(response.status, 200, `${page.name}: ${response.status}`);
  return response.text();
}

/** CPU microseconds of the worker, with all processes below it, for one of so many requests, which come one at a time. */
async function cpuOf(sluice: Sluice, page: Page, count: number): Promise<number> {
  const [worker] = (await sluice.status()).workers;
  const used_s = cpuMeter(familyOf(worker?.pid ?? 0));
  for (let at = 0; at < count; at += 1) await textOf(sluice, page);
  return (sum(used_s()) * 1e6) / count;
}

async function rendersOf(sluice: Sluice): Promise<number> {
  return (await sluice.status()).react?.renders_total ?? 0;
}

async function seesRender(sluice: Sluice, before: number): Promise<boolean> {
  await new Promise((done) => setTimeout(done, REPORT_MS));
  return (await rendersOf(sluice)) > before;
}

function bars(): Bar[] {
  return [
    ...rows.map((row) => ({
      what: `${row.page.name}: the same bytes with \`react = "fast"\``,
      bar: 'yes',
      figure: row.isSame ? 'yes' : 'no',
      met: row.isSame,
    })),
    ...Object.keys(failed).map((name) => ({
      what: `${name}: measured`,
      bar: 'yes',
      figure: 'no',
      met: false,
    })),
  ];
}
