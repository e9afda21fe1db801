// Large responses and slow readers: the worker is free as soon as it has said everything.
// Part of `make quick`.
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { test } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { app } from '../support/sluice.ts';
import { ask, bytesOf, running, statusWhen } from './scenario.ts';

void test('I2: a response of 50 MB to a client that does not read frees the worker immediately and arrives complete later', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  const request = http.get(`${sluice.url}/big?bytes=50000000`);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  // Nothing is read yet; the response is far larger than what kernel buffers hold.
  await statusWhen(
    sluice,
    ({ workers }) => workers[0]?.requests_total === 1 && workers[0].state === 'ready',
    'a free worker',
  );
  assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
  let bytes = 0;
  for await (const piece of response) bytes += (piece as Buffer).length;
  assert.equal(bytes, 50_000_000);
});

void test('responses of any size arrive whole, with a length and in chunks', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  const connection = await RawConnection.connect(sluice.port);
  for (const bytes of [1, 65_535, 65_536, 65_537, 200_000, 1_048_576, 1_048_577, 5_000_000]) {
    connection.send(bytesOf(`/big?bytes=${bytes}`) + bytesOf(`/stream?chunks=1&bytes=${bytes}`));
    assert.equal((await connection.response()).body.length, bytes);
    assert.equal((await connection.response()).body.length, bytes);
  }
  connection.close();
});
