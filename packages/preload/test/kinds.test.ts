import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway, PUBLIC_PORT } from './fake-gateway.js';

const any = { address: '::', family: 'IPv6', port: PUBLIC_PORT };

for (const kind of ['https', 'http2']) {
  test(`an app's own ${kind} server gets plain HTTP from the gateway`, async () => {
    const gateway = await FakeGateway.serve('kinds.cjs', { args: [kind] });
    try {
      assert.deepEqual(await gateway.printed('address'), any);
      const plain = await gateway.askJson();
      const secure = await gateway.askJson({ label: 'id=2;peer=[::1]:1;local=[::1]:2;proto=https' });
      assert.deepEqual([plain['encrypted'], secure['encrypted']], [false, true]);
      assert.deepEqual(secure['remote'], ['::1', 1, 'IPv6']);
    } finally {
      await gateway.stop();
    }
  });
}

for (const [kind, cause] of [
  ['h2c', /port 39417 with an HTTP\/2 server without TLS .*serves HTTP\/1\.1\. Use http\.createServer/],
  ['h2', /port 39417 with an HTTP\/2 server without allowHTTP1.*Set allowHTTP1: true/],
  ['net', /port 39417 with a plain net\.Server.*not an HTTP server.*Use http\.createServer/],
] as const) {
  test(`an app whose server on PORT is ${kind} ends at once and says why`, async () => {
    const gateway = await FakeGateway.start('kinds.cjs', { args: [kind] });
    try {
      assert.equal((await gateway.exited()).code, 1);
      assert.match(gateway.output, cause);
    } finally {
      await gateway.stop();
    }
  });
}

test('an app without any HTTP server is told what it listens with, and goes on', async () => {
  const gateway = await FakeGateway.start('kinds.cjs', { args: ['unix'] });
  try {
    await gateway.until('the warning', () =>
      gateway.output.includes('No HTTP server of the app listens so far'),
    );
    assert.match(gateway.output, /app\.sock with a plain net\.Server/);
    assert.equal(gateway.exitCode, undefined);
  } finally {
    await gateway.stop();
  }
});

test("a tool's own server, which does not keep the process alive, is no reason for a warning", async () => {
  const gateway = await FakeGateway.start('kinds.cjs', { args: ['tool'] });
  try {
    await gateway.printed('later');
    assert.ok(!gateway.output.includes('plain net.Server'), gateway.output);
  } finally {
    await gateway.stop();
  }
});

for (const kind of ['express', 'fastify']) {
  test(`${kind} runs unmodified`, async () => {
    const gateway = await FakeGateway.serve('kinds.cjs', { args: [kind] });
    try {
      const address = await gateway.printed('address');
      if (kind === 'express') assert.deepEqual(address, any);
      else assert.match(String(address), new RegExp(`^http://(127\\.0\\.0\\.1|\\[::1\\]):${PUBLIC_PORT}$`));
      const seen = await gateway.askJson();
      assert.equal(seen['ip'], '203.0.113.9');
      assert.deepEqual(seen['remote'], ['203.0.113.9']);
      assert.equal(seen['protocol'], 'http');
    } finally {
      await gateway.stop();
    }
  });
}
