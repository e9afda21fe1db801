// Modules of one crate that all lead back to each other cannot be read one by one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { cycles, importsOf } from './cycles.ts';
import { root } from './repository.ts';

/** Files that may import each other in a circle. */
const FILES_MAX = 8;

const crates = fs
  .readdirSync(path.join(root, 'gateway'))
  .filter((name) => fs.existsSync(path.join(root, 'gateway', name, 'src/lib.rs')));

void test('the crates of the gateway are found', () => {
  assert.ok(crates.includes('proxy') && crates.includes('scheduler'), crates.join(' '));
});

void test('imports are found by every way that Rust has to write them', () => {
  const ways: [string, string, string][] = [
    // `use crate::gate::Gate`, an item that the module's own file defines.
    ['proxy', 'ask.rs', 'gate.rs'],
    // `use super::source::Source`.
    ['road', 'cache/flight.rs', 'cache/source.rs'],
    // `use costs::Costs`, a child of the module.
    ['proxy', 'gate.rs', 'gate/costs.rs'],
    // `use crate::upstream::WorkerRequest`, which `upstream.rs` only passes on.
    ['proxy', 'gate/requests.rs', 'upstream/request.rs'],
    // `crate::ids::to_usize(…)` in an expression.
    ['wire', 'front/tls/handshakes.rs', 'ids.rs'],
  ];
  for (const [crate, file, other] of ways)
    assert.ok(importsOf(crate).get(file)?.includes(other), `${file} imports ${other}`);
});

for (const crate of crates)
  void test(`no circle of imports in gateway/${crate} has more than ${FILES_MAX} files`, () => {
    const large = cycles(crate).filter((group) => group.length > FILES_MAX);
    assert.deepEqual(large, []);
  });
