// Time in the handler of a route stands apart from the time before it: in the log, by class, and in the metrics.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask, ownApp, running } from './scenario.ts';
import { metric } from './stuck.ts';

interface Classes {
  readonly classes: readonly {
    readonly class: string;
    readonly handler_ms: number | null;
  }[];
}

void test('middleware that waits is told apart from the handler', async (t) => {
  const sluice = await running(t, { entry: ownApp('handler-time.cjs'), workers: 1 });
  for (let item = 0; item < 5; item++) await ask(sluice, `/items/${item}`);
  const lines = await eventually(
    () => {
      const found = sluice.logs.filter(({ event, handler_ms }) => event === 'access' && handler_ms !== null);
      return found.length > 0 && found;
    },
    { what: 'a line with the time in the handler' },
  );
  for (const { handler_ms } of lines) assert.ok(Number(handler_ms) > 0, String(handler_ms));
  const { classes } = JSON.parse((await sluice.cli(['classes', '--json'])).stdout) as Classes;
  const item = classes.find((one) => one.class === 'GET /items/:id');
  assert.ok((item?.handler_ms ?? 0) > 0, JSON.stringify(classes));
  assert.match((await sluice.cli(['classes'])).stdout, /SERVICE +HANDLER +NOTES/);
  const seconds = (part: string): Promise<number> =>
    metric(sluice, `sluice_class_handler_seconds_total{class="GET /items/:id",part="${part}"}`);
  assert.ok((await seconds('before')) > 0);
  assert.ok((await seconds('handler')) > 0);
});
