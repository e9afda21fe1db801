/** @jsxRuntime automatic @jsxImportSource react */
/** Stories of viewers, on the surface without pictures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, openRoom } from './room.js';

const cards = (category: number): readonly string[] =>
  catalogue
    .inCategory(catalogue.categories[category] as never)
    .toSorted((a, b) => b.sold - a.sold || a.id - b.id)
    .map(({ name }) => name);

test('a viewer moves through rows, opens a product, and comes back to its poster', async (t) => {
  const room = openRoom(t);
  await room.shows('Kitchen');
  await room.shows(cards(0)[0] ?? '');
  assert.equal(room.focused(), cards(0)[0]);
  await room.press('ArrowRight', 'ArrowRight');
  assert.equal(room.focused(), cards(0)[2]);
  await room.press('ArrowDown');
  assert.equal(room.focused(), cards(1)[0]);
  await room.press('ArrowRight');
  await room.press('Enter');
  await room.shows('Watch the film');
  await room.shows('More like this');
  assert.equal(room.focused(), 'Watch the film');
  assert.match(room.went.at(-1) ?? '', /^product:\d+$/);
  await room.press('Escape');
  assert.equal(room.went.at(-1), '');
  assert.equal(room.focused(), cards(1)[1]);
  // Each row knows where the focus was.
  await room.press('ArrowUp');
  assert.equal(room.focused(), cards(0)[2]);
  await room.press('ArrowUp');
  assert.equal(room.focused(), 'Search');
});

test('a row of 20 posters is passed to its end, and the widgets alive stay few', async (t) => {
  const room = openRoom(t);
  await room.shows(cards(0)[0] ?? '');
  for (let step = 0; step < 25; step += 1) await room.press('ArrowRight');
  assert.equal(room.focused(), cards(0)[19]);
  for (let step = 0; step < 30; step += 1) await room.press('ArrowDown');
  await room.shows(cards(11)[0] ?? '');
  assert.equal(room.focused(), cards(11)[0]);
  assert.ok(room.surface.widgets < 600, `${room.surface.widgets} widgets`);
});

test('a search shows results while one types, and a result opens', async (t) => {
  const room = openRoom(t);
  await room.shows('Kitchen');
  await room.press('ArrowUp', 'Enter');
  await room.shows('Type to search');
  assert.equal(room.focused(), 'a');
  // k is in the second line of the keyboard, i and t beside and below it.
  await room.press('ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter');
  await room.shows('text="k_"');
  assert.equal(room.focused(), 'k');
  await room.press('ArrowLeft', 'ArrowLeft', 'Enter');
  await room.shows('text="ki_"');
  // Keys of a keyboard that is plugged in.
  await room.press('t', 'e');
  await room.shows('text="kite_"');
  await room.shows(/text="[^"]* kite"/);
  assert.equal(room.went.at(-1), 'search:kite');
  await room.press('ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight');
  assert.match(room.focused(), / kite$/);
  const name = room.focused();
  await room.press('Enter');
  await room.shows('Watch the film');
  assert.match(room.went.at(-1) ?? '', /^search:kite\/product:\d+$/);
  await room.press('Escape');
  assert.equal(room.focused(), name);
  await room.press('Escape');
  assert.equal(room.went.at(-1), '');
  assert.equal(room.focused(), 'Search');
});

test('a search without results says so', async (t) => {
  const room = openRoom(t, { at: 'search:qqqq' });
  await room.shows('Nothing begins with');
});

test('a film plays, pauses, skips and is remembered', async (t) => {
  const { id, name } = catalogue.products[5] ?? assert.fail();
  const room = openRoom(t, { at: `product:${id}` });
  await room.shows('Watch the film');
  await room.press('Enter');
  await room.shows('OK pauses');
  const bar = (): number => Number(/x=(-[\d.]+)[^\n]*background="#ffd166ff"/.exec(room.surface.tree())?.[1]);
  const before = bar();
  // The screen before has faded by then.
  room.surface.advance(500);
  room.root.flush();
  const { commands } = room.surface;
  room.surface.advance(2_000);
  // The bar runs, and nothing is sent for it.
  assert.ok(bar() > before);
  assert.equal(room.surface.commands, commands);
  await room.press('Enter');
  await room.shows('OK plays');
  const stands = bar();
  room.surface.advance(2_000);
  assert.equal(bar(), stands);
  await room.press('ArrowRight');
  assert.ok(bar() > stands);
  assert.deepEqual(room.viewer.watched, [id]);
  await room.press('Escape', 'Escape');
  await room.shows('Watch again');
  await room.shows(name);
});

test('the overlay of a film hides, and a key brings it back', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const room = openRoom(t, { at: 'film:9' });
  await room.shows('OK pauses');
  const isSeen = (): boolean => {
    room.root.flush();
    room.surface.advance(1_000);
    return !/opacity=0[ \n][^\n]*gradient|gradient[^\n]*opacity=0/.test(room.surface.tree());
  };
  assert.ok(isSeen());
  t.mock.timers.tick(2_900);
  assert.ok(isSeen());
  t.mock.timers.tick(200);
  assert.ok(!isSeen());
  await room.press('x');
  assert.ok(isSeen());
});

test('a row that fails says so, and is there after another try', async (t) => {
  let isDown = true;
  const room = openRoom(t, {
    before: (paths) =>
      isDown && paths.includes('"title"') ? Promise.reject(new Error('the network is down')) : undefined,
  });
  await room.shows('This row could not be loaded.');
  isDown = false;
  while (room.focused() !== 'Try again') await room.press('ArrowDown');
  await room.press('Enter');
  await room.shows(/text="(Kitchen|Table)"/);
});

test('a slow product shows its place until it is there, and Back leaves it at once', async (t) => {
  let answer: () => void = () => undefined;
  const room = openRoom(t, {
    before: (paths) =>
      paths.includes('facts')
        ? new Promise((resolve) => {
            answer = resolve;
          })
        : undefined,
  });
  await room.shows(cards(0)[0] ?? '');
  await room.press('Enter');
  assert.match(room.went.at(-1) ?? '', /product/);
  await room.press('Escape');
  assert.equal(room.focused(), cards(0)[0]);
  await room.press('Enter');
  answer();
  await room.shows('Watch the film');
});

test('a product that does not exist says so', async (t) => {
  const room = openRoom(t, { at: 'product:999999' });
  await room.shows('There is no such product.');
  await room.press('Enter');
  await room.shows('Kitchen');
});

test('the product on which the focus rests is there before it is opened', async (t) => {
  const room = openRoom(t);
  await room.shows(cards(0)[0] ?? '');
  await new Promise((resolve) => {
    setTimeout(resolve, 400);
  });
  await room.press('x');
  const end_ms = Date.now() + 5_000;
  while (!room.asked.some((paths) => paths.includes('facts')) && Date.now() < end_ms) await room.press('x');
  const asked = room.asked.length;
  await room.press('Enter');
  await room.shows('Watch the film');
  assert.equal(room.asked.length, asked);
});
