// Bodies, streams and other protocols on their way through the gateway to upstreams and back.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import type net from 'node:net';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app } from '../support/sluice.ts';
import { bytesOf, recordOf, running } from './scenario.ts';
import { metric, route, target } from './targets.ts';

const MIB = 1024 * 1024;
const digest = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

void test('10 MB go up and down whole, and a client that reads slowly keeps them out of the gateway’s memory', async (t) => {
  const data = randomBytes(10 * MIB);
  let written = 0;
  const legacy = await target(t, (request, response, body) => {
    if (request.method === 'POST') {
      response.end(digest(Buffer.from(body, 'latin1')));
      return;
    }
    response.setHeader('Content-Length', data.length);
    let at = 0;
    const next = (): void => {
      while (at < data.length) {
        const piece = data.subarray(at, (at += 64 * 1024));
        written = at;
        if (!response.write(piece)) {
          response.once('drain', next);
          return;
        }
      }
      response.end();
    };
    next();
  });
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([legacy.url]) });
  const pid = await sluice.gatewayPid();
  const up = await RawConnection.connect(sluice.port);
  up.send(`POST /old/up HTTP/1.1\r\nHost: app\r\nContent-Length: ${data.length}\r\n\r\n`);
  up.send(data);
  assert.equal((await up.response({ deadlineMs: 30_000 })).body.toString(), digest(data));
  up.close();

  const before = residentBytes(pid);
  const down = await RawConnection.connect(sluice.port);
  down.send(bytesOf('/old/down'));
  await down.untilBytes('\r\n\r\n');
  down.pause();
  let last = -1;
  // The target is read no further once the buffers on the way are full.
  await eventually(
    () => {
      const stands = written === last;
      last = written;
      return stands;
    },
    { pauseMs: 500, deadlineMs: 20_000, what: 'a target that waits' },
  );
  assert.ok(written < 9 * MIB, `${written} bytes were taken of the target`);
  assert.ok(residentBytes(pid) - before < 4 * MIB, `${residentBytes(pid) - before} bytes more`);
  assert.ok((await metric(sluice, 'sluice_temp_bytes')) < MIB);
  down.resume();
  await eventually(() => written >= data.length, { deadlineMs: 20_000 });
  down.close();
});

void test('chunks with trailers arrive as they were sent, in both directions', async (t) => {
  const legacy = await target(t, (_, response, body) => {
    response.setHeader('Trailer', 'X-Sum');
    response.write(body);
    response.addTrailers({ 'X-Sum': '42' });
    response.end();
  });
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([legacy.url]) });
  const connection = await RawConnection.connect(sluice.port);
  connection.send(
    'POST /old/x HTTP/1.1\r\nHost: app\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
  );
  const answer = await connection.response();
  assert.deepEqual([answer.body.toString(), answer.trailers.get('x-sum')], ['abcde', '42']);
  connection.close();
});

void test('events of a stream arrive one by one, and a client that leaves ends the stream', async (t) => {
  let send: (text: string) => void = () => undefined;
  let isClosed = false;
  const legacy = await target(t, (_, response) => {
    response.setHeader('Content-Type', 'text/event-stream');
    response.flushHeaders();
    send = (text) => void response.write(`data: ${text}\n\n`);
    response.once('close', () => (isClosed = true));
  });
  const config = `[compression]\nenabled = true\n${route([legacy.url], 'first_byte_timeout = "300ms"')}`;
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/old/events', 'Accept-Encoding: gzip\r\n'));
  await connection.untilBytes('\r\n\r\n');
  for (const word of ['one', 'two']) {
    send(word);
    await connection.untilBytes(`data: ${word}\n\n`);
    // The limit of an ordinary answer is not that of a stream.
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  connection.close();
  await eventually(() => isClosed, { what: 'the end of the stream at the upstream' });
  assert.equal((await recordOf(sluice, '/old/events'))['outcome'], 'answered');
});

void test('a WebSocket is a tunnel to the upstream, which is closed from either side, and when nothing moves on it', async (t) => {
  const sockets: net.Socket[] = [];
  let closed = 0;
  const legacy = await target(t);
  legacy.server.on('upgrade', (_: unknown, socket: net.Socket) => {
    sockets.push(socket);
    // A server of HTTP leaves its side open.
    socket.on('error', () => undefined).once('end', () => socket.end());
    socket.once('close', () => closed++);
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello',
    );
    socket.on('data', (data: Buffer) => socket.write(`echo ${data.toString()}`));
  });
  const config = `[streams]\nidle_timeout_ms = 1500\n${route([legacy.url])}`;
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config, env: bounds({}) });
  const open = async (): Promise<RawConnection> => {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf('/old/ws', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'));
    const { status, headers } = await connection.response();
    assert.deepEqual([status, headers.get('upgrade')], [101, 'websocket']);
    await connection.untilBytes('hello');
    connection.send('ping');
    await connection.untilBytes('echo ping');
    return connection;
  };
  const byClient = await open();
  byClient.close();
  await eventually(() => closed === 1, { what: 'the end by the client' });
  const byTarget = await open();
  sockets[1]?.end();
  await byTarget.untilClosed();
  const idle = await open();
  await idle.untilClosed();
  await eventually(() => closed === 3, { what: 'the end of an idle tunnel' });
  const outcomes = (): unknown[] =>
    sluice.logs.filter((line) => line['target'] === '/old/ws').map((line) => line['outcome']);
  await eventually(() => outcomes().length === 3);
  assert.deepEqual(outcomes(), ['upgraded', 'upgraded', 'stream_idle']);
  assert.equal((await sluice.status()).upstreams?.[0]?.targets[0]?.in_flight, 0);
});
