// A struct that keeps everything is a crate without modules: what is of one matter has a type of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { structsOf } from './structs.ts';

/** Crates that a request passes. */
const CRATES = ['wire', 'road', 'dispatch', 'proxy'];
const FIELDS_MAX = 15;
/** Methods and associated functions, with those of every trait. */
const METHODS_MAX = 30;

/** Structs over the bar, with their figures, which may only become smaller. */
const LARGER: Readonly<Record<string, { fields: number; methods: number }>> = {
  // A state machine: a method for each phase, and for each event that leads somewhere.
  'dispatch::Exchange': { fields: 8, methods: 55 },
};

const found = CRATES.flatMap((crate) =>
  structsOf(crate).map((struct) => ({ ...struct, name: `${crate}::${struct.name}` })),
);

void test('fields and methods are counted, in whichever file an impl is', () => {
  const cell = found.find(({ name }) => name === 'proxy::Dispatch');
  assert.ok(cell !== undefined && cell.fields > 5 && cell.methods > 20, JSON.stringify(cell));
  const written = found.find(({ name }) => name === 'proxy::Slots');
  // `impl Slots` stands in two files.
  assert.ok(written !== undefined && written.methods > 15, JSON.stringify(written));
  assert.ok(found.length > 150, String(found.length));
});

void test(`no struct has more than ${FIELDS_MAX} fields or ${METHODS_MAX} methods`, () => {
  const large = found.filter(
    ({ name, fields, methods }) =>
      fields > (LARGER[name]?.fields ?? FIELDS_MAX) || methods > (LARGER[name]?.methods ?? METHODS_MAX),
  );
  assert.deepEqual(large, []);
});

for (const [name, max] of Object.entries(LARGER))
  void test(`${name} is no smaller than its exception says`, () => {
    const { fields, methods } = found.find((struct) => struct.name === name) ?? { fields: 0, methods: 0 };
    assert.deepEqual({ fields, methods }, max, 'lower the figures, or remove the exception');
  });
