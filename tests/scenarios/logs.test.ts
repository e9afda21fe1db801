// The log as those read it who look for a fault: selected by `sluice logs`, with the app's own lines, and without secrets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

interface Line {
  readonly event: string;
  readonly level: string;
  readonly target?: string;
  readonly line?: string | null;
  readonly json?: { readonly order: { readonly id: number } } | null;
  readonly headers?: Readonly<Record<string, string>> | null;
}

const start = (t: Parameters<typeof running>[0], config = ''): Promise<Sluice> =>
  running(t, { entry: ownApp('chatty.js'), workers: 1, config: `[log]\n${config}` });

async function logs(sluice: Sluice, ...flags: string[]): Promise<Line[]> {
  const { code, stdout, stderr } = await sluice.cli(['logs', '--json', ...flags]);
  assert.equal(code, 0, stderr);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ target }) => target !== '/.sluice/ready');
}

/** The lines, once there are so many. */
const logged = (sluice: Sluice, count: number, ...flags: string[]): Promise<Line[]> =>
  eventually(
    async () => {
      const lines = await logs(sluice, ...flags);
      return lines.length >= count ? lines : undefined;
    },
    { what: `${count} lines for ${flags.join(' ')}` },
  );

void test('the lines of an app keep their level, their fields and their stacks', async (t) => {
  const sluice = await start(t);
  for (const target of ['/json', '/stack', '/plain']) await ask(sluice, target);
  const lines = await logged(sluice, 3, '--kind', 'app');
  const json = lines.find((line) => line.json);
  assert.equal(json?.json?.order.id, 7);
  assert.deepEqual([json.level, json.line], ['error', null]);
  const stacks = lines.filter(({ line }) => line?.includes('TypeError: broken'));
  assert.equal(stacks.length, 1);
  assert.match(stacks[0]?.line ?? '', /\n {4}at .*chatty\.js(.|\n)*\[cause\]: Error: the cause\n/);
  assert.equal(stacks[0]?.level, 'error');
  assert.equal(lines.find(({ line }) => line === 'all is well')?.level, 'info');
  assert.equal((await logs(sluice, '--kind', 'app', '--level', 'error')).length, 2);
  const { stdout } = await sluice.cli(['logs', '--text', '--kind', 'app']);
  assert.match(stdout, /w1 \| error out of "stock" {2}order=\{"id":7\}\n/);
});

void test('filters select requests by status, class, duration, age and text, and all of them must hold', async (t) => {
  const sluice = await start(t);
  for (const target of ['/plain', '/json?status=503', '/other?status=404']) await ask(sluice, target);
  await logged(sluice, 3, '--kind', 'access');
  const targets = async (...flags: string[]): Promise<(string | undefined)[]> =>
    (await logs(sluice, ...flags)).map(({ target }) => target);
  assert.deepEqual(await targets('--status', '5xx'), ['/json?status=503']);
  assert.deepEqual(await targets('--status', '5xx,404'), ['/json?status=503', '/other?status=404']);
  assert.deepEqual(await targets('--status', '5xx,404', '-n', '1'), ['/other?status=404']);
  assert.deepEqual(await targets('--class', 'GET /plain'), ['/plain']);
  assert.deepEqual(await targets('--slow', '1h'), []);
  assert.equal((await targets('--slow', '0ms', '--since', '1h')).length, 3);
  assert.deepEqual(await targets('--kind', 'access', '--since', '2999-01-01T00:00:00Z'), []);
  assert.deepEqual(await targets('--kind', 'access', '--grep', '^.*/o.her'), ['/other?status=404']);
  assert.deepEqual(await targets('--kind', 'access', '-F', '--grep', 'n?s'), ['/json?status=503']);
  assert.equal((await sluice.cli(['logs', '--grep', '('])).code, 2);
  assert.equal((await sluice.cli(['logs', '--status', '6xx'])).code, 2);
});

void test('the access log has the headers that are asked for, and no credentials and no secret of a query string', async (t) => {
  const sluice = await start(t, 'headers = ["user-agent", "x-tenant", "authorization", "referer"]\n');
  const headers =
    'User-Agent: probe/1\r\nX-Tenant: blue\r\nAuthorization: Bearer hunter2\r\nReferer: https://shop.example/?code=hunter2&page=1\r\n';
  await ask(sluice, '/plain?access_token=hunter2&page=2', { headers });
  const [line] = await logged(sluice, 1, '--kind', 'access');
  assert.deepEqual(line?.headers, {
    'user-agent': 'probe/1',
    'x-tenant': 'blue',
    authorization: '***',
    referer: 'https://shop.example/?code=***&page=1',
  });
  assert.equal(line.target, '/plain?access_token=***&page=2');
});

void test('query strings are kept or dropped where the config says so', async (t) => {
  for (const [query, target] of [
    ['keep', '/plain?token=a'],
    ['drop', '/plain'],
  ]) {
    const sluice = await start(t, `query = "${query}"\n`);
    await ask(sluice, '/plain?token=a');
    assert.equal((await logged(sluice, 1, '--kind', 'access'))[0]?.target, target);
  }
});

void test('standard output has the names of OpenTelemetry or ECS, and sluice logs those of the reference', async (t) => {
  for (const [fields, status] of [
    ['otel', '"http.response.status_code":200'],
    ['ecs', '"ecs.version":'],
  ] as const) {
    const sluice = await start(t, `fields = "${fields}"\n`);
    await ask(sluice, '/plain');
    await eventually(() => sluice.stdout.includes(status), { what: `${status} on standard output` });
    assert.equal((await logged(sluice, 1, '--kind', 'access'))[0]?.event, 'access');
  }
});
