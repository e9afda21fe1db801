import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { FakeGateway, PUBLIC_PORT } from './fake-gateway.js';

const start = (items: readonly unknown[]): Promise<FakeGateway> =>
  FakeGateway.serve('several.cjs', { args: [JSON.stringify(items)] });

test('a further fixed port is left to the gateway and answers on its own socket', async () => {
  const gateway = await start([
    ['http', PUBLIC_PORT],
    ['http', 9091, '127.0.0.1'],
    ['net', 9092],
  ]);
  try {
    assert.deepEqual(await gateway.printed('http1'), { address: '127.0.0.1', family: 'IPv4', port: 9091 });
    const aux = await gateway.line('aux', ({ port }) => port === 9091);
    assert.deepEqual([aux['host'], aux['path']], ['127.0.0.1', null]);
    const text = await gateway.furtherText(aux);
    assert.equal(text, 'http1');
    const raw = await gateway.further(await gateway.line('aux', ({ port }) => port === 9092));
    assert.equal(await new Promise((done) => raw.once('data', (data) => done(String(data)))), 'net2');
    assert.equal((await gateway.ask()).body, 'http0');
  } finally {
    await gateway.stop();
  }
});

test('a further port 0 stays with the process, on loopback', async () => {
  const gateway = await start([
    ['http', PUBLIC_PORT],
    ['http', 0],
  ]);
  try {
    const { address, port } = (await gateway.printed('http1')) as { address: string; port: number };
    assert.equal(address, '127.0.0.1');
    const text = await new Promise((done, fail) => {
      get({ port, host: '127.0.0.1' }, (response) => response.on('data', (data) => done(String(data)))).on(
        'error',
        fail,
      );
    });
    assert.equal(text, 'http1');
    assert.ok(!gateway.lines.some(({ type }) => type === 'aux'));
  } finally {
    await gateway.stop();
  }
});

test("a server on the gateway's own port takes over from one that listened before on another", async () => {
  const gateway = await start([['http', 9091], ['signal'], ['http', PUBLIC_PORT], ['signal'], ['close', 0]]);
  try {
    assert.equal((await gateway.ask()).body, 'http0');
    const { waited_ms } = await gateway.line('listening');
    assert.equal(waited_ms, 100);
    gateway.child?.kill('SIGUSR2');
    await gateway.printed('signal3');
    assert.equal((await gateway.ask({ agent: new Agent() })).body, 'http2');
    const aux = await gateway.line('aux');
    assert.equal(aux['port'], 9091);
    const text = await gateway.furtherText(aux);
    assert.equal(text, 'http0');
    assert.equal(gateway.lines.filter(({ type }) => type === 'listening').length, 2);
    // The former one takes no name of the other's away.
    gateway.child?.kill('SIGUSR2');
    await gateway.printed('opened');
    assert.equal((await gateway.ask({ agent: new Agent() })).body, 'http2');
  } finally {
    await gateway.stop();
  }
});

test('a probe for a free port and a second address of the main port succeed', async () => {
  const gateway = await start([
    ['probe', PUBLIC_PORT],
    ['brief', PUBLIC_PORT],
    ['http', PUBLIC_PORT, '127.0.0.1'],
    ['http', PUBLIC_PORT, '::1'],
    ['probe', PUBLIC_PORT],
  ]);
  try {
    await gateway.printed('opened');
    assert.deepEqual(await gateway.printed('http3'), { address: '::1', family: 'IPv6', port: PUBLIC_PORT });
    assert.equal((await gateway.ask()).body, 'http2');
    assert.ok(!gateway.lines.some(({ type }) => type === 'aux'));
  } finally {
    await gateway.stop();
  }
});

test('a server that probes for the port is not told, nor is its end', async () => {
  const gateway = await start([
    ['brief', PUBLIC_PORT],
    ['brief', PUBLIC_PORT, '127.0.0.1'],
    ['http', PUBLIC_PORT],
  ]);
  try {
    await gateway.printed('opened');
    assert.equal((await gateway.ask()).body, 'http2');
    const told = gateway.lines
      .map(({ type }) => type)
      .filter((type) => ['listening', 'closing'].includes(type));
    assert.deepEqual(told, ['listening']);
  } finally {
    await gateway.stop();
  }
});

test('the own port refuses connections until the app listens, and accepts them from then on', async (t) => {
  const own = createServer((socket) => socket.end()).listen(0);
  t.after(() => own.close());
  await once(own, 'listening');
  const { port } = own.address() as AddressInfo;
  const other = createServer((socket) => socket.end()).listen(0);
  t.after(() => other.close());
  await once(other, 'listening');
  const gateway = await FakeGateway.serve('several.cjs', {
    args: [
      JSON.stringify([
        ['connect', port],
        ['connect', { port, host: '127.0.0.1' }],
        ['connect', (other.address() as AddressInfo).port],
        ['brief', port],
        ['connect', port, '::1'],
        ['http', port],
        ['signal'],
        ['connect', port, '127.0.0.1'],
      ]),
    ],
    env: { SLUICE_PORT_PUBLIC: String(port) },
  });
  try {
    const refused = (address: string): object => ({
      code: 'ECONNREFUSED',
      message: `connect ECONNREFUSED ${address}:${port}`,
    });
    assert.deepEqual(await gateway.printed('connect0'), refused('127.0.0.1'));
    assert.deepEqual(await gateway.printed('connect1'), refused('127.0.0.1'));
    assert.equal(await gateway.printed('connect2'), 'connected');
    assert.deepEqual(await gateway.printed('connect4'), refused('::1'));
    gateway.child?.kill('SIGUSR2');
    assert.equal(await gateway.printed('connect7'), 'connected');
  } finally {
    await gateway.stop();
  }
});

test('in a process that does not serve, connect() is given back to Node once another one does', async (t) => {
  const own = createServer((socket) => socket.end()).listen(0);
  t.after(() => own.close());
  await once(own, 'listening');
  const { port } = own.address() as AddressInfo;
  const connect = ['connect', port, '127.0.0.1'];
  const gateway = await FakeGateway.serve('several.cjs', {
    args: [JSON.stringify([['http', port], ['child', ['refuses'], connect, ['refuses']], ['signal']])],
    env: { SLUICE_PORT_PUBLIC: String(port) },
  });
  try {
    assert.equal(await gateway.printed('refuses0'), true);
    assert.equal(await gateway.printed('connect1'), 'connected');
    assert.equal(await gateway.printed('refuses2'), false);
  } finally {
    await gateway.stop();
  }
});

test('the own port accepts early connections where other hosts may answer them', async (t) => {
  const own = createServer((socket) => socket.end()).listen(0);
  t.after(() => own.close());
  await once(own, 'listening');
  const { port } = own.address() as AddressInfo;
  const gateway = await FakeGateway.serve('several.cjs', {
    args: [
      JSON.stringify([
        ['connect', port, '127.0.0.1'],
        ['http', port],
      ]),
    ],
    env: { SLUICE_PORT_PUBLIC: String(port), SLUICE_REFUSES_EARLY: '0' },
  });
  try {
    assert.equal(await gateway.printed('connect0'), 'connected');
  } finally {
    await gateway.stop();
  }
});

test('closing a further server is told to the gateway', async () => {
  const gateway = await start([
    ['http', PUBLIC_PORT],
    ['brief', 9091],
  ]);
  try {
    const { socket } = await gateway.line('aux');
    await gateway.line('aux-closed', (line) => line['socket'] === socket);
    await gateway.until('removal', () => !existsSync(String(socket)));
  } finally {
    await gateway.stop();
  }
});
