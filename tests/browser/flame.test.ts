// Flame graphs in the dashboard: of workers on demand, and of slow requests that were profiled.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { FlameData } from '../../packages/flame/src/data.ts';
import type { Tail } from '../../packages/dashboard/src/snapshot.ts';
import { bundled } from '../scenarios/planted.ts';
import { eventually } from '../support/eventually.ts';
import { startSluice } from '../support/sluice.ts';
import { open } from './chromium.ts';
import { fakeGateway } from './fake.ts';
import { barriers, isTooWide, options, shot } from './look.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-flame-'));
after(() => fs.rmSync(dir, { recursive: true, force: true }));

const PACKAGES = ['app', 'node', '(garbage collector)', 'react-dom', 'qs', 'fastify'];

/** A graph of 400 stacks, `depth` deep at most. */
function madeUp(): FlameData {
  const parents = Array.from({ length: 400 }, (_, at) => (at === 0 ? 0 : Math.floor((at - 1) / 3)));
  return {
    title: 'worker 2',
    unit: 'us',
    facts: [
      ['Duration', '5.0 s'],
      ['CPU time', '3.1 s'],
    ],
    owners: PACKAGES,
    frames: parents.map((_, at) => [`function${at}`, `/srv/app/file${at}.js:${at}:1`, at % PACKAGES.length]),
    parents,
    stack_frames: parents.map((_, at) => at),
    selves: parents.map((_, at) => (at % 7) * 1000 + 50),
    components: [{ component: 'ProductList', self_ms: 41, total_ms: 90 }],
    places: [
      {
        function: 'function9',
        file: '/srv/app/file9.js',
        line: 9,
        package: 'app',
        own: 91_000,
        collected: 4_000,
      },
    ],
  };
}

const TAIL: Tail = {
  id: 7,
  class: 'shop.example GET /area-1/:id',
  target: 'GET /area-1/17?sort=price',
  request_id: 'r7',
  worker: 2,
  at_unix_ms: Date.UTC(2026, 10, 23, 12, 0, 0),
  service_ms: 912,
  cpu_ms: 871,
  usual_ms: 40,
  bytes: 81_000,
  file: '/run/shop/profiles/tail/7.cpuprofile',
};

for (const [width, dark] of [
  [1440, false],
  [1440, true],
  [390, true],
] as const) {
  void test(
    `slow request opens its flame graph, which keys move in, at ${width} pixels, ${dark ? 'dark' : 'light'}`,
    options,
    async (t) => {
      const gateway = await fakeGateway(t, { tails: [TAIL], flame: () => Promise.resolve(madeUp()) });
      const { page, faults } = await open(t, gateway.url, { width, dark });
      const row = page.locator('section:has(#tails) tbody tr');
      assert.match((await row.textContent()) ?? '', /912 ms871 ms40 ms.*\/area-1\/17/);
      await row.getByRole('button', { name: /^Flame graph of shop\.example GET \/area-1/ }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Flame graph: worker 2' });
      const pointed = dialog.locator('.pointed');
      await dialog.locator('canvas').waitFor();
      assert.deepEqual(await barriers(page), []);
      await shot(page, `flame-${width}-${dark ? 'dark' : 'light'}`);
      assert.equal(await isTooWide(page), false);
      // The keyboard is in the graph from the start.
      await page.keyboard.press('ArrowDown');
      const first = await pointed.textContent();
      assert.match(first ?? '', /^function[123] · .* ms \(\d+\.\d %\), itself/);
      await page.keyboard.press('ArrowRight');
      assert.notEqual(await pointed.textContent(), first);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      assert.match((await pointed.textContent()) ?? '', /\(100\.0 %\)/, 'the first Escape shows all again');
      await page.keyboard.press('/');
      await page.keyboard.type('function9');
      assert.match((await dialog.locator('output').textContent()) ?? '', /^\d+\.\d %$/);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      assert.deepEqual(faults, []);
    },
  );
}

void test('profile that is closed before it is there is given up', options, async (t) => {
  const gateway = await fakeGateway(t, { token: 'sesame', flame: () => new Promise(() => undefined) });
  const { page } = await open(t, `${gateway.url}#token=sesame`);
  await page.getByRole('button', { name: 'Profile worker 3' }).click();
  const dialog = page.getByRole('dialog', { name: 'Flame graph: worker 3' });
  await dialog.getByText('The profile takes 5 s').waitFor();
  await eventually(() => gateway.actions.includes('profile {"worker":3,"seconds":5}'), { what: 'the wish' });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await eventually(() => gateway.actions.includes('gave up'), { what: 'the end of the wish' });
});

void test('real gateway draws a slow request and its workers, and leaves no files', options, async (t) => {
  const sluice = await startSluice({
    entry: await bundled(dir),
    workers: 2,
    config: '[profile]\ntail = "on"\n',
  });
  t.after(() => sluice.stop());
  const ask = async (target: string) => {
    const answer = await fetch(`${sluice.url}${target}`);
    await answer.text();
    assert.equal(answer.status, 200);
  };
  for (let count = 0; count < 150; count += 1) await ask('/regex?size=12');
  await eventually(
    async () => {
      await ask('/regex?size=22');
      return ((await sluice.status()) as unknown as { tails: Tail[] }).tails.length > 0;
    },
    { deadlineMs: 60_000, what: 'a profile of a slow request' },
  );
  const token = fs.readFileSync(path.join(sluice.runDir, 'admin-token'), 'utf8').trim();
  const { page, faults } = await open(t, `${sluice.admin}/#token=${token}`);
  const dialog = page.getByRole('dialog');
  await page
    .getByRole('button', { name: /^Flame graph of .*regex/ })
    .first()
    .click();
  await dialog
    .locator('td', { hasText: /faults\.ts:\d+$/ })
    .first()
    .waitFor();
  assert.match((await dialog.locator('tbody tr').first().textContent()) ?? '', /^growingExpression/);
  await dialog.getByRole('button', { name: 'Close' }).click();

  let isOver = false;
  const load = (async () => {
    while (!isOver) await ask('/?ms=5');
  })();
  t.after(() => (isOver = true));
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('spinbutton', { name: 'Seconds' }).fill('1');
  await page.getByRole('button', { name: 'Profile all workers' }).click();
  await dialog
    .getByText(/planted\/server\.ts:\d+$/)
    .first()
    .waitFor();
  assert.match((await dialog.locator('h2').textContent()) ?? '', /workers \d+, \d+/);
  await shot(page, 'flame-real');
  isOver = true;
  await load;
  const left = () => fs.readdirSync(path.join(sluice.runDir, 'profiles')).filter((name) => name !== 'tail');
  await eventually(() => left().length === 0, { what: `nothing of it left in ${sluice.runDir}` });
  assert.deepEqual(faults, []);
});
