/** The limits that the guide names are those of a router. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Router } from '../../src/router/index.js';

const guide = new URL('../../../../docs/guide/graph.md', import.meta.url);

void test('the guide names the limits of a router', async () => {
  const line = (await readFile(guide, 'utf8'))
    .split('\n')
    .find((text) => text.includes('limits with error codes'));
  const { pathsMax, depthMax, referencesMax, callsMax, timeoutMs, ...others } = new Router([]).limits;
  const named = [pathsMax, depthMax, referencesMax, callsMax, timeoutMs / 1000];
  const numbers = line?.replaceAll(',', '').match(/\d+/gu)?.map(Number);
  assert.deepEqual([numbers, others], [named, {}]);
});
