// Text form, wire form and events: round trips, and what is refused.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Batch } from '../../src/stream/batch.ts';
import { utf8Length } from '../../src/stream/batch.ts';
import { StreamError } from '../../src/stream/errors.ts';
import { type EventSink, EventWriter, readEvents } from '../../src/stream/events.ts';
import { COMMAND_OF, EVENT_LENGTH } from '../../src/stream/facts.ts';
import { parseBatch } from '../../src/stream/parse.ts';
import { printBatch } from '../../src/stream/text.ts';
import { WireReader, encodeBatch, encodePrologue } from '../../src/stream/wire.ts';
import { batches } from '../support/batches.ts';
import { runs } from '../support/seed.ts';

const SAMPLE = `create 12
place 0 12 0
number width 12 640
percent height 12 50
integer flexDirection 12 row
integer background 12 #102030ff
integer clip 12 true
string text 12 "He said: \\"{a; b}\\""
define 3 { number width 640; integer clip true; transition x 200 0 ease-out }
define 4 {}
style 12 3
focus-style 12 4
transition opacity 12 200.5 0 ease
animate x 12 NaN 0.1 300 20 linear 65538
stop x 12
reset width 12
number #200 12 -0
focus 12
remove 12
`;

test('the table of commands is that of stream.json', () => {
  const stream = JSON.parse(
    fs.readFileSync(new URL('../../../../screens/stream.json', import.meta.url), 'utf8'),
  ) as {
    commands: Record<string, { code: number; property?: boolean; words: string[] }>;
    events: Record<string, { code: number; words: string[] }>;
  };
  for (const [name, { code, property = false, words }] of Object.entries(stream.commands)) {
    const command = COMMAND_OF[code];
    assert.deepEqual(
      [command?.name, command?.property, command?.words.length],
      [name, property, words.length],
    );
    const isFloat = words.map((word) => word.endsWith(':float'));
    assert.deepEqual(
      command?.words.map((word) => word === 'float'),
      isFloat,
      name,
    );
  }
  assert.equal(COMMAND_OF.length, Object.keys(stream.commands).length + 1);
  for (const { code, words } of Object.values(stream.events))
    assert.equal(EVENT_LENGTH[code], words.length + 1);
});

test('the text form of each command is read and printed again as it was', () => {
  assert.equal(printBatch(parseBatch(SAMPLE)), SAMPLE);
  assert.deepEqual(parseBatch('\n// nothing\n').length, 0);
});

test('text of any batch is read as the same batch', () => {
  fc.assert(
    fc.property(batches, (batch) => {
      const again = parseBatch(printBatch(batch));
      assert.deepEqual(again.words.slice(0, again.length), batch.words.slice(0, batch.length));
      assert.deepEqual(again.strings, batch.strings);
    }),
    runs(300),
  );
});

test('a text that is no batch is refused with its line', () => {
  const wrong = [
    'creat 1',
    'create',
    'create 1 2',
    'create 1.5',
    'create 4294967296',
    'number colour 1 2',
    'number constructor 1 2',
    'number width 1 wide',
    'string text 1 "a',
    'string text 1 a',
    'integer background 1 red',
    'define 1 { number width 3',
    'define 1 number width 3 }',
    'define 1 { create 3 }',
    'define 1 { number width 1 number height 2 }',
    'transition x 1 100 0 slow',
  ];
  for (const text of wrong)
    assert.throws(
      () => parseBatch(`create 1\n${text}`),
      (error) => error instanceof StreamError && error.at === 1,
      text,
    );
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        parseBatch(text);
      } catch (error) {
        assert.ok(error instanceof StreamError);
      }
    }),
    runs(300),
  );
});

const joined = (...pieces: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces));

