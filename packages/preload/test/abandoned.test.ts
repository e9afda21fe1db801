import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

interface Done {
  readonly id: number;
  readonly left: string;
}

const doneOf = (gateway: FakeGateway, id: number): Done | undefined =>
  gateway.lines
    .filter(({ type }) => type === 'done')
    .flatMap((line) => line['requests'] as Done[])
    .find((done) => done.id === id);

async function leave(gateway: FakeGateway, path: string, id: number): Promise<void> {
  const connection = gateway.raw();
  let text = '';
  connection.on('data', (part) => (text += part));
  connection.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=${id}\r\n\r\n`);
  await gateway.until(`a part of ${path}`, () => text.includes('tick'));
  connection.destroy();
  await gateway.printed(`closed ${path.slice(1)}`);
}

test('a request whose response nobody can end any more has left, time and again', async () => {
  const gateway = await FakeGateway.serve('abandoned.cjs');
  try {
    for (let id = 101; id < 105; id++) {
      await leave(gateway, `/stops-${id}`, id);
      const done = await gateway.until(`done ${id}`, () => doneOf(gateway, id));
      assert.equal(done.left, 'end');
      assert.equal((await gateway.ask({ path: '/release' })).body, 'released');
    }
    // What is said of the API behind it is for nobody who reads the app's output.
    assert.doesNotMatch(gateway.output, /warning/i);
  } finally {
    await gateway.stop();
  }
});

test('I1_a_response_that_the_app_does_not_end_keeps_its_slot', async () => {
  const gateway = await FakeGateway.serve('abandoned.cjs', { concurrency: 3 });
  try {
    await leave(gateway, '/keeps', 201);
    for (let id = 202; id < 205; id++) {
      await leave(gateway, `/stops-${id}`, id);
      // Collections that show the one to be gone show the other to be in use.
      await gateway.until(`done ${id}`, () => doneOf(gateway, id));
      assert.equal(doneOf(gateway, 201), undefined);
    }
    await gateway.ask({ path: '/release' });
    await gateway.until('done 201', () => doneOf(gateway, 201));
  } finally {
    await gateway.stop();
  }
});

test('the hooks after a request that the app has dropped still learn which it was', async () => {
  const gateway = await FakeGateway.serve('abandoned.cjs', { env: { WITH_HOOKS: '1' } });
  try {
    await leave(gateway, '/stops?a=1', 301);
    assert.deepEqual(await gateway.printed('after'), {
      method: 'GET',
      url: '/stops?a=1',
      host: 'a',
      outcome: 'aborted',
      response: 'undefined',
    });
    await gateway.until('done 301', () => doneOf(gateway, 301));
  } finally {
    await gateway.stop();
  }
});
