// Interim answers and trailers reach the client as they do from Node alone.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
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
