// Each request of the table is refused with its error and a closed connection, and no byte of it reaches the worker.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { Capture } from './capture.ts';
import { limits, refused, statusOf } from './refused.ts';

let capture: Capture;
before(async () => {
  capture = await Capture.start(limits);
});
after(() => capture.stop());

for (const { name, send, code, answered = 0 } of refused) {
  void test(`I8: refused and never seen by a worker: ${name}`, async () => {
    const connection = await RawConnection.connect(capture.sluice.port);
    connection.send(send);
    for (let left = answered; left > 0; left--) assert.equal((await connection.response()).status, 200);
    const response = await connection.response({ toHead: false });
    assert.deepEqual([response.headers.get('x-sluice-error'), response.status], [code, statusOf[code]]);
    assert.match(response.body.toString(), new RegExp(`^code: ${code}$`, 'm'));
    assert.equal(response.headers.get('connection'), 'close');
    assert.equal((await connection.untilClosed()).toString('latin1'), '', 'nothing follows the refusal');
    connection.close();
    const seen = await capture.takeRequests();
    assert.deepEqual(
      seen.map(({ requestLine }) => requestLine.split(' ')[1]),
      Array.from({ length: answered }, () => '/good'),
    );
  });
}
