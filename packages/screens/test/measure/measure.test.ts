// Measures: by a surface whose clock the test moves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Histogram } from '../../src/measure/histogram.ts';
import { Probe } from '../../src/measure/probe.ts';
import { type ReportOptions, reportMeasures } from '../../src/measure/report.ts';
import { keepProbe, measures } from '../../src/measure/roots.ts';
import { EventWriter } from '../../src/stream/events.ts';
import type { EventListener, Surface } from '../../src/surfaces/surface.ts';
import { runs } from '../support/seed.ts';

class FakeSurface implements Surface {
  readonly width = 100;
  readonly height = 100;
  readonly widgets = 7;
  time = 0;
  counts = { moving_ms: 0, moving_frames: 0, long_ms: 0 };
  readonly idle: (() => void)[] = [];
  readonly events = new EventWriter();
  #listener: EventListener = () => undefined;

  now(): number {
    return this.time;
  }

  commit(): void {
    this.time += 1;
  }

  listen(listener: EventListener): void {
    this.#listener = listener;
  }

  requestIdle(run: (deadline: () => number) => void): void {
    this.idle.push(() => run(() => 5));
  }

  frameCounts(): { moving_ms: number; moving_frames: number; long_ms: number } {
    return this.counts;
  }

  heapBytes(): number {
    return 1_000_000;
  }

  tell(write: (events: EventWriter) => void): void {
    write(this.events);
    this.#listener(this.events.words, this.events.length, this.events.strings);
    this.events.clear();
  }
}

function opened(): { surface: FakeSurface; probe: Probe; root: object; send: (cause: number) => void } {
  const surface = new FakeSurface();
  const probe = new Probe(surface);
  const root = {};
  keepProbe(root, probe);
  probe.listen(() => undefined);
  return { surface, probe, root, send: (cause) => probe.commit(new Int32Array(0), 0, [], cause) };
}

test('percentiles are right within a step of 7 %', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.02, max: 10_000, noNaN: true }), { minLength: 1 }), (times) => {
      const histogram = new Histogram();
      for (const time of times) histogram.add(time);
      const sorted = times.toSorted((one, other) => one - other);
      const { count, p50, p95, p99, max } = histogram.percentiles();
      assert.equal(count, times.length);
      assert.equal(max, sorted.at(-1));
      for (const [share, got] of [
        [0.5, p50],
        [0.95, p95],
        [0.99, p99],
      ] as const) {
        const exact = sorted[Math.ceil(share * times.length) - 1] ?? 0;
        assert.ok(got >= exact * 0.999 && got <= exact * 1.071, `${got} for ${exact}`);
      }
    }),
    runs(200),
  );
  const empty = new Histogram();
  assert.deepEqual(empty.percentiles(), { count: 0, p50: 0, p95: 0, p99: 0, max: 0 });
  empty.add(1e9);
  empty.clear();
  assert.equal(empty.percentiles().count, 0);
});

test("a key counts from the surface's time to its last command, and to its frame", () => {
  const { surface, root, send } = opened();
  surface.time = 110;
  surface.tell((events) => events.key(0, 1, 100, 'a'));
  send(1);
  surface.time = 115;
  send(1);
  send(0);
  surface.tell((events) => events.key(2, 2, 120, 'a'));
  surface.tell((events) => events.frame(1, 132, 4));
  const { key_to_command, key_to_frame } = measures(root);
  assert.deepEqual([key_to_command.count, key_to_command.max], [1, 16]);
  assert.deepEqual([key_to_frame.count, key_to_frame.max], [1, 32]);
});

test('a key that leads to nothing does not count, and keys on the way keep their times', () => {
  const { surface, root, send } = opened();
  surface.time = 10;
  surface.tell((events) => events.key(0, 1, 10, 'a'));
  surface.tell((events) => {
    events.key(0, 2, 10, 'a');
    events.frame(0, 11, 1);
  });
  send(2);
  surface.time = 20;
  surface.tell((events) => events.key(0, 3, 20, 'a'));
  send(3);
  surface.tell((events) => {
    events.frame(2, 30, 1);
    events.frame(3, 30, 1);
    events.frame(99, 30, 1);
  });
  const { key_to_command, key_to_frame } = measures(root);
  assert.equal(key_to_command.count, 2);
  assert.deepEqual([key_to_frame.count, key_to_frame.max], [2, 20]);
});

test('after days, when floats are too coarse, the time at which a key arrives counts', () => {
  const { surface, root, send } = opened();
  surface.time = 2 ** 30 + 3;
  surface.tell((events) => events.key(0, 1, 2 ** 30 + 3, 'a'));
  send(1);
  assert.equal(measures(root).key_to_command.max, 1);
});

test('a screen is interactive when it has been shown and JavaScript is idle', () => {
  const { surface, probe, root, send } = opened();
  send(0);
  surface.time = 50;
  surface.tell((events) => events.frame(0, 50, 1));
  assert.equal(measures(root).interactive_ms, undefined);
  surface.time = 80;
  for (const run of surface.idle.splice(0)) run();
  assert.equal(measures(root).interactive_ms, 80);
  const levels: number[] = [];
  const stop = probe.onMemory((level) => levels.push(level));
  surface.tell((events) => events.memory(2));
  stop();
  surface.tell((events) => events.memory(0));
  assert.deepEqual(levels, [2]);
});

test('each screen has a beacon of its own, with the fields of the gateway', () => {
  const { surface, probe, root, send } = opened();
  const sent: [string, Record<string, unknown>][] = [];
  const options: ReportOptions = {
    url: '/.sluice/vitals',
    variant: 'b',
    send: (url, body) => sent.push([url, JSON.parse(body) as Record<string, unknown>]),
  };
  const stop = reportMeasures(root, options);
  probe.show('home');
  probe.show('home');
  send(0);
  surface.tell((events) => events.frame(0, 1, 1));
  surface.time = 30;
  for (const run of surface.idle.splice(0)) run();
  surface.tell((events) => events.key(0, 1, 30, 'a'));
  send(1);
  surface.tell((events) => events.frame(1, 47.25, 1));
  surface.counts = { moving_ms: 100, moving_frames: 6, long_ms: 12 };
  assert.equal(measures(root).frames_per_second, 60);
  probe.show('detail');
  assert.deepEqual(sent, [
    [
      '/.sluice/vitals',
      {
        v: 1,
        page: 'home',
        setting: '',
        variant: 'b',
        device: 'desktop',
        tti_ms: 30,
        key_ms: 17.3,
        long_ms: 12,
        memory_bytes: 1_000_000,
        html_bytes: 0,
        js_bytes: 0,
        mismatches: 0,
        failed: 0,
      },
    ],
  ]);
  assert.equal(measures(root).key_to_frame.count, 0, 'the next screen begins anew');
  assert.equal(measures(root).frames_per_second, undefined);
  stop();
  assert.deepEqual([sent.length, sent[1]?.[1]['page'], sent[1]?.[1]['key_ms']], [2, 'detail', undefined]);
  stop();
  assert.equal(sent.length, 2);
});

test('a beacon that cannot be sent harms nobody', async () => {
  const { probe, root } = opened();
  const failing = { url: '/', send: () => Promise.reject(new Error('offline')) };
  reportMeasures(root, { ...failing, page: 'home' });
  probe.show('detail');
  await new Promise((resolve) => setImmediate(resolve));
  assert.throws(() => measures({}), /root that createRoot has returned/);
});
