// Interim answers and trailers reach the client, and the trailers of a request the app, as they do with Node alone.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { ownApp, running } from './scenario.ts';

void test('102 Processing, the Trailer header and its trailers pass', async (t) => {
  const sluice = await running(t, { entry: ownApp('interim.js'), workers: 1 });
  const interim: number[] = [];
  const response = await new Promise<http.IncomingMessage>((done, fail) => {
    http
      .get(sluice.url, done)
      .on('information', ({ statusCode }: { statusCode: number }) => interim.push(statusCode))
      .on('error', fail);
  });
  let body = '';
  for await (const piece of response) body += String(piece);
  assert.deepEqual([interim, response.statusCode, body], [[102], 200, 'body']);
  assert.equal(response.headers['trailer'], 'X-Checksum');
  assert.deepEqual(response.trailers, { 'x-checksum': '7' });
});

void test('early hints come before the head, also to a client that reads only when all is there', async (t) => {
  const sluice = await running(t, { entry: ownApp('interim.js'), workers: 1 });
  const connection = await RawConnection.connect(sluice.port);
  connection.pause();
  connection.send('GET /hints HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n');
  await eventually(async () => (await sluice.status()).workers.every((worker) => worker.requests_total > 0), {
    what: 'the answer of the app',
  });
  connection.resume();
  const text = (await connection.untilClosed()).toString('latin1');
  const starts = Array.from(text.matchAll(/HTTP\/1\.1 \d+/g), ([start]) => start.slice(-3));
  assert.deepEqual(starts, [...Array.from({ length: 8 }, () => '103'), '200']);
  assert.match(text, /HTTP\/1\.1 200 OK\r\n(?:[\w-]+: [^\r]{1,100}\r\n)+\r\nbody$/);
  connection.close();
});

for (const length of [0, 10, 100_000, 3_000_000]) {
  void test(`trailers behind ${length} bytes of a request reach the app`, async (t) => {
    const sluice = await running(t, { entry: ownApp('interim.js'), workers: 1 });
    for (const checksum of ['7', '8']) {
      const request = http.request(sluice.url, {
        method: 'POST',
        headers: { 'transfer-encoding': 'chunked' },
      });
      request.addTrailers({ 'X-Checksum': checksum, 'X-Sluice-Request': 'id=1', Host: 'elsewhere' });
      request.end(Buffer.alloc(length, 'x'));
      const response = await new Promise<http.IncomingMessage>((done, fail) => {
        request.on('response', done).on('error', fail);
      });
      let seen = '';
      for await (const piece of response) seen += String(piece);
      assert.deepEqual(JSON.parse(seen), { length, trailers: { 'x-checksum': checksum } });
    }
  });
}
