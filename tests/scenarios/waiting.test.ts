// Requests that only wait fill no worker: pages go past them, their memory bounds them, and a worker that dies of another takes them to
// the next. An app that asks itself gets its answers.
import assert from 'node:assert/strict';
import http from 'node:http';
import test, { type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ownApp, running } from './scenario.ts';

const app = ownApp('waiting.js');

interface Answer {
  status: number;
  body: string;
}

function get(sluice: Sluice, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port: sluice.port, path, agent: false }, (answer) => {
        let body = '';
        answer
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
          .on('error', reject);
      })
      .on('error', reject);
  });
}

/** Two workers as installed, both of which serve. */
async function two(context: TestContext, config = ''): Promise<Sluice> {
  const sluice = await running(context, { entry: app, workers: 2, config });
  await eventually(
    async () => (await sluice.status()).workers.filter(({ state }) => state === 'ready').length === 2,
    {
      what: 'two workers that are ready',
    },
  );
  return sluice;
}

const held = async (sluice: Sluice): Promise<number> => (await sluice.status()).requests.in_service;

/** So many requests that wait, all of them with a worker when this returns. */
async function wait(sluice: Sluice, count: number, path = '/wait'): Promise<Promise<Answer>[]> {
  const answers = Array.from({ length: count }, () => get(sluice, path));
  await eventually(async () => (await held(sluice)) >= count, {
    deadlineMs: 60_000,
    what: `${count} requests that wait in workers`,
  });
  return answers;
}

/** Every worker ends those that wait in it, until none does. */
async function release(sluice: Sluice, answers: Promise<Answer>[]): Promise<Answer[]> {
  const ended = Promise.all(answers);
  await eventually(
    async () => {
      const { workers, requests, queue } = await sluice.status();
      for (const { pid } of workers) if (pid !== null) process.kill(pid, 'SIGUSR2');
      return requests.in_service + queue.length === 0;
    },
    { deadlineMs: 60_000, what: 'the end of all that wait' },
  );
  return ended;
}

test('I3: three hundred polls wait on two workers with default settings, and pages are served meanwhile', async (t) => {
  const sluice = await two(t);
  const polls = await wait(sluice, 300);
  for (let page = 0; page < 50; page += 1)
    assert.deepEqual(await get(sluice, `/page/${page}`), { status: 200, body: 'page' });
  const answers = await release(sluice, polls);
  assert.ok(answers.every(({ status }) => status === 200));
  const { requests, workers } = await sluice.status();
  assert.equal(requests.refused_total, 0);
  assert.equal(workers.length, 2);
});

test('I6: polls of a few megabytes each are limited by small heaps, get an error beyond, and crash no worker', async (t) => {
  const config = '[app]\nnode_args = ["--max-old-space-size=160"]\n[queue]\nwait_ms_max = 1500\n';
  const sluice = await two(t, config);
  // What a page costs is known then, so that it passes those that wait for memory.
  for (let page = 0; page < 60; page += 1) await get(sluice, '/page');
  const polls = Array.from({ length: 300 }, () => get(sluice, '/wait?kb=2560'));
  let refused = 0;
  const outcomes = polls.map((poll) =>
    poll.then(({ status }) => {
      refused += status === 503 ? 1 : 0;
      return status;
    }),
  );
  await eventually(() => refused >= 150, { deadlineMs: 60_000, what: 'polls that are refused' });
  for (let page = 0; page < 20; page += 1)
    assert.deepEqual(await get(sluice, '/page'), { status: 200, body: 'page' });
  const inWorkers = await held(sluice);
  assert.ok(inWorkers >= 20 && inWorkers <= 120, `${inWorkers} polls wait`);
  await release(sluice, polls);
  const statuses = await Promise.all(outcomes);
  assert.deepEqual(
    [...new Set(statuses)].sort((one, other) => one - other),
    [200, 503],
  );
  const { workers } = await sluice.status();
  assert.deepEqual(
    workers.map((worker) => worker.id).sort((one, other) => one - other),
    [1, 2],
    'the first two still live',
  );
});

test('an app that asks itself through the gateway, three deep and a hundred at once, gets every answer', async (t) => {
  const sluice = await two(t);
  const answers = await Promise.all(Array.from({ length: 100 }, () => get(sluice, '/nested?depth=3')));
  assert.ok(answers.every(({ status }) => status === 200));
});

test('I3: polls of a worker that is killed wait in another', async (t) => {
  const sluice = await two(t);
  const polls = await wait(sluice, 100);
  // A worker gets a page only when all its polls were seen to wait. One that was not could have ended it, and would be tried alone.
  const pid = Number((await get(sluice, '/pid')).body);
  const victim = (await sluice.status()).workers.find((worker) => worker.pid === pid);
  assert.ok(victim, String(pid));
  process.kill(pid, 'SIGKILL');
  await eventually(async () => (await sluice.status()).workers.every(({ id }) => id !== victim.id), {
    what: 'the end of the killed worker',
  });
  await eventually(async () => (await held(sluice)) >= 100, {
    deadlineMs: 60_000,
    what: 'a hundred requests that wait again',
  });
  const answers = await release(sluice, polls);
  assert.ok(answers.every(({ status }) => status === 200));
});

test('I3: a poll whose worker was killed before it waited gets the next worker alone until it waits there', async (t) => {
  const sluice = await running(t, { entry: app, workers: 1 });
  const [poll] = await wait(sluice, 1, '/wait?spin=500');
  const [victim] = (await sluice.status()).workers;
  assert.ok(poll && victim?.pid);
  process.kill(victim.pid, 'SIGKILL');
  await eventually(async () => (await sluice.status()).workers.every(({ id }) => id !== victim.id), {
    what: 'the end of the killed worker',
  });
  await eventually(async () => (await held(sluice)) === 1, { what: 'the poll in the next worker' });
  for (let page = 0; page < 5; page += 1) assert.equal((await get(sluice, '/page')).body, 'page');
  assert.equal(await held(sluice), 1);
  const [answer] = await release(sluice, [poll]);
  assert.equal(answer?.status, 200);
});

test('a synchronous child is no wait: what comes meanwhile goes to the other worker', async (t) => {
  const sluice = await two(t);
  for (let page = 0; page < 20; page += 1) await get(sluice, '/page');
  const blocked = get(sluice, '/block?s=2');
  await eventually(async () => (await held(sluice)) === 1, { what: 'a blocked worker' });
  let isOver = false;
  void blocked.then(() => (isOver = true));
  let pages = 0;
  while (!isOver && pages < 200) {
    assert.equal((await get(sluice, '/page')).status, 200);
    pages += 1;
  }
  assert.ok(pages > 20, `${pages} pages while a worker was blocked`);
  await blocked;
});
