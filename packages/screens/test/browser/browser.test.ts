// The browser's surface in Chromium: pixels, motions, keys and pictures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import zlib from 'node:zlib';
import type { Page } from 'playwright-core';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';
import { parseBatch } from '../../src/stream/parse.ts';
import { noBrowser, open } from '../support/chromium.ts';
import { type Picture, pixel, readPng } from '../support/png.ts';

async function shown(page: Page, text: string): Promise<Picture> {
  await page.evaluate((text) => globalThis.page.commit(text), text);
  await page.evaluate(() => globalThis.page.still());
  return readPng(await page.screenshot());
}

/** Whether two colours differ by no more than a few steps in each channel. */
function isNear(got: string, wanted: string): boolean {
  const channels = (color: string): number[] =>
    [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const other = channels(wanted);
  return channels(got).every((value, index) => Math.abs(value - (other[index] ?? 0)) <= 4);
}

function assertPixels(picture: Picture, wanted: Readonly<Record<string, string>>): void {
  for (const [place, color] of Object.entries(wanted)) {
    const [x = 0, y = 0] = place.split(',').map(Number);
    assert.ok(isNear(pixel(picture, x, y), color), `${place}: ${pixel(picture, x, y)}, not ${color}`);
  }
}

const box = (id: number, parent: number, left: number, top: number, size: number, more = ''): string =>
  `create ${id}\nplace ${parent} ${id} 0\ninteger position ${id} absolute\nnumber left ${id} ${left}\nnumber top ${id} ${top}
number width ${id} ${size}\nnumber height ${id} ${size}\n${more}`;

test(
  'boxes have the colours, corners, borders and gradients that they should',
  { skip: noBrowser },
  async (t) => {
    const { page, faults } = await open(t, { width: 200, height: 100 });
    const picture = await shown(
      page,
      [
        box(
          1,
          0,
          0,
          0,
          40,
          'integer background 1 #ff0000ff\nnumber borderRadius 1 20\nnumber borderWidth 1 5\ninteger borderColor 1 #00ff00ff',
        ),
        box(2, 0, 50, 0, 40, 'string gradient 2 "90 #ff0000ff 0, #0000ffff 1"'),
        box(
          3,
          0,
          100,
          0,
          40,
          'string gradient 3 "0 #ff0000ff 0, #0000ffff 1"\ninteger background 3 #ffffffff',
        ),
        box(4, 0, 150, 0, 40, 'integer background 4 #0000ff80'),
        box(5, 0, 0, 50, 40, 'integer background 5 #00ff00ff\nnumber opacity 5 0.5'),
        box(6, 5, 0, 0, 20, 'integer background 6 #ffffffff'),
        box(7, 0, 50, 50, 40, 'integer clip 7 true\nnumber borderRadius 7 20'),
        box(8, 7, -10, -10, 80, 'integer background 8 #ffff00ff'),
        box(
          9,
          0,
          100,
          50,
          20,
          'integer background 9 #ff00ffff\nnumber scale 9 2\nnumber x 9 10\nnumber y 9 10',
        ),
        box(10, 0, 100, 50, 40, 'integer background 10 #00ffffff\ninteger zIndex 10 -1'),
        box(11, 0, 150, 60, 20, 'integer background 11 #ffffffff\nnumber rotate 11 45'),
      ].join('\n'),
    );
    assertPixels(picture, {
      '1,1': '#000000',
      '20,2': '#00ff00',
      '2,20': '#00ff00',
      '20,20': '#ff0000',
      '20,37': '#00ff00',
      '51,20': '#f50009',
      '70,20': '#80007f',
      '88,20': '#0900f5',
      '120,1': '#0900f5',
      '120,38': '#f50009',
      '170,20': '#000080',
      '10,60': '#808080',
      '30,80': '#008000',
      '51,51': '#000000',
      '70,52': '#ffff00',
      '70,70': '#ffff00',
      '93,70': '#000000',
      '102,52': '#ff00ff',
      '120,70': '#ff00ff',
      '138,88': '#ff00ff',
      '151,61': '#000000',
      '160,58': '#ffffff',
      '160,70': '#ffffff',
    });
    assert.deepEqual(faults, []);
  },
);

test('places are those of the surface without pictures', { skip: noBrowser }, async (t) => {
  const { page } = await open(t, { width: 300, height: 200 });
  const text = `create 1\nplace 0 1 0\npercent width 1 50\nnumber paddingLeft 1 7\ninteger flexDirection 1 row\nnumber columnGap 1 5
create 2\nplace 1 2 0\nnumber flexGrow 2 1\nnumber height 2 33
create 3\nplace 1 3 2\nnumber width 3 40\nnumber aspectRatio 3 2
create 4\nplace 0 4 0\nnumber flexGrow 4 1\ninteger justifyContent 4 flex-end
create 5\nplace 4 5 0\nnumber height 5 10\nnumber marginBottom 5 3`;
  await shown(page, text);
  const headless = new HeadlessSurface({ width: 300, height: 200 });
  const batch = parseBatch(text);
  headless.commit(batch.words, batch.length, batch.strings, 0);
  for (const id of [1, 2, 3, 4, 5])
    assert.deepEqual(await page.evaluate((id) => globalThis.page.surface?.rect(id), id), headless.rect(id));
});

test('frames are drawn only while something moves', { skip: noBrowser }, async (t) => {
  const { page, faults } = await open(t, { width: 100, height: 50 });
  const frames = (): Promise<number> =>
    page.evaluate(() => globalThis.page.surface?.frameCounts().frames ?? 0);
  await shown(
    page,
    box(
      1,
      0,
      0,
      0,
      20,
      'integer background 1 #ff0000ff\ntransition x 1 200 0 linear\ninteger reports 1 true',
    ),
  );
  const before = await frames();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
  assert.equal(await frames(), before, 'nothing moves');
  assertPixels(await shown(page, 'number x 1 60'), { '10,10': '#000000', '70,10': '#ff0000' });
  const after = await frames();
  assert.ok(after >= before + 3, `${after - before} frames of a motion`);
  const said = await page.evaluate(() => globalThis.page.said);
  assert.ok(said.includes('end 1 41'), said.join());
  assertPixels(await shown(page, 'remove 1'), { '70,10': '#000000' });
  assert.deepEqual(faults, []);
});

test(
  'keys of the window come as events, held ones end when the window loses them',
  { skip: noBrowser },
  async (t) => {
    const { page } = await open(t, { width: 100, height: 50 });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await page.evaluate(() => dispatchEvent(new Event('blur')));
    await page.keyboard.up('Enter');
    await page.keyboard.press('Control+a');
    assert.deepEqual(
      await page.evaluate(() => globalThis.page.said.filter((event) => event.startsWith('key'))),
      ['key 0 1 ArrowRight', 'key 2 2 ArrowRight', 'key 0 3 Enter', 'key 1 4 Enter', 'key 2 5 Enter'],
    );
  },
);

test('the surface follows its parent, and text its font', { skip: noBrowser }, async (t) => {
  const { page } = await open(t, {});
  await page.setViewportSize({ width: 500, height: 300 });
  await page.waitForFunction(() => globalThis.page.said.includes('resize 500 300'));
  await shown(page, 'create 1\nplace 0 1 0\ninteger alignSelf 1 flex-start\nstring text 1 "wide text here"');
  const narrow = await page.evaluate(() => globalThis.page.surface?.rect(1)?.width ?? 0);
  await shown(page, 'number fontSize 1 48');
  const wide = await page.evaluate(() => globalThis.page.surface?.rect(1)?.width ?? 0);
  assert.ok(narrow > 50 && Math.abs(wide - 2 * narrow) <= 3, `${narrow} and ${wide}`);
  const { pixels } = readPng(await page.screenshot());
  assert.ok(pixels.filter((value, at) => at % 4 === 0 && value > 200).length > 200, 'letters are white');
  await shown(page, 'integer color 1 #00ff00ff\nstring text 1 ""');
  assert.equal(await page.evaluate(() => globalThis.page.surface?.rect(1)?.height), 0);
});

test(
  'pictures cover, are contained or fill, and those that cannot be had are told',
  { skip: noBrowser },
  async (t) => {
    const file = { type: 'image/png', body: halves(40, 20) };
    const { page } = await open(t, { width: 200, height: 100 }, { '/halves.png': file });
    const image = (id: number, left: number, fit: string, radius: number): string =>
      box(
        id,
        0,
        left,
        0,
        40,
        `string image ${id} "/halves.png"\ninteger fit ${id} ${fit}\ninteger reports ${id} true\nnumber borderRadius ${id} ${radius}`,
      );
    await shown(
      page,
      [
        image(1, 0, 'cover', 0),
        image(2, 50, 'contain', 0),
        image(3, 100, 'fill', 0),
        image(4, 150, 'cover', 20),
        box(5, 0, 0, 50, 10, 'string image 5 "/none.png"\ninteger reports 5 true'),
      ].join('\n'),
    );
    await page.waitForFunction(
      () => globalThis.page.said.filter((event) => event.startsWith('image')).length === 5,
    );
    const said = await page.evaluate(() =>
      globalThis.page.said.filter((event) => event.startsWith('image')).toSorted(),
    );
    assert.deepEqual(said, ['image 1 1', 'image 2 1', 'image 3 1', 'image 4 1', 'image 5 2']);
    assertPixels(await shown(page, 'number x 1 0'), {
      '5,5': '#ff0000',
      '35,35': '#0000ff',
      '55,5': '#000000',
      '55,20': '#ff0000',
      '85,20': '#0000ff',
      '85,35': '#000000',
      '105,5': '#ff0000',
      '135,35': '#0000ff',
      '151,1': '#000000',
      '160,20': '#ff0000',
      '180,20': '#0000ff',
    });
  },
);

/** A PNG whose left half is red, and whose right half is blue. */
function halves(width: number, height: number): Buffer {
  const row = [
    0,
    ...Array.from({ length: width }, (_, x) => (x < width / 2 ? [255, 0, 0] : [0, 0, 255])).flat(),
  ];
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const data = zlib.deflateSync(Buffer.from(Array.from({ length: height }, () => row).flat()));
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(zlib.crc32(body));
  return Buffer.concat([length, body, sum]);
}
