// The dashboard in a browser: made-up gateways for what is large or gone, a real one under load for what happens.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, startSluice } from '../support/sluice.ts';
import { open } from './chromium.ts';
import { fakeGateway } from './fake.ts';
import { barriers, cutTables, isTooWide, options, rowsOfTiles, shot } from './look.ts';

const BYTES_MAX = 150_000;
/** The same with 200 classes and 64 workers, whose figures are 100 KB. */
const MANY_BYTES_MAX = 155_000;

for (const dark of [false, true]) {
  for (const width of [1920, 1280, 390]) {
    void test(
      `page has no barriers and fits ${width} pixels, ${dark ? 'dark' : 'light'}`,
      options,
      async (t) => {
        const gateway = await fakeGateway(t, { workers: 4, classes: 12 });
        const { page, faults } = await open(t, gateway.url, { width, dark });
        await page.locator('.tiles').waitFor();
        await page.locator('#classes').waitFor();
        assert.deepEqual(await barriers(page), []);
        assert.equal(await isTooWide(page), false);
        assert.deepEqual(await cutTables(page), []);
        assert.equal((await rowsOfTiles(page)).size, 1, 'as many tiles in each row');
        assert.deepEqual(faults, []);
        await shot(page, `fake-${width}-${dark ? 'dark' : 'light'}`);
      },
    );
  }
}

