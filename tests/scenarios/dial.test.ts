// For whom the server renders is changed while it serves, and what that does is told: by workers of what they rendered, and by
// browsers of what they got.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '../support/eventually.ts';
import { runSluice, StartFailed, startSluice, type Sluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { allReady, ask, ownApp, pidOf, recordOf, running } from './scenario.ts';
import { metric } from './stuck.ts';

interface Told {
  pid: number;
  server: Record<string, number>;
  vitals: string;
}

const CONFIG = '[render.server]\n"*" = "50%"\n"Reviews@mobile" = "0%"\n';

async function told(sluice: Sluice): Promise<Told> {
  const { body } = await ask(sluice, '/');
  return JSON.parse(body.toString()) as Told;
}

/** Waits until every one of two workers has heard of a dial. */
async function heard(sluice: Sluice, server: Record<string, number>): Promise<Set<number>> {
  const pids = new Set<number>();
  await eventually(
    async () => {
      // Both are asked as long as one does not know it.
      const answers = await Promise.all(Array.from({ length: 8 }, async () => told(sluice)));
      for (const { pid, server: known } of answers)
        if (isDeepStrictEqual(known, server)) pids.add(pid);
        else pids.delete(pid);
      return pids.size === 2;
    },
    { deadlineMs: 15_000, what: `the dial ${JSON.stringify(server)} in both workers` },
  );
  return pids;
}

async function effects(sluice: Sluice, isTold: (effects: NonNullable<Snapshot['effects']>) => boolean) {
  return eventually(
    async () => {
      const { effects: known } = await sluice.status();
      return known !== null && isTold(known) ? known : undefined;
    },
    { deadlineMs: 15_000, what: 'reports' },
  );
}

const beacon = (measures: Record<string, unknown>): string =>
  JSON.stringify({ v: 1, page: '/page?setting=s50', setting: 's50', device: 'mobile', ...measures });

async function send(sluice: Sluice, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${sluice.url}/.sluice/vitals`, { method: 'POST', body, headers });
}

void test('a turned dial reaches running workers, and the config comes back with a reload', async (t) => {
  const sluice = await running(t, { entry: ownApp('renders.cjs'), config: CONFIG });
  const first = await told(sluice);
  assert.deepEqual(first.server, { '*': 0.5, 'Reviews@mobile': 0 }, 'before the first request');
  assert.equal(first.vitals, '/.sluice/vitals');
  const before = new Set((await allReady(sluice, 2)).workers.map(pidOf));

  const turned = await sluice.cli(['dial', 'Reviews', '12.5%']);
  assert.deepEqual([turned.code, turned.stderr], [0, '']);
  assert.match(
    turned.stdout,
    /\nReviews +- +12\.5%\nReviews +mobile +0%\n\nDifferent from the configuration/,
  );
  const pids = await heard(sluice, { '*': 0.5, Reviews: 0.125, 'Reviews@mobile': 0 });
  assert.deepEqual(pids, before, 'the same processes');
  const { generation, dial } = await sluice.status();
  assert.deepEqual(dial, {
    server: { '*': '50%', Reviews: '12.5%', 'Reviews@mobile': '0%' },
    turned: true,
  });
  assert.equal(generation, 1);
  const line = sluice.logs.find(({ event }) => event === 'dial_changed');
  assert.equal(line?.['shares'], '* = 50%, Reviews = 12.5%, Reviews@mobile = 0%');

  assert.equal((await sluice.cli(['reload'])).code, 0);
  await heard(sluice, { '*': 0.5, 'Reviews@mobile': 0 });
  assert.equal((await sluice.status()).dial.turned, false);
});

void test('dial takes the file as it is now, and refuses what cannot be with all that is wrong', async (t) => {
  const sluice = await running(t, { entry: ownApp('renders.cjs'), workers: 1, config: CONFIG });
  const file = path.join(sluice.dir, 'sluice.toml');
  fs.writeFileSync(file, '[render]\nserver = { "*" = "10%" }\n');
  assert.equal((await sluice.cli(['dial', '--config', file])).code, 0);
  assert.deepEqual((await sluice.status()).dial.server, { '*': '10%' });
  for (const [args, words] of [
    [['Reviews@watch', '5%'], /Reviews@watch.*one of mobile, desktop, bot/],
    [['Reviews', 'half'], /"half" for "Reviews".*a share from/],
    [['Reviews'], /"Reviews" is not a share from 0% to 100%/],
  ] as const) {
    const refused = await sluice.cli(['dial', ...args]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, words);
  }
  fs.writeFileSync(file, '[render.server]\n"A@watch" = "5%"\n"B" = "500%"\n');
  const { code, stderr } = await sluice.cli(['dial', '--config', file]);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /sluice\.toml:1: render\.server contains "500%" for "B"[^]*render\.server contains the entry "A@watch"/,
  );
  assert.deepEqual((await sluice.status()).dial.server, { '*': '10%' });
  await assert.rejects(
    startSluice({ entry: ownApp('renders.cjs'), config: fs.readFileSync(file, 'utf8') }),
    StartFailed,
  );
});

void test('components, pages and beacons are counted by setting, in status, metrics and log', async (t) => {
  const sluice = await running(t, { entry: ownApp('renders.cjs'), workers: 1, config: CONFIG });
  assert.equal((await sluice.status()).effects, null);
  for (const variant of ['hero:a', 'hero:b']) await ask(sluice, `/page?setting=s50&variant=${variant}`);
  await effects(sluice, ({ components_count: count }) => count === 3);
  for (const lcp_ms of [900, 1000, 1100, 4000]) {
    const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain;charset=UTF-8' };
    const sent = {
      lcp_ms,
      ttfb_ms: 120,
      tti_ms: 2 * lcp_ms,
      memory_bytes: 5_000_000,
      cls: 0.2,
      html_bytes: 40_000,
      js_bytes: 60_000,
      variant: 'hero:b',
      mismatches: 1,
      failed: 0,
    };
    const answer = await send(sluice, beacon(sent), headers);
    assert.deepEqual([answer.status, await answer.text()], [204, '']);
  }
  const { components, settings, variants, pages } = await effects(sluice, () => true);
  assert.deepEqual(
    components.map(({ name, outcomes, cpu_ms_total: cpu_ms }) => [name, outcomes, cpu_ms]),
    [
      ['Reviews', { late: 2 }, 10],
      ['Header', { rendered: 2 }, 5],
      ['Price', { rendered: 2 }, 5],
    ],
  );
  assert.deepEqual(
    settings.map(({ name, pages_total: made, cpu_ms_per_page: each }) => [name, made, each]),
    [['s50', 2, 10]],
  );
  const [mobile] = settings[0]?.devices ?? [];
  assert.equal(mobile?.reports_total, 4);
  assert.ok(Math.abs((mobile.lcp_ms ?? 0) - 1100) < 40, JSON.stringify(mobile));
  assert.equal(mobile.inp_ms, null);
  assert.ok(Math.abs((mobile.tti_ms ?? 0) - 2200) < 80, JSON.stringify(mobile));
  assert.ok(Math.abs((mobile.memory_bytes ?? 0) - 5e6) < 2e5, JSON.stringify(mobile));
  assert.equal(mobile.key_ms, undefined);
  assert.deepEqual(
    variants.map(({ name, reports_total: reports }) => [name, reports]),
    [
      ['hero:a', 0],
      ['hero:b', 4],
    ],
  );
  assert.deepEqual(
    pages.map(({ name }) => name),
    ['GET /page'],
  );

  for (const [name, value] of [
    ['sluice_component_renders_total{component="Reviews",outcome="late"}', 2],
    ['sluice_component_cpu_seconds_total{component="Header"}', 0.005],
    ['sluice_setting_pages_total{setting="s50"}', 2],
    ['sluice_setting_cpu_seconds_total{setting="s50"}', 0.02],
    ['sluice_vitals_reports_total{setting="s50",device="mobile"}', 4],
    ['sluice_vitals_seconds_bucket{vital="lcp",setting="s50",device="mobile",le="1"}', 2],
    ['sluice_vitals_seconds_count{vital="lcp",setting="s50",device="mobile"}', 4],
    ['sluice_vitals_seconds_sum{vital="lcp",setting="s50",device="mobile"}', 7],
    ['sluice_vitals_seconds_count{vital="inp",setting="s50",device="mobile"}', 0],
    ['sluice_vitals_seconds_sum{vital="tti",setting="s50",device="mobile"}', 14],
    ['sluice_vitals_seconds_count{vital="long",setting="s50",device="mobile"}', 0],
    ['sluice_vitals_layout_shift_bucket{setting="s50",device="mobile",le="0.25"}', 4],
    ['sluice_vitals_bytes_total{content="js",setting="s50",device="mobile"}', 240_000],
    ['sluice_vitals_faults_total{fault="mismatch",setting="s50",device="mobile"}', 4],
    ['sluice_vitals_faults_total{fault="failed",setting="s50",device="mobile"}', 0],
  ] as const)
    assert.equal(await metric(sluice, name), value, name);
  const { stdout } = await sluice.cli(['status']);
  assert.match(stdout, /\ndial +on the server for \* 50%, Reviews@mobile 0% of visitors\n/);
  assert.match(
    stdout,
    /\ncomponents +3: rendered 4, late 2; CPU 20 ms\n {2}s50 +2 pages, CPU 10 ms each; mobile 4/,
  );
  const record = await recordOf(sluice, '/.sluice/vitals');
  assert.deepEqual([record['status'], record['worker'], record['method']], [204, null, 'POST']);
});

void test('I6, I8: malformed, false and excessive beacons are rejected, limited, and reach no worker', async (t) => {
  const config = `${CONFIG}[server]\ntrusted_peers = ["127.0.0.1"]\n`;
  const sluice = await running(t, { entry: ownApp('renders.cjs'), workers: 1, config });
  await ask(sluice, '/page?setting=s50');
  await effects(sluice, ({ settings }) => settings.length === 1);
  const served = async (): Promise<number | undefined> => (await sluice.status()).workers[0]?.requests_total;
  const before = await served();

  for (const body of [
    '',
    'NaN',
    '{"v":1',
    '['.repeat(4096),
    `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`,
    beacon({ lcp_ms: 1e300 }),
    beacon({ lcp_ms: -1 }),
    beacon({ lcp_ms: 'soon' }),
    beacon({ cls: 1e9 }),
    beacon({ v: 2 }),
    beacon({ device: 'toaster' }),
    beacon({ setting: 'x'.repeat(65) }),
    beacon({ setting: 's50", evil="1' }),
    '{"v":1,"setting":"s50","device":"mobile","lcp_ms":1e999}',
  ]) {
    const answer = await send(sluice, body, { 'x-forwarded-for': '192.0.2.7' });
    assert.equal(answer.status, 400, body.slice(0, 60));
    assert.match(answer.headers.get('x-sluice-error') ?? '', /^SLU-VITALS-REFUSED$/);
  }
  const foreign = await send(sluice, beacon({}), { 'sec-fetch-site': 'cross-site' });
  assert.equal(foreign.status, 400);
  const long = await send(sluice, beacon({ page: `/${'x'.repeat(5000)}` }));
  assert.equal(long.status, 413);

  const statuses = new Map<number, number>();
  for (let number = 0; number < 200; number += 1) {
    const { status } = await send(sluice, beacon({ setting: `made-up-${number}`, variant: `v${number}` }), {
      'x-forwarded-for': '192.0.2.8',
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.ok((statuses.get(429) ?? 0) >= 100 && (statuses.get(204) ?? 0) >= 60, JSON.stringify([...statuses]));
  assert.equal(statuses.size, 2);
  const { settings, variants } = await effects(sluice, () => true);
  assert.deepEqual(
    [settings.map(({ name }) => name), variants.map(({ name }) => name)],
    [['s50', 'other'], ['other']],
  );
  assert.deepEqual(settings[0]?.devices, [], 'none of it counts for the real setting');
  assert.equal(await metric(sluice, 'sluice_errors_total{code="SLU-VITALS-REFUSED"}'), 15);
  assert.equal(await served(), before);
});

void test('dial without a gateway says so', async (t) => {
  const sluice = await running(t, { entry: ownApp('renders.cjs'), workers: 1 });
  assert.deepEqual((await sluice.status()).dial, { server: { '*': '100%' }, turned: false });
  assert.match((await sluice.cli(['dial', '--json'])).stdout, /"\*": ?"100%"/);
  const { code } = await runSluice(['dial', '--run-dir', path.join(sluice.dir, 'nowhere')]);
  assert.equal(code, 3);
});
