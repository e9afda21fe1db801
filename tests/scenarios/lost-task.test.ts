// A fault in the gateway itself ends one of the tasks that run as long as it does. The log names the task and the place, what
// was accepted is finished, and the gateway leaves with a code of its own instead of living on without a limb.
// The binary has to be built with debug assertions, as `make test` does: only there can a fault be injected.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { Hold, nothingLeftOf, running, sent } from './scenario.ts';

/** Each task of a gateway that has one worker and no further address, and is no successor. */
const TASKS = [
  'accept',
  'compile-cache',
  'control',
  'costs',
  'guardian',
  'journal',
  'mend',
  'metrics',
  'preload',
  'preloads',
  'reload',
  'tick',
  'waits',
  'watch',
  'worker',
];
/** Workers that nobody watches are killed when this is over. */
const env = { SLUICE_WORKERS_STOP_TIMEOUT_MS: '1000' };

void describe('a task that is lost', { concurrency: 3 }, () => {
  for (const task of TASKS) {
    void test(`${task}: is told with its place, and the gateway leaves with 6`, async (t) => {
      const hold = new Hold(t);
      const trigger = path.join(hold.dir, 'trigger');
      const switched = { SLUICE_TEST_PANIC_IN: `${task}:${trigger}` };
      const sluice = await running(t, {
        entry: hold.app,
        workers: 1,
        env: { ...hold.env, ...env, ...switched },
      });
      const client = await sent(sluice, '/hold/it');
      await hold.began('/hold/it');
      fs.writeFileSync(trigger, '');
      await eventually(() => sluice.logs.some((line) => line['event'] === 'task_lost'), {
        what: 'the line that names the lost task',
      });
      hold.release('it');
      assert.equal((await client.response()).status, 200, 'what was accepted is finished');
      const { code } = await sluice.finished();
      assert.equal(code, 6);
      const lost = sluice.logs.filter((line) => line['event'] === 'task_lost');
      assert.deepEqual(
        lost.map((line) => [line['level'], line['task']]),
        [['error', task]],
      );
      assert.match(String(lost[0]?.['place']), /tasks\.rs:\d+:\d+$/);
      await nothingLeftOf(sluice);
    });
  }
});
