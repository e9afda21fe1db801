// Apps that make mistakes with answers: what is too long is cut, what is too short is broken off at once, and nobody gets
// a byte of another's (I10).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { CutShort, RawConnection } from '../support/raw.ts';
import type { Sluice } from '../support/sluice.ts';
import { ownApp, pidOf, running, slotsHeld, statusWhen } from './scenario.ts';

const entry = ownApp('wrong-answers.js');

interface Options {
  method?: string;
  bodyBytes?: number;
}

/** The body, or `cut` where it ends before its announced length. */
async function ask(
  sluice: Sluice,
  target: string,
  { method = 'GET', bodyBytes = 0 }: Options = {},
): Promise<string> {
  const connection = await RawConnection.connect(sluice.port);
  try {
    connection.send(
      `${method} ${target} HTTP/1.1\r\nHost: app\r\nContent-Length: ${bodyBytes}\r\n\r\n${'x'.repeat(bodyBytes)}`,
    );
    const { status, body } = await connection.response();
    return status === 200 ? body.toString() : String(status);
  } catch (error) {
    if (error instanceof CutShort) return 'cut';
    throw error;
  } finally {
    connection.close();
  }
}

for (const concurrency of ['1', '4']) {
  void test(`I10: late bytes of an answer reach nobody (concurrency = ${concurrency})`, async (t) => {
    const sluice = await running(t, { entry, workers: 1, flags: ['--concurrency', concurrency] });
    const wrong: string[] = [];
    for (let round = 0; round < 40; round++) {
      const word = `guilty${round}`;
      const post = round % 2 === 0;
      const faulty = ask(sluice, `/${post ? 'late' : 'long'}?word=${word}&gap=${post ? 15 : 4}`, {
        method: 'POST',
        bodyBytes: post ? 100_000 : 0,
      });
      const others = await Promise.all(
        [1, 2, 3].map(async (number) => {
          const innocent = `innocent${round}x${number}`;
          return [innocent, await ask(sluice, `/good?word=${innocent}`)] as const;
        }),
      );
      for (const [innocent, body] of others) if (body !== `good ${innocent}`) wrong.push(body);
      const body = await faulty;
      if (post) assert.equal(body, word);
    }
    assert.deepEqual(wrong, []);
    await eventually(() => sluice.stdout.includes('bytes more than its Content-Length;'), {
      what: 'the app’s mistake in the log',
    });
    await statusWhen(sluice, (now) => slotsHeld(now) === 0, 'no request in a worker');
  });
}

void test('an answer that is shorter than announced is broken off when the app ends it', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  const pid = pidOf((await sluice.status()).workers[0]);
  for (let round = 0; round < 5; round++) {
    assert.equal(await ask(sluice, `/short?word=guilty${round}`), 'cut');
    assert.equal(await ask(sluice, `/good?word=next${round}`), `good next${round}`);
  }
  assert.match(sluice.stdout, /with fewer bytes than its Content-Length/);
  assert.equal(pidOf((await sluice.status()).workers[0]), pid, 'the same worker serves on');
});

void test('I10: data that the app writes to a connection directly belongs to its own request’s answer or is dropped', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  // The first request of a connection: nobody else's answer can be meant.
  assert.equal(await ask(sluice, '/raw?word=first'), 'first');
  for (let round = 0; round < 10; round++) {
    assert.equal(await ask(sluice, `/raw?word=raw${round}`), `raw${round}`);
    assert.equal(await ask(sluice, `/behind?word=behind${round}&gap=2`), `behind${round}`);
    const body = await ask(sluice, `/good?word=next${round}`);
    assert.equal(body, `good next${round}`);
  }
  await eventually(() => sluice.stdout.includes('writes to a connection'), { what: 'the note' });
});

void test('I10: bytes after an answer on a reused connection are dropped', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  for (let round = 0; round < 30; round++) {
    assert.equal(await ask(sluice, `/good?word=a${round}`), `good a${round}`);
    const behind = ask(sluice, `/behind?word=guilty${round}&gap=${round % 4}`);
    const next = ask(sluice, `/good?word=b${round}`);
    assert.equal(await behind, `guilty${round}`);
    assert.equal(await next, `good b${round}`);
  }
});

void test('a head with a length that is too small, and early hints, arrive as alone', async (t) => {
  const sluice = await running(t, { entry, workers: 1 });
  assert.equal(await ask(sluice, '/head?word=abcdefgh'), 'abcde');
  assert.equal(await ask(sluice, '/good?word=next'), 'good next');
  const connection = await RawConnection.connect(sluice.port);
  try {
    for (let round = 0; round < 3; round++) {
      connection.send(`GET /hints?word=w${round} HTTP/1.1\r\nHost: app\r\n\r\n`);
      const interim = await connection.response();
      assert.deepEqual([interim.status, interim.headers.get('link')], [103, `</w${round}.css>; rel=preload`]);
      assert.equal(interim.headers.get('x-sluice-answer'), undefined);
      const { status, body, headers } = await connection.response();
      assert.deepEqual([status, body.toString()], [200, `w${round}`]);
      assert.equal(headers.get('x-sluice-answer'), undefined);
    }
  } finally {
    connection.close();
  }
});
