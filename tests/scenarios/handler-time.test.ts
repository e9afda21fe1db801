// Time in the handler of a route stands apart from the time before it: in the log, by class, and in the metrics.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask, ownApp, running } from './scenario.ts';
import { metric } from './stuck.ts';

interface Classes {
  readonly classes: readonly {
    readonly class: string;
    readonly handler_ms?: number;
  }[];
}

void test('middleware that waits is told apart from the handler', async (t) => {
  const sluice = await running(t, { entry: ownApp('handler-time.cjs'), workers: 1 });
  const lines = (): { handler: number; service: number }[] =>
    sluice.logs
      .filter(({ event, handler_ms }) => event === 'access' && handler_ms !== null)
      .map(({ handler_ms, service_ms }) => ({ handler: Number(handler_ms), service: Number(service_ms) }));
  let item = 0;
  // The middleware waits for 40 ms, of which timers may take one off. A worker that is late with its report adds that to the handler.
  await eventually(
    async () => {
      await ask(sluice, `/items/${item++}`);
      return lines().some(({ handler, service }) => service - handler >= 38);
    },
    { what: 'a line that tells the middleware from the handler' },
  );
  for (const { handler, service } of lines()) {
    assert.ok(service >= 38 && handler > 0 && handler <= service, `${handler} of ${service} ms`);
  }
  const { classes } = JSON.parse((await sluice.cli(['classes', '--json'])).stdout) as Classes;
  const ofItems = classes.find((one) => one.class === 'GET /items/:id');
  assert.ok((ofItems?.handler_ms ?? 0) > 0, JSON.stringify(classes));
  assert.match((await sluice.cli(['classes'])).stdout, /SERVICE +HANDLER +NOTES/);
  const seconds = (part: string): Promise<number> =>
    metric(sluice, `sluice_class_handler_seconds_total{class="GET /items/:id",part="${part}"}`);
  assert.ok((await seconds('before')) >= 0.038);
  assert.ok((await seconds('handler')) > 0);
});
