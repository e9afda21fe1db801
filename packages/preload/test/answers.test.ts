import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

const TOKEN = '0123456789abcdef';
const MARK = `x-sluice-answer: ${TOKEN}\r\n`;

/** Sends one request after the other on one connection, and returns all that came back. */
async function talk(gateway: FakeGateway, paths: readonly string[], until: RegExp): Promise<string> {
  const socket = gateway.raw();
  let text = '';
  let closed = false;
  socket.on('data', (data: string) => (text += data)).on('close', () => (closed = true));
  for (const [index, path] of paths.entries()) {
    const label = gateway.label(`token=${TOKEN};peer=203.0.113.9:51234;proto=http`);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nx-sluice-request: ${label}\r\n\r\n`);
    const isLast = index === paths.length - 1;
    await gateway.until(`the answer to ${path}`, () =>
      isLast ? until.test(text) || closed : text.split('HTTP/1.1 200').length > index + 1,
    );
  }
  socket.destroy();
  return text;
}

test('I10_the_headers_of_each_answer_carry_the_token_of_its_request_also_interim_ones', async () => {
  const gateway = await FakeGateway.serve('answers.cjs');
  try {
    assert.equal((await gateway.line('hello'))['marks'], true);
    const plain = await talk(gateway, ['/page'], /page$/);
    assert.ok(plain.startsWith(`HTTP/1.1 200 OK\r\n${MARK}`), plain);
    const hints = await talk(gateway, ['/hints'], /body$/);
    for (const status of ['103 Early Hints', '102 Processing', '200 OK']) {
      assert.ok(hints.includes(`HTTP/1.1 ${status}\r\n${MARK}`), hints);
    }
    assert.ok(!(await gateway.ask()).headers['x-sluice-answer'], 'nothing without a token in the label');
  } finally {
    await gateway.stop();
  }
});

test('I10_bytes_beyond_the_announced_length_are_cut_off_and_reported', async () => {
  const gateway = await FakeGateway.serve('answers.cjs');
  try {
    const body = async (query: string): Promise<string> => {
      const text = await talk(gateway, [`/length?${query}`, '/page'], /page$/);
      assert.equal(text.split('HTTP/1.1 200').length, 3, text);
      return /\r\n\r\n(.*?)HTTP\/1\.1/s.exec(text)?.[1] ?? '';
    };
    assert.equal(await body('announced=5&piece=abcdefgh'), 'abcde');
    assert.equal(await body('announced=3&piece=abc&piece=defg'), 'abc');
    assert.equal(await body('announced=4&piece=abc&piece=defg&piece=h'), 'abcd');
    assert.equal(await body('announced=3&piece=%C3%A9%C3%A9'), Buffer.from('éé').subarray(0, 3).toString());
    assert.equal(await body('announced=2&piece=616263&encoding=hex'), 'ab');
    assert.equal(await body('announced=0&piece=x'), '');
    const told = await gateway.line('overlong');
    assert.deepEqual([told['method'], told['bytes']], ['GET', 3]);
    assert.match(String(told['target']), /^\/length\?announced=5/);
  } finally {
    await gateway.stop();
  }
});

test('I10_raw_bytes_reach_a_connection_only_if_it_has_carried_no_other_request', async () => {
  const gateway = await FakeGateway.serve('answers.cjs');
  try {
    const beside = await talk(gateway, ['/remember', '/raw-beside'], /b\r\n0\r\n\r\n$/);
    assert.ok(!beside.includes('RAW'), beside);
    const dropped = await gateway.line('raw', (line) => Number(line['dropped_bytes']) > 0);
    assert.equal(dropped['dropped_bytes'], 3);
    const behind = await talk(gateway, ['/raw-behind', '/page'], /page$/);
    assert.ok(!behind.includes('RAW'), behind);
    assert.match(await talk(gateway, ['/raw'], /raw$/), /raw$/);
    assert.ok(!(await talk(gateway, ['/page', '/raw'], /never/)).includes('raw'));
  } finally {
    await gateway.stop();
  }
});

test('an app that resets its client breaks the connection off, and goes on', async () => {
  const gateway = await FakeGateway.serve('answers.cjs');
  try {
    assert.match(await talk(gateway, ['/reset'], /never/), /part\r\n$/);
    await gateway.line('done');
    assert.equal((await gateway.ask()).body, 'page');
  } finally {
    await gateway.stop();
  }
});
