import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeGateway, PUBLIC_PORT } from './fake-gateway.js';

const any = { address: '::', family: 'IPv6' };
const four = { address: '127.0.0.1', family: 'IPv4' };

const calls: readonly [args: unknown[], address: unknown, requested: Record<string, unknown>][] = [
  [[8080, 'cb'], { ...any, port: 8080 }, { port: 8080, host: null, path: null }],
  [['8080', 'cb'], { ...any, port: 8080 }, { port: 8080, host: null, path: null }],
  [[8080, '127.0.0.1', 'cb'], { ...four, port: 8080 }, { port: 8080, host: '127.0.0.1', path: null }],
  [[8080, 'localhost', 100, 'cb'], { ...four, port: 8080 }, { port: 8080, host: 'localhost', path: null }],
  [[8080, 100, 'cb'], { ...any, port: 8080 }, { port: 8080, host: null, path: null }],
  [[0, 'cb'], 'its own', { port: 0, host: null, path: null }],
  [['cb'], 'its own', { port: 0, host: null, path: null }],
  [[], 'its own', { port: 0, host: null, path: null }],
  [[null, 'cb'], 'its own', { port: 0, host: null, path: null }],
  [
    [{ port: 8080, host: '::1', exclusive: true, backlog: 5 }, 'cb'],
    { address: '::1', family: 'IPv6', port: 8080 },
    { port: 8080, host: '::1', path: null },
  ],
  [
    [{ port: 8080, host: '0.0.0.0', signal: true }],
    { address: '0.0.0.0', family: 'IPv4', port: 8080 },
    { port: 8080, host: '0.0.0.0', path: null },
  ],
  [
    [{ port: '8080', host: 'shop.test' }, 'cb'],
    { address: '0.0.0.0', family: 'IPv4', port: 8080 },
    { port: 8080, host: 'shop.test', path: null },
  ],
];

for (const [args, address, requested] of calls) {
  test(`listen(${JSON.stringify(args).slice(1, -1)}) lands on the gateway's socket and answers what was asked`, async () => {
    const gateway = await FakeGateway.serve('listen.cjs', { args: [JSON.stringify(args)] });
    try {
      assert.deepEqual((await gateway.line('listening'))['requested'], requested);
      const told = (await gateway.printed('listening')) as { port: number };
      // Port 0 is on loopback, so that whoever asks for the address reaches this very server.
      if (address === 'its own')
        assert.deepEqual({ ...told, port: told.port !== PUBLIC_PORT }, { ...four, port: true });
      else assert.deepEqual(told, address);
      if (args.includes('cb')) assert.deepEqual(await gateway.printed('callback'), told);
      assert.equal(await gateway.printed('chained'), true);
      assert.equal(await gateway.printed('isMain'), true);
      assert.equal(statSync(gateway.socketPath).mode & 0o777, 0o600);
      const seen = await gateway.askJson({ path: '/a?b=c' });
      assert.equal(seen['url'], '/a?b=c');
      assert.deepEqual(seen['address'], told);
    } finally {
      await gateway.stop();
    }
  });
}

for (const args of [
  ['tmp:app.sock', 'cb'],
  [{ path: 'tmp:app.sock' }, 'cb'],
]) {
  test(`listen(${JSON.stringify(args).slice(1, -1)}) on a path lands on the gateway's socket`, async () => {
    const gateway = await FakeGateway.serve('listen.cjs', { args: [JSON.stringify(args)] });
    try {
      assert.equal(await gateway.printed('callback'), join(gateway.folder, 'app.sock'));
      assert.equal((await gateway.ask()).status, 200);
    } finally {
      await gateway.stop();
    }
  });
}

for (const args of [[99_999], [{}], [{ port: -1 }]]) {
  test(`listen(${JSON.stringify(args).slice(1, -1)}) throws what Node throws`, async () => {
    const gateway = await FakeGateway.start('listen.cjs', { args: [JSON.stringify(args)] });
    try {
      await gateway.exited();
      assert.match(gateway.output, /ERR_SOCKET_BAD_PORT|ERR_INVALID_ARG_VALUE/);
    } finally {
      await gateway.stop();
    }
  });
}

test('an ESM app with top-level await is served', async () => {
  const gateway = await FakeGateway.serve('esm.mjs');
  try {
    assert.deepEqual(await gateway.printed('callback'), { ...four, port: PUBLIC_PORT });
    assert.equal((await gateway.ask()).status, 200);
  } finally {
    await gateway.stop();
  }
});

test('hello comes first and names the worker and what its preload can do', async () => {
  const gateway = await FakeGateway.serve('listen.cjs', { args: ['[8080]'], viaNodeOptions: true });
  try {
    const hello = gateway.lines[0];
    assert.equal(hello?.type, 'hello');
    assert.equal(hello['worker'], 7);
    assert.deepEqual(Object.keys(hello).sort(), ['marks', 'protocol', 'takes_ahead', 'type', 'worker']);
    assert.equal(hello['takes_ahead'], false);
    await gateway.line('beat');
  } finally {
    await gateway.stop();
  }
});

test('without SLUICE_SOCKET the preload does nothing', async () => {
  const gateway = await FakeGateway.start('listen.cjs', {
    args: ['[{"port":0,"host":"127.0.0.1"}]'],
    env: { SLUICE_SOCKET: '' },
  });
  try {
    const address = (await gateway.printed('listening')) as { port: number };
    assert.notEqual(address.port, PUBLIC_PORT);
    assert.equal(gateway.lines.length, 0);
  } finally {
    await gateway.stop();
  }
});
