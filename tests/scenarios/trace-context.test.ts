// What an app is told of the trace that a request belongs to, and what the access log says of it.
// Part of `make quick`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, type Sluice } from '../support/sluice.ts';
import { ask, recordOf, running } from './scenario.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const sampled = `00-${traceId}-b7ad6b7169203331-01`;
const unsampled = `00-${traceId}-b7ad6b7169203331-00`;
const context = (parent: string): string => `traceparent: ${parent}\r\ntracestate: a=b\r\n`;

async function seen(sluice: Sluice, target: string, headers: string): Promise<(string | undefined)[]> {
  const response = await ask(sluice, target, { headers });
  const said = JSON.parse(response.body.toString()) as { headers: Record<string, string | undefined> };
  return [said.headers['traceparent'], said.headers['tracestate']];
}

void test('the app gets the trace context that the client sent, and none where it sent none', async (t) => {
  const sluice = await running(t, { entry: app('echo.js'), workers: 1 });
  assert.deepEqual(await seen(sluice, '/none', ''), [undefined, undefined]);
  assert.deepEqual(await seen(sluice, '/sampled', context(sampled)), [sampled, 'a=b']);
  assert.deepEqual(await seen(sluice, '/unsampled', context(unsampled)), [unsampled, 'a=b']);
  assert.deepEqual(await seen(sluice, '/state', 'tracestate: a=b\r\n'), [undefined, undefined]);
  for (const parent of [
    `00-${traceId}-01`,
    sampled.toUpperCase(),
    `${sampled}-x`,
    'ff'.concat(sampled.slice(2)),
  ])
    assert.deepEqual(await seen(sluice, '/malformed', context(parent)), [undefined, undefined], parent);
  assert.deepEqual(await seen(sluice, '/twice', context(sampled) + context(unsampled)), [
    undefined,
    undefined,
  ]);
  assert.equal((await recordOf(sluice, '/sampled'))['trace_id'], traceId);
  assert.equal((await recordOf(sluice, '/none'))['trace_id'], null);
  assert.equal((await recordOf(sluice, '/malformed'))['trace_id'], null);
});

void test('trace_context = "trusted" takes the trace context of trusted peers alone', async (t) => {
  const config = '[server]\ntrace_context = "trusted"\n';
  const stranger = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.deepEqual(await seen(stranger, '/', context(sampled)), [undefined, undefined]);
  const trusted = `${config}trusted_peers = ["127.0.0.0/8"]\n`;
  const peer = await running(t, { entry: app('echo.js'), workers: 1, config: trusted });
  assert.deepEqual(await seen(peer, '/', context(sampled)), [sampled, 'a=b']);
});

void test('trace_context = "off" removes the trace context of everybody', async (t) => {
  const config = '[server]\ntrace_context = "off"\ntrusted_peers = ["127.0.0.0/8"]\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.deepEqual(await seen(sluice, '/off', context(sampled)), [undefined, undefined]);
  assert.equal((await recordOf(sluice, '/off'))['trace_id'], null);
});
