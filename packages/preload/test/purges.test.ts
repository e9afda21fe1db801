import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Control } from '../src/control/control.js';
import type { FromGateway, ToGateway } from '../src/control/messages.js';
import { Purges } from '../src/answers/purges.js';

type Sent = Extract<ToGateway, { type: 'purge' }>;

/** A control channel whose gateway answers when it is told to. */
class FakeControl {
  readonly sent: Sent[] = [];
  takesAny = true;
  hear: (message: FromGateway) => void = () => {};
  open: () => void = () => {};

  onMessage(listener: (message: FromGateway) => void): void {
    this.hear = listener;
  }

  onOpen(opener: () => void): void {
    this.open = opener;
  }

  send(message: ToGateway): boolean {
    if (message.type === 'purge' && this.takesAny) this.sent.push(message);
    return this.takesAny;
  }

  answer(count: number): void {
    const { serial, purges } = this.sent.at(-1) as Sent;
    this.hear({ type: 'purged', serial, counts: purges.map(() => count) });
  }
}

function opened(): { control: FakeControl; purge: Purges['purge'] } {
  const control = new FakeControl();
  const { purge } = new Purges(control as unknown as Control);
  control.open();
  return { control, purge };
}

async function batches(control: FakeControl, count: number): Promise<void> {
  while (control.sent.length < count) await new Promise((done) => setTimeout(done, 1));
}

const tag = (at: number): { tag: string } => ({ tag: `tag-${at}` });

test('purges go in batches, the next one when the one before is done, and the same is asked for once', async () => {
  const { control, purge } = opened();
  const all = Array.from({ length: 250 }, (_, at) => purge(tag(at % 150)));
  await batches(control, 1);
  const late = purge(tag(0));
  await new Promise((done) => setTimeout(done, 30));
  assert.deepEqual(
    control.sent.map(({ purges }) => purges.length),
    [100],
    'not before the first is done',
  );
  control.answer(1);
  await batches(control, 2);
  // Of the 150, and the first once more: it may have been done before it was asked for again.
  assert.equal(control.sent[1]?.purges.length, 51);
  control.answer(2);
  assert.deepEqual([await late, await all[0], await all[149], await all[200]], [2, 1, 2, 1]);
});

test('what is asked for before this process serves is done when it does, and nobody waits for it', async () => {
  const control = new FakeControl();
  const { purge } = new Purges(control as unknown as Control);
  assert.equal(await purge(tag(1)), 0);
  assert.equal(control.sent.length, 0);
  control.open();
  await batches(control, 1);
  assert.deepEqual(control.sent[0]?.purges, [{ tag: 'tag-1' }]);
});

test('no more wait than can be borne, and a gateway that takes nothing is asked again', async () => {
  const { control, purge } = opened();
  control.takesAny = false;
  const all = Array.from({ length: 10_000 }, (_, at) => purge(tag(at)));
  await assert.rejects(purge(tag(-1)), /RangeError: 10000 purges wait/);
  control.takesAny = true;
  for (let batch = 1; batch <= 100; batch += 1) {
    await batches(control, batch);
    control.answer(0);
  }
  assert.equal((await Promise.all(all)).length, 10_000);
});

test('a purge by URL or prefix is one by a tag for what workers keep, and the pages go before it and after it', async () => {
  const { control, purge } = opened();
  for (const [pages, tag, count] of [
    [{ url: 'https://shop.example/a?b=1' }, 'sluice:url:https://shop.example/a?b=1', 3],
    [{ prefix: '/blog/', soft: true }, 'sluice:prefix:/blog/', 2],
  ] as const) {
    const before = control.sent.length;
    const purged = purge(pages);
    await batches(control, before + 1);
    assert.deepEqual(control.sent.at(-1)?.purges, [pages, { tag }]);
    control.answer(2);
    await batches(control, before + 2);
    assert.deepEqual(control.sent.at(-1)?.purges, [pages]);
    control.answer(1);
    assert.equal(await purged, count);
  }
});

test('I6: the same purge by URL is stored once by a process that never serves, and done in order by a serving process', async () => {
  const control = new FakeControl();
  const { purge } = new Purges(control as unknown as Control);
  for (let at = 0; at < 100; at += 1) assert.equal(await purge({ url: '/a' }), 0);
  control.open();
  await batches(control, 1);
  assert.deepEqual(control.sent[0]?.purges, [{ url: '/a' }, { tag: 'sluice:url:/a' }]);
  control.answer(0);
  await batches(control, 2);
  assert.deepEqual(control.sent[1]?.purges, [{ url: '/a' }]);
  control.answer(0);
  await new Promise((done) => setTimeout(done, 50));
  assert.equal(control.sent.length, 2);
});

test('pages alone are purged where only they are meant', async () => {
  const control = new FakeControl();
  const { purgePages } = new Purges(control as unknown as Control);
  control.open();
  const purged = purgePages({ url: '/a' });
  await batches(control, 1);
  assert.deepEqual(control.sent[0]?.purges, [{ url: '/a' }]);
  control.answer(1);
  assert.equal(await purged, 1);
});
