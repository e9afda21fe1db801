// An app that was written for react-dom is given another renderer by the configuration, and nobody can tell by its pages.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, repositoryDir, type Sluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { allReady, ask, ownApp, pidOf, running } from './scenario.ts';
import { metric } from './stuck.ts';

const FAST = 'react = "fast"\n';
const RENDERED = [
  '/string',
  '/markup',
  '/edge',
  '/pipeable',
  '/readable',
  '/edge-readable',
  '/prerender',
  '/with-signal',
  '/error',
];

async function pagesOf(sluice: Sluice): Promise<string[]> {
  const pages: string[] = [];
  for (const target of [...RENDERED, '/names']) {
    const { status, body } = await ask(sluice, target);
    assert.equal(status, 200, `${target}: ${body.toString()}`);
    pages.push(`${target} ${body.toString()}`);
  }
  return pages;
}

/** Waits for a status in which the workers have told of this many renders. */
async function rendered(sluice: Sluice, renders: number): Promise<NonNullable<Snapshot['react']>> {
  return eventually(
    async () => {
      const { react } = await sluice.status();
      return react !== null && react.renders_total >= renders ? react : undefined;
    },
    { deadlineMs: 15_000, what: `${renders} renders` },
  );
}

for (const entry of ['react-required.cjs', 'react-imported.mjs']) {
  void test(`${entry} gets the same bytes from both renderers, and what react-dom did is named`, async (t) => {
    const [plain, fast] = await Promise.all([
      running(t, { entry: ownApp(entry), workers: 1 }),
      running(t, { entry: ownApp(entry), workers: 1, config: FAST }),
    ]);
    const pages = await pagesOf(plain);
    assert.match(pages[0] ?? '', /<li id="_R_.*title="&quot;row&quot; 0" style="margin-top:0">/);
    assert.match(pages[3] ?? '', /<em>late<\/em>/);
    assert.deepEqual(await pagesOf(fast), pages);

    const react = await rendered(fast, RENDERED.length);
    assert.deepEqual(react, {
      renders_total: RENDERED.length,
      fallbacks: { 'prerender with a signal': 1 },
    });
    assert.equal((await plain.status()).react, null);
    assert.equal(await metric(fast, 'sluice_react_renders_total'), RENDERED.length);
    assert.equal(await metric(fast, 'sluice_react_fallbacks_total{why="prerender with a signal"}'), 1);
    const line = `react         ${RENDERED.length} renders, 1 by react-dom (prerender with a signal 1)`;
    assert.ok((await fast.cli(['status'])).stdout.includes(`\n${line}\n`));
    assert.deepEqual(warnings(fast), []);
  });
}

void test('renders stay counted when their worker dies, and the next one adds to them', async (t) => {
  const sluice = await running(t, { entry: ownApp('react-required.cjs'), workers: 1, config: FAST });
  for (let at = 0; at < 5; at += 1) await ask(sluice, '/with-signal');
  await rendered(sluice, 5);
  const [before] = (await sluice.status()).workers.map(pidOf);
  process.kill(Number(before), 'SIGKILL');
  await eventually(async () => (await allReady(sluice, 1)).workers.map(pidOf)[0] !== before);
  assert.equal((await rendered(sluice, 5)).renders_total, 5);
  for (const target of ['/string', '/with-signal']) await ask(sluice, target);
  const react = await rendered(sluice, 7);
  assert.deepEqual(react, { renders_total: 7, fallbacks: { 'prerender with a signal': 6 } });
});

void test('the long form and the environment switch it on as well, and a reload off', async (t) => {
  const config = '[react]\nrenderer = "react-dom"\n';
  const env = { SLUICE_REACT_RENDERER: 'fast' };
  const sluice = await running(t, { entry: ownApp('react-required.cjs'), workers: 1, config, env });
  await ask(sluice, '/string');
  await rendered(sluice, 1);

  const other = await running(t, {
    entry: ownApp('react-required.cjs'),
    workers: 1,
    config: '[react]\nrenderer = "fast"\n',
  });
  await ask(other, '/string');
  await rendered(other, 1);
  fs.writeFileSync(path.join(other.dir, 'sluice.toml'), config);
  assert.equal((await other.cli(['reload'])).code, 0);
  await ask(other, '/string');
  // A beat of the new worker, and nothing in it.
  await eventually(async () => (await other.status()).workers.every(({ rss_bytes }) => rss_bytes !== null));
  await ask(other, '/string');
  assert.equal((await other.status()).react?.renders_total, 1);
});

void test('where nothing of react-dom is loaded, that is said once', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 2, config: FAST });
  await eventually(async () => {
    await Promise.all(Array.from({ length: 40 }, () => ask(sluice, '/')));
    return warnings(sluice).length > 0;
  });
  const [warning] = warnings(sluice);
  assert.match(
    String(warning),
    /^react = "fast" has no effect in worker \d: after \d+ requests, the thread that serves/,
  );
  for (let at = 0; at < 3; at += 1) await Promise.all(Array.from({ length: 40 }, () => ask(sluice, '/')));
  assert.equal(warnings(sluice).length, 1);
  assert.equal((await sluice.status()).react, null);
});

