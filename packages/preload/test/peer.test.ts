import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weightOf } from '../src/requests/peer.js';
import { FakeGateway } from './fake-gateway.js';

test('the app sees the addresses of client and gateway, and no private header', async () => {
  const gateway = await FakeGateway.serve('extends.mjs');
  try {
    const seen = await gateway.askJson({ headers: { 'X-Case': 'kept' } });
    assert.deepEqual(seen['remote'], ['203.0.113.9', 51_234, 'IPv4']);
    assert.deepEqual(seen['local'], ['192.0.2.1', 3000, 'IPv4']);
    assert.deepEqual(seen['socketAddress'], { address: '192.0.2.1', family: 'IPv4', port: 3000 });
    assert.equal(seen['encrypted'], false);
    for (const kind of ['headers', 'rawHeaders', 'headersDistinct']) {
      assert.ok(!JSON.stringify(seen[kind]).includes('sluice'), kind);
    }
    assert.ok((seen['rawHeaders'] as string[]).includes('X-Case'));
    assert.deepEqual((seen['headersDistinct'] as Record<string, string[]>)['x-case'], ['kept']);
    assert.deepEqual((seen['headersDistinct'] as Record<string, string[]>)['connection'], ['keep-alive']);
  } finally {
    await gateway.stop();
  }
});

test('the private header is found wherever it stands', async () => {
  const gateway = await FakeGateway.serve('extends.mjs');
  try {
    const socket = gateway.raw();
    let text = '';
    socket.on('data', (part) => (text += part));
    socket.write(
      'GET / HTTP/1.1\r\nX-Sluice-Request: id=5;peer=[2001:db8::1]:9\r\nhost: a\r\nx-b: c\r\nconnection: close\r\n\r\n',
    );
    await gateway.until('answer', () => text.includes('\r\n\r\n') && text.includes('}'));
    assert.ok(!text.toLowerCase().includes('x-sluice-request'));
    assert.ok(text.includes('"headersDistinct":{"host":["a"],"x-b":["c"],"connection":["close"]}'), text);
    assert.ok(text.includes('"remote":["2001:db8::1",9,"IPv6"]'), text);
  } finally {
    await gateway.stop();
  }
});

test('one connection answers for each request with its own client', async () => {
  const gateway = await FakeGateway.serve('extends.mjs');
  try {
    const first = await gateway.askJson({ label: 'id=1;peer=[::1]:1;local=[::1]:2;proto=https' });
    const second = await gateway.askJson({ label: 'id=2;peer=198.51.100.7:3;local=192.0.2.1:4;proto=http' });
    assert.deepEqual([first['remote'], first['encrypted']], [['::1', 1, 'IPv6'], true]);
    assert.deepEqual([second['remote'], second['encrypted']], [['198.51.100.7', 3, 'IPv4'], false]);
  } finally {
    await gateway.stop();
  }
});

test('an app that emits its own request event again is not held up by its own gate', async () => {
  const gateway = await FakeGateway.serve('extends.mjs');
  try {
    const answer = await gateway.ask({ method: 'POST', headers: { expect: '100-continue' }, body: 'x' });
    assert.equal(answer.status, 200);
    assert.equal((await gateway.ask()).status, 200);
  } finally {
    await gateway.stop();
  }
});

test('a label says for how many requests the CPU time stands', () => {
  const weights = ['id=1;token=0', 'id=1;weight=0;proto=http', 'id=1;weight=16'].map(weightOf);
  assert.deepEqual(weights, [undefined, 0, 16]);
});
