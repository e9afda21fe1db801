// Two gateways that count a client's requests together in a server of Redis, and what becomes of the limit without that server.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { Redis, missing } from '../support/redis.ts';
import type { Sluice } from '../support/sluice.ts';
import { ownApp, running } from './scenario.ts';

const skip = missing;
const LIMIT = 6;

async function gateway(t: TestContext, redis: Redis, limits: string): Promise<Sluice> {
  const config = `[cache]\nenabled = true\nshared_url = "${redis.url}"\nshared_timeout_ms = 1000\n\n[rate]\nshared = true\n\n[rate.limits]\n${limits}\n`;
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config });
  await isUp(sluice, true);
  return sluice;
}

async function isUp(sluice: Sluice, up: boolean): Promise<void> {
  await eventually(
    async () => {
      const { stdout } = await sluice.cli(['cache', '--json']);
      return (JSON.parse(stdout) as { shared: { up: boolean } }).shared.up === up;
    },
    { deadlineMs: 15_000, what: `a shared server that is ${up ? 'in' : 'out of'} use` },
  );
}

async function statuses(gateways: Sluice[], target: string, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const sluice = gateways[at % gateways.length];
    assert.ok(sluice !== undefined);
    const answer = await fetch(`${sluice.url}${target}`);
    await answer.arrayBuffer();
    if (answer.status === 429) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    found.push(answer.status);
  }
  return found;
}

const passed = (found: number[]): number => found.filter((status) => status === 200).length;

void test(
  'gateways let as many requests of a client through together as one alone would',
  { skip },
  async (t) => {
    const redis = await Redis.start(t);
    const limits = `"/a" = "${LIMIT}/h burst ${LIMIT}"\n"/b" = "2/h burst 2"`;
    const both = [await gateway(t, redis, limits), await gateway(t, redis, limits)];

    assert.deepEqual(await statuses(both, '/a', 2 * LIMIT), [
      ...Array.from({ length: LIMIT }, () => 200),
      ...Array.from({ length: LIMIT }, () => 429),
    ]);
    assert.equal(passed(await statuses(both, '/b', 6)), 2, 'a limit of its own');
    assert.equal(passed(await statuses(both, '/c', 6)), 6, 'no limit');

    // Another gateway, that has seen nothing of it, such as the next one of an upgrade.
    const later = await gateway(t, redis, limits);
    assert.equal(passed(await statuses([later], '/a', 3)), 0);
    const kept = await redis.ask('KEYS sluice:rate:*');
    assert.match(kept, /sluice:rate:\/a:/);
    for (const name of kept.split('\r\n').filter((line) => line.startsWith('sluice:rate:')))
      assert.match(await redis.ask(`PTTL ${name}`), /:[1-9]\d*/, 'every entry ends by itself');
  },
);

void test('many requests at once are let through no more often than the limit says', { skip }, async (t) => {
  const redis = await Redis.start(t);
  const limits = `"/" = "${LIMIT}/h burst ${LIMIT}"`;
  const both = [await gateway(t, redis, limits), await gateway(t, redis, limits)];
  const found = await Promise.all(
    Array.from({ length: 10 * LIMIT }, async (_, at) => {
      const sluice = both[at % both.length];
      assert.ok(sluice !== undefined);
      const answer = await fetch(`${sluice.url}/page`);
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  assert.equal(passed(found), LIMIT);
});

void test('a gateway whose server is gone counts alone, and fails no request', { skip }, async (t) => {
  const redis = await Redis.start(t);
  const limits = `"/a" = "${LIMIT}/h burst ${LIMIT}"\n"/b" = "${LIMIT}/h burst ${LIMIT}"`;
  const both = [await gateway(t, redis, limits), await gateway(t, redis, limits)];
  await redis.kill();
  for (const sluice of both) await isUp(sluice, false);
  assert.equal(passed(await statuses(both, '/a', 6 * LIMIT)), 2 * LIMIT, 'each for itself');
  await redis.begin();
  for (const sluice of both) await isUp(sluice, true);
  assert.equal(passed(await statuses(both, '/b', 2 * LIMIT)), LIMIT, 'together again');
});

void test('counting together needs a server to count in', async (t) => {
  const config = '[rate]\nshared = true\n\n[rate.limits]\n"/" = "5/s"\n';
  await assert.rejects(
    running(t, { entry: ownApp('pages.js'), workers: 1, config }),
    /rate\.shared.*cache\.shared_url/s,
  );
});