test('batches come whole out of a stream in pieces of any size', () => {
  fc.assert(
    fc.property(
      fc.array(batches, { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.integer(),
      (sent, sizes, cause) => {
        const bytes = joined(encodePrologue(), ...sent.map((batch) => encodeBatch({ ...batch, cause })));
        const reader = new WireReader();
        const got: Batch[] = [];
        for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
          const size = sizes[piece % sizes.length] ?? 1;
          got.push(...reader.push(bytes.subarray(at, at + size)));
          at += size;
        }
        assert.deepEqual(
          got,
          sent.map((batch) => ({ ...batch, words: batch.words.slice(0, batch.length), cause })),
        );
        assert.ok(reader.isWhole);
      },
    ),
    runs(200),
  );
});

test('bytes at random are refused or waited for, and a broken stream stays broken', () => {
  const batch = encodeBatch(parseBatch('create 1\nstring text 1 "abc"'));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(batch.length), (noise, cut) => {
      const reader = new WireReader();
      try {
        reader.push(joined(encodePrologue(), batch.subarray(0, cut), noise));
      } catch (error) {
        assert.ok(error instanceof StreamError);
        assert.throws(() => reader.push(batch), StreamError);
      }
    }),
    runs(500),
  );
  const refused = (bytes: Uint8Array, message: RegExp): void => {
    assert.throws(
      () => new WireReader().push(bytes),
      (error) => error instanceof StreamError && message.test(error.message),
    );
  };
  refused(new TextEncoder().encode('HTTP/1.1'), /no stream/);
  refused(joined(encodePrologue().fill(2, 7)), /version 2/);
  const head = (...values: number[]): Uint8Array =>
    joined(encodePrologue(), new Uint8Array(Uint32Array.from(values).buffer));
  refused(head(2 ** 24 + 1, 0, 0), /words in a batch/);
  refused(head(0, 2 ** 20 + 1, 0), /strings in a batch/);
  refused(head(0, 1, 0, 2 ** 24 + 1), /bytes in a string/);
  refused(head(0, 1, 0, 1, 0xff), /no UTF-8/);
  refused(head(0, 1, 0, 1, 0x4141), /are not 0/);
});

test('the length of a string in UTF-8 is known without encoding it', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }), (text) => {
      assert.equal(utf8Length(text), Buffer.byteLength(text));
    }),
    runs(300),
  );
});

type Call = readonly (string | number)[];

function recorder(calls: Call[]): EventSink {
  const note =
    (name: string) =>
    (...values: (string | number)[]): void => {
      calls.push([name, ...values]);
    };
  return {
    key: note('key'),
    layout: note('layout'),
    animationEnd: note('animationEnd'),
    image: note('image'),
    memory: note('memory'),
    resize: note('resize'),
    frame: note('frame'),
  };
}

const pixels = fc.float({ noNaN: true });
const id = fc.integer();
const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.constant('key'), id, id, pixels, fc.string()),
  fc.tuple(fc.constant('layout'), id, pixels, pixels, pixels, pixels),
  fc.tuple(fc.constant('animationEnd'), id, id),
  fc.tuple(fc.constant('image'), id, id),
  fc.tuple(fc.constant('memory'), id),
  fc.tuple(fc.constant('resize'), pixels, pixels),
  fc.tuple(fc.constant('frame'), id, pixels, pixels),
);

test('events come back as they were written', () => {
  fc.assert(
    fc.property(fc.array(calls, { maxLength: 40 }), (sent) => {
      const writer = new EventWriter();
      const methods = writer as unknown as Record<string, (...values: unknown[]) => void>;
      for (const [name, ...values] of sent) methods[String(name)]?.(...values);
      const got: Call[] = [];
      readEvents(writer.words, writer.length, writer.strings, recorder(got));
      assert.deepEqual(got, sent);
    }),
    runs(200),
  );
});

test('events at random are refused before the first of them is told', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1, max: 9 }), { maxLength: 20 }), (words) => {
      const got: Call[] = [];
      try {
        readEvents(Int32Array.from(words), words.length, ['a'], recorder(got));
      } catch (error) {
        assert.ok(error instanceof StreamError);
        assert.deepEqual(got, []);
      }
    }),
    runs(300),
  );
});
