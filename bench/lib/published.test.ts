import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { type Cell, byFault, planOf } from '../faults/equal.ts';
import { Unpublishable, publish } from './published.ts';

const plan = planOf('kills', 60, 1_000, 170, 10_000);
const cell = (server: string, kills: number): Cell & { result: unknown } => ({
  fault: 'kills',
  server,
  round: 0,
  plan,
  ms: 4,
  problem: '',
  offered: { GET: plan.requests, POST: 0 },
  ...byFault(
    [],
    Array.from({ length: kills }, (_, at) => 1_000 * at),
  ),
  result: { classes: { GET: { ok: plan.requests, samples: [[1, 2, 200, null]] } } },
});

/** Publishes a result in a folder of its own, and gives what the repository would keep. */
function published(result: object, name = 'faults-cells'): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-published-'));
  try {
    fs.writeFileSync(path.join(folder, `${name}-20990101T000000Z.json`), JSON.stringify(result));
    return fs.readFileSync(publish(name, folder, '/somewhere').target, 'utf8');
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test('equal cells are published without single requests and without the place of the repository', () => {
  const data = { cells: [cell('Sluice', 60), cell('PM2', 60)] };
  const text = published({ quick: false, command: 'node /somewhere/bench/faults.ts', data });
  assert.match(text, /"command": "node bench\/faults.ts"/);
  assert.doesNotMatch(text, /samples/);
  const whole = JSON.parse(text) as { data: { cells: { server: string; plan: unknown }[] } };
  assert.deepEqual(
    whole.data.cells.map(({ server, plan }) => [server, plan]),
    data.cells.map(({ server, plan }) => [server, plan]),
  );
  assert.equal(text.match(/^\{"fault"/gmu)?.length, 2, 'one cell a line');
});

test('cells with unequal kills are not published', () => {
  const data = { cells: [cell('Sluice', 12), cell('PM2', 60)] };
  assert.throws(() => published({ quick: false, data }), /unequal faults: Sluice 12, PM2 60/);
});

test('a result without cells is not published', () => {
  assert.throws(() => published({ quick: false, data: {} }), Unpublishable);
});

test('a quick run is not published, whatever it measured', () => {
  assert.throws(() => published({ quick: true, data: {} }, 'schedule-mixed'), /quick run/);
});
