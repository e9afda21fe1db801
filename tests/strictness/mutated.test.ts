// Requests with random faults: whatever happens, what reaches the worker has one reading, and the gateway lives.
//
// SLUICE_SEED=n replays a run; SLUICE_TEST_LONG=1 runs many more.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { long, randomFrom, seed } from '../support/chance.ts';
import { RawConnection } from '../support/raw.ts';
import { Capture } from './capture.ts';

const rounds = long ? 5_000 : 400;

const random = randomFrom(seed);
const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;

const seeds = [
  'GET /a?b=c HTTP/1.1\r\nHost: app\r\nX-A: b\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: app\r\nContent-Length: 5\r\n\r\nhello',
  'POST /a HTTP/1.1\r\nHost: app\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: app\r\nContent-Length: 44\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: app\r\nX: 12345\r\n\r\n',
  'GET http://app/a HTTP/1.1\r\nHost: app\r\nConnection: close, x-a\r\nX-A: b\r\n\r\n',
];
const bytesToInsert = '\r\n \t\0:;,\x0b\x7f\xff05"_-/#@'.split('');
const pieces = [
  ...bytesToInsert,
  '\r\n',
  '\r\n ',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: x\r\n',
  'Host: evil\r\n',
  'chunked, ',
  '0\r\n\r\n',
];

function mutate(text: string): string {
  let bytes = text;
  for (let left = 1 + random(3); left > 0; left--) {
    const at = random(bytes.length + 1);
    const until = Math.min(bytes.length, at + pick([0, 0, 1, 2, 9]));
    bytes = bytes.slice(0, at) + (random(4) === 0 ? '' : pick(pieces)) + bytes.slice(until);
  }
  return bytes;
}

let capture: Capture;
before(async () => {
  capture = await Capture.start({
    ...bounds({ headers_timeout_ms: 300, body_grace_ms: 300 }),
  });
});
after(() => capture.stop());

void test(`I8: requests with random faults reach the worker in one reading or not at all (seed ${seed})`, async () => {
  for (let done = 0; done < rounds; done += 40) {
    const batch = Array.from({ length: Math.min(40, rounds - done) }, () => mutate(pick(seeds)));
    const answered = (await Promise.all(batch.map(exchange))).reduce((sum, count) => sum + count, 0);
    // `takeRequests` throws where a second reading was possible.
    const seen = await capture.takeRequests();
    assert.equal(
      seen.length,
      answered,
      `what was answered is what the worker saw; replay with SLUICE_SEED=${seed}`,
    );
  }
});

/** Sends the bytes; returns how many answers came from the worker before the gateway closed. */
async function exchange(bytes: string): Promise<number> {
  const connection = await RawConnection.connect(capture.sluice.port);
  connection.send(bytes);
  connection.end();
  const text = (await connection.untilClosed(15_000)).toString('latin1');
  connection.close();
  const heads = text.match(/HTTP\/1\.1 \d{3} [^]*?\r\n\r\n/g) ?? [];
  const final = heads.filter((head) => !head.startsWith('HTTP/1.1 100 '));
  for (const head of final)
    assert.match(head, /^HTTP\/1\.1 (200|400|408|413|414|417|431|501|505) /, JSON.stringify(bytes));
  // Node.js itself answers 400 to methods that it does not know.
  return final.filter((head) => !/^x-sluice-error:/im.test(head)).length;
}