void test('200 classes and 64 workers are shown, sorted and filtered', options, async (t) => {
  const gateway = await fakeGateway(t, { workers: 64, classes: 200, hasGraph: false, hasDeploy: false });
  const { page, faults } = await open(t, gateway.url);
  const classes = page.locator('section:has(#classes) tbody tr');
  await page.getByRole('button', { name: 'show all 200' }).click();
  assert.equal(await classes.count(), 200);
  assert.equal(await page.locator('section:has(#workers) tbody tr').count(), 64);
  const p99 = page.locator('section:has(#classes) th').filter({ hasText: 'p99' }).first();
  await p99.getByRole('button', { name: 'p99', exact: true }).click();
  assert.equal(await p99.getAttribute('aria-sort'), 'descending');
  assert.match((await classes.first().textContent()) ?? '', /area-199\//);
  assert.match((await classes.last().textContent()) ?? '', /area-3\//, 'what is not known comes last');
  await page.getByLabel('Filter classes by name').fill('AREA-17/ get');
  assert.equal(await classes.count(), 1);
  assert.ok(gateway.sent() < MANY_BYTES_MAX, `${gateway.sent()} bytes until all is there`);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await isTooWide(page), false);
  await shot(page, 'many-390');
  assert.deepEqual(faults, []);
});

void test('routes and paths of a graph have tables, and what is wrong there is seen', options, async (t) => {
  const gateway = await fakeGateway(t, {});
  const { page, faults } = await open(t, gateway.url);
  const routes = page.locator('section:has(#graph-routes) tbody tr');
  await routes.first().waitFor();
  assert.equal(await routes.count(), 15);
  const failing = (await routes.nth(1).textContent()) ?? '';
  assert.match(failing, /area1.*get.*TypeError: Cannot read.*14\.9k.*30\.1.*12030$/);
  const paths = page.locator('section:has(#graph-paths) tbody tr');
  await page.locator('section:has(#graph-paths)').getByRole('button', { name: 'show all 20' }).click();
  assert.equal(await paths.count(), 20);
  assert.match((await paths.first().textContent()) ?? '', /area0\[\{keys\}\].*30k \(33\.3 %\)0$/);
  assert.deepEqual(faults, []);
  await shot(page, 'graph');
});

void test('page that has painted took less than 150 KB', options, async (t) => {
  const gateway = await fakeGateway(t, {});
  const { page } = await open(t, gateway.url);
  await page.locator('.u-wrap').first().waitFor();
  assert.ok(gateway.sent() < BYTES_MAX, `${gateway.sent()} bytes`);
  t.diagnostic(`${gateway.sent()} bytes`);
});

void test(
  'gateway that is gone leaves what was known, says since when, and is shown again when it is back',
  options,
  async (t) => {
    const gateway = await fakeGateway(t, {});
    const { page } = await open(t, gateway.url);
    await page.locator('.tiles').waitFor();
    gateway.die();
    await page.getByText('The gateway does not answer.').waitFor();
    assert.match((await page.locator('.gone').textContent()) ?? '', /Last seen at .*Reconnecting/);
    assert.equal(await page.locator('.tiles').isVisible(), true);
    assert.equal(await page.locator('.page.lost').count(), 1);
    await shot(page, 'gone');
    await fakeGateway(t, { workers: 7, port: Number(new URL(gateway.url).port) });
    await page.locator('.page.live').waitFor();
    assert.equal(await page.locator('.gone').count(), 0);
    await eventually(async () => (await page.locator('section:has(#workers) tbody tr').count()) === 7, {
      what: 'the workers of the gateway that came back',
    });
  },
);

void test('a gateway with another token asks for it, and actions go on', options, async (t) => {
  const gateway = await fakeGateway(t, { token: 'the first one' });
  const { page } = await open(t, `${gateway.url}#token=the%20first%20one`);
  await page.locator('.tiles').waitFor();
  gateway.expect('the second one');
  await page.getByRole('button', { name: 'Actions' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Scale' }).click();
  await dialog.getByText('The token of this page is no longer valid').waitFor();
  await dialog.getByLabel('Token').fill('the second one');
  await dialog.getByRole('button', { name: 'Use it' }).click();
  await dialog.getByRole('button', { name: 'Scale' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(gateway.actions, ['check {}', 'scale {"workers":4}']);
});

void test('a gateway that refuses says why', options, async (t) => {
  const gateway = await fakeGateway(t, {});
  const { page } = await open(t, gateway.url);
  await page.locator('.tiles').waitFor();
  gateway.refuse(503, 'Too many dashboards are open, or the gateway is stopping.\n');
  await page.getByText('Too many dashboards are open').waitFor();
  assert.equal(await page.getByText('does not answer').count(), 0);
});

void test('reader from elsewhere is asked for the token, which allows actions too', options, async (t) => {
  const gateway = await fakeGateway(t, { token: 'open sesame, please' });
  const { page } = await open(t, gateway.url);
  await page.getByLabel('Token', { exact: true }).last().fill('wrong');
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.getByText('This token is not valid').waitFor();
  await page.getByLabel('Token', { exact: true }).last().fill('open sesame, please');
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.locator('.tiles').waitFor();
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByLabel('Workers').last().fill('7');
  await page.getByRole('button', { name: 'Scale' }).click();
  await page.getByText('7 is now the desired number of workers.').waitFor();
  assert.ok(gateway.actions.includes('scale {"workers":7}'), gateway.actions.join());
});

void test('the page cache has a card while it is on', options, async (t) => {
  const gateway = await fakeGateway(t, {});
  const { page } = await open(t, gateway.url);
  const card = page.locator('section:has(#pages)');
  await card.waitFor();
  const text = (await card.innerText()).replaceAll(/\s+/g, ' ');
  assert.match(text, /answered without a render \? 92k \(92 %\)/);
  assert.match(text, /1200 pages, 45\.8 MiB of 256 MiB/);
});

void test(
  'effect of the dial stands beside what pages cost, by setting, variant and page',
  options,
  async (t) => {
    const gateway = await fakeGateway(t, {});
    const { page, faults } = await open(t, gateway.url);
    const card = page.locator('section:has(#dial)');
    await card.waitFor();
    const text = async () => (await card.innerText()).replaceAll(/\s+/g, ' ');
    assert.match(await text(), /renders for 50% of visitors, 0% for Reviews@mobile until the next reload/);
    assert.match(
      await text(),
      /s0 mobile 3750 43\.8 ms 4\.8 s poor 620 ms poor 6\.72 s needs improvement 240 ms needs improvement 320 ms needs improvement 0\.19 needs improvement 0\.8 \(0 mismatches, 3 failed\) 29\.3 KiB 56\.6 KiB 8\.58 MiB 5 ms of 20k/,
    );
    assert.match(
      await text(),
      /s100 desktop 12k 140 ms 1\.5 s – – – – 0\.06 0 93\.8 KiB 56\.6 KiB – 10 ms of 20k/,
    );
    await card.getByRole('button', { name: 'Variants' }).click();
    assert.match(await text(), /hero:b 10k 117 ms 1\.8 s/);
    assert.equal(await card.getByRole('columnheader', { name: 'Server CPU' }).count(), 0);
    await card.getByRole('button', { name: 'Pages' }).click();
    assert.match(await text(), /shop\.example GET \/product\/:id 12k/);

    const components = page.locator('section:has(#components)');
    const rows = components.locator('tbody tr');
    assert.equal(await rows.count(), 15);
    assert.match((await rows.nth(3).innerText()).replaceAll(/\s+/g, ' '), /late 2\.25 %, error 0\.09 %/);
    await components.getByRole('button', { name: 'show all 40' }).click();
    assert.equal(await rows.count(), 40);
    assert.deepEqual(await barriers(page), []);
    await shot(page, 'dial');
    assert.deepEqual(faults, []);
  },
);

void test('changes since the deploy are on the first screen, with how sure they are', options, async (t) => {
  const gateway = await fakeGateway(t, {});
  const { page, faults } = await open(t, gateway.url);
  const card = page.locator('section:has(#deploy)');
  await card.waitFor();
  const text = async () => (await card.innerText()).replaceAll(/\s+/g, ' ');
  assert.match(await text(), /Since the last deploy generation 2, 12 min ago/);
  assert.match(await text(), /service time \+12\.3 % \(\+9\.2 to \+15\.4\), 99\.99 % sure/);
  assert.match(await text(), /failures \+1\.1 points .* holes in pages too few for a result/);
  assert.match(await text(), /area-3\/:id service time 18 ms 31 ms \+72\.0 %/);
  const box = await card.boundingBox();
  assert.ok(box !== null && box.y + box.height < 800, JSON.stringify(box));
  const seen = (await page.locator('section:has(#visitors)').innerText()).replaceAll(/\s+/g, ' ');
  assert.match(
    seen,
    /Holes in pages 0\.06 % of 520k renders Now: shop\/Component3 2\.25 % of its renders late/,
  );
  assert.match(seen, /mobile, TTI 3\.36 s 7500 views hero:a, LCP 1\.5 s 12k views hero:b, LCP 1\.8 s/);
  assert.match(
    seen,
    /hero:b against a largest contentful paint \+20\.0 % \(\+15\.0 to \+25\.0\), 99\.99 % sure/,
  );
  assert.match(seen, /hero:c against a too few views for a result/);
  assert.match(seen, /hero has 2 further arms, which are not compared: at most 8 are/);
  assert.deepEqual(faults, []);
});

void test('before a second version has served, nothing is compared', options, async (t) => {
  const gateway = await fakeGateway(t, { hasDeploy: false });
  const { page } = await open(t, gateway.url);
  await page.locator('#visitors').waitFor();
  assert.equal(await page.locator('#deploy').count(), 0);
});

void test(
  'hosts that the app calls have a table, and classes the parts of their time',
  options,
  async (t) => {
    const gateway = await fakeGateway(t, {});
    const { page } = await open(t, gateway.url);
    const rows = page.locator('section:has(#calls) tbody tr');
    await rows.first().waitFor();
    const text = async (row: number) => ((await rows.nth(row).innerText()) ?? '').replaceAll(/\s+/g, ' ');
    assert.match(await text(0), /prices\.internal:8080 1800 240 ms 1\.9 s 94 % 4 12 7 for 6\.2 s/);
    assert.match(await text(1), /search\.internal 1800 6 ms 19 ms 6 % 0 0 0$/);
    const first = page.locator('section:has(#classes) tbody tr').first();
    // 4 ms in the queue, 8 ms in the worker, of which 2 ms CPU time.
    assert.match(
      (await first.innerText()).replaceAll(/\s+/g, ' '),
      /33\.3 % in the queue, 16\.7 % computing, 50 % waiting/,
    );
  },
);

void test('every figure has a help line that the keyboard reaches', options, async (t) => {
  const gateway = await fakeGateway(t, {});
  const { page } = await open(t, gateway.url);
  await page.locator('.tiles').waitFor();
  const without = await page.evaluate(() =>
    [...document.querySelectorAll('.tile, .chart, section.card > h2, section.card > h3')]
      .filter((one) => one.querySelector('.help button[aria-describedby]') === null)
      .map((one) => one.textContent),
  );
  assert.deepEqual(
    without.map((text) => text?.replace(/\s*\d+$/, '')),
    ['Workers', 'Requests and renders', 'Page cache'],
    'whose columns and facts have their own',
  );
  await page.getByRole('button', { name: 'Help: Queue wait', exact: true }).first().focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  assert.equal(
    await page.getByRole('tooltip').filter({ hasText: 'Time before a worker accepted' }).first().isVisible(),
    true,
  );
});

void test(
  'real gateway under load, with a crash and a reload while the page is open',
  options,
  async (t: TestContext) => {
    const sluice = await startSluice({ entry: app('faulty.js') });
    t.after(() => sluice.stop());
    const { page, faults } = await open(t, `${sluice.admin}/`);
    await page.locator('.tiles').waitFor();
    let isOver = false;
    let isPaused = false;
    const load = (async () => {
      while (!isOver) {
        if (isPaused) await new Promise((resolve) => setTimeout(resolve, 20));
        else await fetch(`${sluice.url}/`).then((answer) => answer.text());
      }
    })();
    t.after(() => (isOver = true));
    await page.locator('section:has(#classes) tbody tr').first().waitFor();
    const victim = (await sluice.status()).workers[0]?.pid;
    assert.ok(typeof victim === 'number');
    // A worker whose connection breaks before its exit is noticed counts as one that was given up, so it dies idle.
    isPaused = true;
    await eventually(async () => (await sluice.status()).requests.in_service === 0, {
      what: 'an idle moment',
    });
    process.kill(victim, 'SIGKILL');
    await page.locator('.events .chip.crash').first().waitFor();
    isPaused = false;
    const token = fs.readFileSync(path.join(sluice.runDir, 'admin-token'), 'utf8').trim();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.locator('dialog input').fill(token);
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('has taken over after').waitFor();
    await eventually(
      async () => (await page.locator('.about').textContent())?.includes('generation 2') === true,
      {
        what: 'the second generation',
      },
    );
    isOver = true;
    await load;
    assert.deepEqual(faults, []);
    assert.equal(await page.locator('.page.live').count(), 1);
    await shot(page, 'real');
  },
);
