// Workers of the long lane boot at the priority of the others, because requests wait for them, and are lowered when they listen:
// however they are started, and where there is one CPU only.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice, StartOptions } from '../support/sluice.ts';
import { ask, ownApp, running, STRICT } from './scenario.ts';

const SCHED_IDLE = 5;
const entry = ownApp('slow-boot.js');
const hasTaskset = spawnSync('taskset', ['-V']).status === 0;

interface Priority {
  nice: number;
  policy: number;
}

/** Of the short lane; below a shell a process may begin before the gateway has added to its nice value. */
const isUsual = (priority: Priority | undefined): boolean =>
  priority !== undefined && priority.policy !== SCHED_IDLE && priority.nice < 10;

/** Nice value and scheduling policy of a process' main thread; undefined once it is gone. */
function priorityOf(pid: string): Priority | undefined {
  try {
    // Fields 19 and 41 of proc(5); the state, after the name, is field 3.
    const fields = (fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(' ');
    return { nice: Number(fields[16]), policy: Number(fields[38]) };
  } catch {
    return undefined;
  }
}

const longWorkers = (sluice: Sluice): number[] =>
  sluice.logs
    .filter(({ event, lane }) => event === 'worker_started' && lane === 'long')
    .map(({ worker }) => Number(worker));

interface Way extends StartOptions {
  skip?: string | false;
  steps: string[];
}

const ways: Record<string, Way> = {
  'a script on one CPU': {
    entry,
    workers: 1,
    through: ['taskset', '-c', '0'],
    skip: !hasTaskset && 'needs taskset',
    steps: ['start', 'reload'],
  },
  'a script': { entry, workers: 2, steps: ['start'] },
  'a command': { command: ['sh', '-c', `node ${entry}; exit $?`], workers: 2, steps: ['start'] },
};

for (const [way, { skip = false, steps, ...options }] of Object.entries(ways)) {
  void test(
    `a worker of the long lane boots like the others and is lowered when it listens: ${way}`,
    { skip: skip || (process.platform !== 'linux' && 'priorities are read in /proc') },
    async (t) => {
      const marks = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-boot-'));
      t.after(() => {
        fs.rmSync(marks, { recursive: true, force: true });
      });
      // The log is read again and again, and has to be short for that.
      const env = { MARKS: marks, SLUICE_QUEUE_WAIT_MS_MAX: '600000', SLUICE_LOG_ACCESS: 'false' };
      const sluice = await running(t, { ...options, env, flags: STRICT });
      let isOver = false;
      const load = Promise.all(
        ['/short', '/short?x=1', '/items/1', '/long', '/long?x=1'].map(async (target) => {
          while (!isOver) assert.equal((await ask(sluice, target, { deadlineMs: 60_000 })).status, 200);
        }),
      );
      const seen = new Set<number>();
      for (const step of steps) {
        if (step === 'reload') sluice.signal('SIGHUP');
        const { worker, pid } = await eventually(
          () => {
            const long = longWorkers(sluice);
            return pidsOf(marks).find((began) => long.includes(began.worker) && !seen.has(began.worker));
          },
          { deadlineMs: 60_000, pauseMs: 5, what: `a worker of the long lane after the ${step}` },
        );
        seen.add(worker);
        const looks: (Priority | undefined)[] = [];
        await eventually(
          () => {
            const now = priorityOf(pid);
            // What was seen was seen before it listened only if it still boots.
            if (fs.existsSync(path.join(marks, `end-${worker}`))) return true;
            looks.push(now);
            return false;
          },
          { deadlineMs: 60_000, pauseMs: 5, what: 'the end of the boot' },
        );
        assert.ok(looks.length > 2, `${looks.length} looks while it boots`);
        for (const look of looks)
          assert.ok(isUsual(look), `worker ${worker} while it boots: ${JSON.stringify(look)}`);
        await eventually(() => priorityOf(pid)?.policy === SCHED_IDLE, {
          deadlineMs: 30_000,
          what: 'the lowest priority once it listens',
        });
      }
      isOver = true;
      await load;
    },
  );
}

/** Which worker began to boot in which process. */
function pidsOf(marks: string): { worker: number; pid: string }[] {
  return fs
    .readdirSync(marks)
    .filter((name) => name.startsWith('begin-'))
    .map((name) => name.split('-'))
    .map(([, worker, pid = '']) => ({ worker: Number(worker), pid }));
}
