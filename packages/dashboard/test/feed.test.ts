// What the page makes of what the gateway says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, longer } from '../src/charts/heat.tsx';
import { type Model, SPANS, filled, framed, greeted, nothing, pointsOf } from '../src/feed/model.ts';
import { EventReader } from '../src/feed/sse.ts';
import { bytes, count, time } from '../src/format.ts';
import { next, rows } from '../src/parts/order.ts';
import type { ClassSnapshot, Columns, Frame, Mark, Point } from '../src/snapshot.ts';

const point = (at_ms: number, runs: number[] = []): Point => ({
  at_ms,
  answered: 1,
  refused: 0,
  failed: 0,
  queue_length: 0,
  in_service: 0,
  workers: 1,
  cpu: 0,
  gateway_cpu: 0,
  rss_bytes: 0,
  queue_wait_ms: null,
  service_time_ms: null,
  runs,
});
const mark = (id: number): Mark => ({
  id,
  at_ms: id,
  kind: 'note',
  event: 'note',
  level: 'info',
  worker: null,
  text: `${id}`,
  detail: null,
});
const frame = (at_ms: number, marks: Mark[] = [], cpu: [number, number][] = []): Frame => ({
  now_ms: at_ms,
  status: { workers: cpu.map(([id, cpu_ms_total]) => ({ id, cpu_ms_total })) } as unknown as Frame['status'],
  point: point(at_ms),
  marks,
});
const hello = (epoch: number, marks: Mark[], points: Point[] = []) => ({
  epoch,
  resumed: points.length > 0,
  points,
  marks,
  token_file: null,
});

void test('events are read wherever the stream is cut', () => {
  const stream =
    'retry: 1000\n\n: comment\n\nid: 7-8-9\nevent: frame\ndata: {"a":"ö"}\n\nevent: costs\ndata: {}\n\n';
  const whole = new EventReader().push(stream);
  assert.deepEqual(whole, [
    { id: '7-8-9', name: 'frame', data: '{"a":"ö"}' },
    { id: null, name: 'costs', data: '{}' },
  ]);
  const reader = new EventReader();
  assert.deepEqual(
    stream.split('').flatMap((letter) => reader.push(letter)),
    whole,
  );
});

void test('a viewer that comes back neither loses nor doubles what happened', () => {
  let model = framed(greeted(nothing, hello(1, [mark(1)])), frame(1000, [mark(2)]), 0);
  model = greeted(model, hello(1, [mark(2), mark(3)], [point(1000), point(2000)]));
  assert.deepEqual(
    model.marks.map(({ id }) => id),
    [1, 2, 3],
  );
  assert.deepEqual(
    model.points.map(({ at_ms }) => at_ms),
    [1000, 2000],
  );
});

void test('marks of the gateway before stay, whatever their numbers', () => {
  const model = greeted(framed(greeted(nothing, hello(1, [])), frame(1, [mark(1)]), 0), hello(2, [mark(1)]));
  assert.deepEqual(
    model.marks.map(({ text }) => text),
    ['1', '1'],
  );
});

void test('what the page holds is bounded', () => {
  let model: Model = nothing;
  for (let second = 1; second <= 2000; second++)
    model = framed(model, frame(second * 1000, [mark(second)]), 0);
  assert.equal(model.points.length, SPANS[1]);
  assert.equal(model.marks.length, 100);
});

void test('workers that come and go do not push a crash off the page', () => {
  let model = framed(nothing, frame(1000, [{ ...mark(1), kind: 'crash' }]), 0);
  for (let second = 2; second <= 500; second++)
    model = framed(model, frame(second * 1000, [{ ...mark(second), kind: 'worker' }]), 0);
  assert.deepEqual([model.marks.length, model.marks[0]?.kind, model.marks.at(-1)?.id], [101, 'crash', 500]);
});

void test('history goes before what came meanwhile', () => {
  const full: Record<string, unknown> = { span_s: 1, at_ms: [1000, 2000] };
  for (const key of Object.keys(point(0))) full[key] ??= [];
  const model = filled(framed(nothing, frame(3000), 0), full as unknown as Columns);
  assert.deepEqual(
    model.points.map(({ at_ms }) => at_ms),
    [1000, 2000, 3000],
  );
  assert.equal(pointsOf(full as unknown as Columns)[0]?.queue_wait_ms, null);
});

void test('CPU of a worker is that of the time between two frames', () => {
  const model = framed(
    framed(nothing, frame(1000, [], [[1, 100]]), 0),
    frame(
      2000,
      [],
      [
        [1, 600],
        [2, 50],
      ],
    ),
    0,
  );
  assert.deepEqual([...model.workerCpu], [[1, 0.5]]);
});

void test('runs are gathered into columns of ten seconds', () => {
  const columns = columnsOf([point(9000, [1]), point(10_000, [1, 2]), point(11_000, [4])]);
  assert.deepEqual(columns, [
    { atMs: 10_000, counts: [2, 2] },
    { atMs: 20_000, counts: [4] },
  ]);
  assert.equal(longer([5, 3, 2], [10, 1000], 1000), 2);
});

void test('classes are sorted both ways, what is not known last, and filtered by words', () => {
  const one = (name: string, p99: number | null) => ({ class: name, cost_p99_ms: p99 }) as ClassSnapshot;
  const classes = [one('GET /a', 1), one('GET /b', null), one('POST /c', 9)];
  const names = (descending: boolean, filter = '') =>
    rows(classes, filter, { by: 'cost_p99_ms', descending }).map((row) => row.class);
  assert.deepEqual(names(true), ['POST /c', 'GET /a', 'GET /b']);
  assert.deepEqual(names(false), ['GET /a', 'POST /c', 'GET /b']);
  assert.deepEqual(names(true, '/a get'), ['GET /a']);
  assert.deepEqual(next({ by: 'class', descending: false }, 'requests'), {
    by: 'requests',
    descending: true,
  });
  assert.deepEqual(next({ by: 'class', descending: false }, 'class'), { by: 'class', descending: true });
});

void test('figures are short', () => {
  assert.deepEqual([0, 0.254, 9.99, 1234, 12_345, 2e6].map(count), [
    '0',
    '0.25',
    '9.99',
    '1234',
    '12.3k',
    '2M',
  ]);
  assert.deepEqual([null, 0, 0.25, 12.34, 1500, 90_000, 7.2e6].map(time), [
    '–',
    '0 ms',
    '250 µs',
    '12.3 ms',
    '1.5 s',
    '1.5 min',
    '2 h',
  ]);
  assert.deepEqual([null, 512, 3 << 20].map(bytes), ['–', '0.5 KiB', '3 MiB']);
});
