// A crawl by many users, each with a cookie of its own, over pages that are for all, for one, varied by cookie, streamed, failing and
// dying, with HEAD, ranges, conditions, changes, purges, reloads and killed workers between them. No answer has another user's canary.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { long, randomFrom, seed } from '../support/chance.ts';
import { ownApp, running } from './scenario.ts';
import { reload } from './versions.ts';

const USERS = 100;
const ANSWERS = long ? 1_000_000 : 10_000;
const LANES = 64;

const FOR_ALL = 'cc=public,max-age=1,stale-while-revalidate=2,stale-if-error=30';
const targets = [
  // For one.
  '/user',
  '/user?cc=private,max-age=60',
  '/user?cc=max-age=60',
  '/user?cc=no-cache',
  '/user?cc=no-store',
  '/user?cc=public,max-age=60&h=set-cookie:a=b',
  '/user?cc=public,max-age=60&h=vary:*',
  '/user?h=expires:Thu,%2001%20Jan%202099%2000:00:00%20GMT',
  // Varied.
  '/user?cc=public,max-age=2&h=vary:cookie',
  '/user?cc=s-maxage=1,stale-while-revalidate=1&h=vary:accept,cookie',
  // For all.
  ...[0, 1, 2, 3].map((at) => `/page?${FOR_ALL}&at=${at}`),
  `/stream?ms=20&${FOR_ALL}`,
  `/failing?${FOR_ALL}`,
  `/validated?${FOR_ALL}`,
  `/truncated?${FOR_ALL}`,
  `/large?bytes=20000&${FOR_ALL}`,
];

void test(
  'i7 no user ever gets a byte of another’s, whatever is kept, joined, stale or broken',
  { timeout: 3_600_000 },
  async (t) => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-leaks-'));
    t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    const failing = path.join(dir, 'failing');
    const sluice = await running(t, {
      entry: ownApp('pages.js'),
      workers: 2,
      config: '[cache]\nenabled = true\nprivate_s = 1\nbytes_max = 200000\n',
      env: { FAILING_FILE: failing, DIED_FILE: path.join(dir, 'died') },
    });
    const random = randomFrom(seed);
    const agent = new http.Agent({ keepAlive: true, maxSockets: LANES });
    t.after(() => agent.destroy());
    const leaks: string[] = [];
    const uses: Record<string, number> = {};
    let answers = 0;
    let isDone = false;

    const ask = (user: number): Promise<void> =>
      new Promise((resolve) => {
        const target = targets[random(targets.length)] ?? '/user';
        const headers: http.OutgoingHttpHeaders = { cookie: `canary=user-${user}-` };
        const odd = random(12);
        if (odd === 0) headers['range'] = 'bytes=2-30';
        if (odd === 1) headers['if-none-match'] = '"v1"';
        if (odd === 2) headers['authorization'] = `Basic user-${user}-`;
        if (odd === 3) delete headers['cookie'];
        const method = ['HEAD', 'POST'][random(40)] ?? 'GET';
        const request = http.request(`${sluice.url}${target}`, { agent, method, headers }, (answer) => {
          let body = JSON.stringify(answer.headers);
          answer.setEncoding('latin1');
          answer.on('data', (piece: string) => (body += piece));
          answer.on('error', () => {});
          answer.on('close', () => {
            answers += 1;
            const use = String(answer.headers['cache-status'] ?? 'none').replaceAll(/=-?\d+/g, '');
            uses[use] = (uses[use] ?? 0) + 1;
            for (const [canary] of body.matchAll(/user-\d+-/g)) {
              if (canary !== `user-${user}-` || headers['cookie'] === undefined)
                leaks.push(`${user} ${target}: ${body}`);
            }
          });
          // A client that leaves in the middle.
          if (random(50) === 0) answer.destroy();
        });
        request.on('error', () => {});
        request.on('close', resolve);
        if (random(60) === 0) setTimeout(() => request.destroy(), random(20));
        request.end();
      });

    const lane = async (): Promise<void> => {
      while (answers < ANSWERS && !isDone) await ask(random(USERS));
    };
    const trouble = async (): Promise<void> => {
      for (let round = 0; !isDone; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 300));
        if (round % 2 === 0) fs.writeFileSync(failing, '');
        else fs.rmSync(failing, { force: true });
        if (round % 4 === 1)
          await sluice.cli(['cache', 'purge', '--all', ...(round % 8 === 1 ? ['--soft'] : [])]);
        if (round % 12 === 6) {
          const { workers } = await sluice.status();
          const pid = workers[random(workers.length)]?.pid;
          if (pid) process.kill(pid, 'SIGKILL');
        }
        if (round % 16 === 11) await reload(sluice).catch(() => '');
      }
    };
    const troubled = trouble().finally(() => (isDone = true));
    await Promise.all(Array.from({ length: LANES }, lane));
    isDone = true;
    await troubled;
    t.diagnostic(`${answers} answers: ${JSON.stringify(uses)}`);
    assert.deepEqual(leaks.slice(0, 3), []);
    for (const word of ['hit', 'collapsed', 'stored', 'bypass', 'revalidating']) {
      assert.ok(
        Object.keys(uses).some((use) => use.includes(word)),
        `${word} was never seen: ${JSON.stringify(uses)}`,
      );
    }
  },
);