void test('without the package, and with a React that it does not know, react-dom renders and one line says so', async (t) => {
  const missing = await running(t, {
    entry: path.join(copied(t, 'react-page.cjs', 'react-required.cjs'), 'react-required.cjs'),
    workers: 1,
    config: FAST,
    env: { SLUICE_PRELOAD: path.join(alone(t), 'preload/dist/index.js') },
  });
  const page = (await ask(missing, '/string')).body.toString();
  assert.match(page, /title="&quot;row&quot; 0"/);
  await eventually(() => warnings(missing).length > 0);
  assert.deepEqual(warnings(missing), [
    'react = "fast" has no effect in worker 1: @sluice/react/server was found neither from the app nor beside Sluice',
  ]);
  assert.equal((await missing.status()).react, null);

  const dir = copied(t, 'react-page.cjs', 'react-required.cjs');
  // Its parts compare their versions with each other, so that all of them are changed.
  for (const name of ['react', 'react-dom']) {
    const folder = path.join(dir, 'node_modules', name, 'cjs');
    for (const file of fs.readdirSync(folder).filter((one) => one.endsWith('.production.js'))) {
      const code = fs.readFileSync(path.join(folder, file), 'utf8');
      fs.writeFileSync(path.join(folder, file), code.replaceAll(/"19\.\d+\.\d+"/g, '"19.987.0"'));
    }
  }
  const unknown = await running(t, { entry: path.join(dir, 'react-required.cjs'), workers: 1, config: FAST });
  for (let at = 0; at < 2; at += 1) {
    assert.equal(
      (await ask(unknown, '/markup')).body.toString(),
      (await ask(missing, '/markup')).body.toString(),
    );
  }
  const react = await rendered(unknown, 2);
  assert.deepEqual(react.fallbacks, { 'unknown React version': 2 });
  const lines = unknown.logs.filter(({ line }) => String(line).includes('does not support React 19.987.0'));
  assert.equal(lines.length, 1);
});

function warnings(sluice: Sluice): unknown[] {
  return sluice.logs.flatMap(({ text }) => (String(text).startsWith('react = ') ? [text] : []));
}

/** A directory outside of the repository, with these apps and with React. */
function copied(t: TestContext, ...apps: string[]): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-react-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  for (const name of apps) fs.copyFileSync(ownApp(name), path.join(dir, name));
  for (const name of ['react', 'react-dom', 'scheduler']) {
    const from = path.join(repositoryDir, 'node_modules', name);
    fs.cpSync(from, path.join(dir, 'node_modules', name), { recursive: true });
  }
  return dir;
}

/** A preload without the rest of Sluice around it. */
function alone(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-alone-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  for (const part of ['package.json', 'dist']) {
    const from = path.join(repositoryDir, 'packages/preload', part);
    fs.cpSync(from, path.join(dir, 'preload', part), { recursive: true });
  }
  return dir;
}
