/** A server's screen on a device: drawn at once, and taken over by an app's root. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createElement as h } from 'react';
import { difference } from '../../src/adopt/difference.ts';
import { pictureOf, type ScreenJson, type WidgetJson } from '../../src/adopt/json.ts';
import { Look, Picture } from '../../src/adopt/picture.ts';
import { Shown, showScreen } from '../../src/adopt/show.ts';
import { createRoot, Widget, type WidgetHandle } from '../../src/index.ts';
import { jsonOf } from '../../src/server/json.ts';
import { EVENT, VERSION } from '../../src/stream/codes.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';
import { screens } from '../support/screens.ts';
import { runs } from '../support/seed.ts';

const size = { width: 1280, height: 720 };

/** Commands by which a root would mount the screen, with numbers that are not the surface's. */
function mount(
  json: ScreenJson,
  first = 1000,
): { words: Int32Array; length: number; strings: readonly string[] } {
  const blank = new Picture();
  // Whatever is there makes the numbers higher.
  for (let id = 1; id <= first; id += 1) blank.parts.set(id, blank.root);
  const style = new Look();
  style.values.set(255, { command: 0, word: 0, text: '' });
  blank.styles.set(first, style);
  const wanted = pictureOf(json);
  return difference(blank, wanted);
}

/** A surface's tree without numbers of widgets, and without places: Yoga rounds fractions by what it laid out before. */
const unplaced = (tree: string): string => tree.replace(/^( *\*?)\d+ (?:-?[\d.]+,\S+ \S+)?/gm, '$1');

/** Widgets with their styles in place. Transitions are left out: one that is no more lasts 0 ms. */
function plain({ styles, widgets, focus }: ScreenJson): unknown {
  const lookOf = (place: number | undefined): unknown =>
    place === undefined ? undefined : styles[place]?.values;
  const of = ({ style, focusStyle, values, animations, children = [] }: WidgetJson): unknown => ({
    style: lookOf(style),
    focusStyle: lookOf(focusStyle),
    values,
    animations,
    children: children.map(of),
  });
  return { widgets: widgets.map(of), focus };
}

/** All that a surface was told, as one picture. */
function told(surface: HeadlessSurface): Picture {
  const picture = new Picture();
  const commit = surface.commit.bind(surface);
  surface.commit = (words, length, strings, cause) => {
    picture.apply(words, length, strings);
    commit(words, length, strings, cause);
  };
  return picture;
}

test('JSON of a picture stands for the same picture', () => {
  fc.assert(
    fc.property(screens, (json) => {
      const text = JSON.stringify(jsonOf(pictureOf(json), size));
      const again = JSON.stringify(jsonOf(pictureOf(JSON.parse(text) as ScreenJson), size));
      assert.equal(again, text);
      assert.equal(difference(pictureOf(json), pictureOf(JSON.parse(text) as ScreenJson)).length, 0);
    }),
    runs(300),
  );
});

test('a root whose first batch is what is shown sends no command', () => {
  fc.assert(
    fc.property(screens, (json) => {
      const surface = new HeadlessSurface(size);
      const shown = showScreen(surface, json);
      const { commands, widgets } = surface;
      const batch = mount(json);
      const { widgets: numbers, length } = shown.take(batch.words, batch.length, batch.strings);
      assert.equal(length, 0);
      assert.equal(surface.commands, commands);
      assert.equal(numbers.size, widgets);
    }),
    runs(300),
  );
});

test('a root whose first batch differs leads to the same as a fresh mount', () => {
  fc.assert(
    fc.property(screens, screens, (before, json) => {
      const surface = new HeadlessSurface(size);
      const picture = told(surface);
      const shown = showScreen(surface, before);
      const batch = mount(json);
      const made = shown.take(batch.words, batch.length, batch.strings);
      surface.commit(made.words, made.length, made.strings, 0);
      const fresh = new HeadlessSurface(size);
      showScreen(fresh, json);
      // Transitions of widgets that were shown before run to their end.
      surface.advance(1);
      surface.advance(60_000);
      fresh.advance(1);
      fresh.advance(60_000);
      assert.equal(unplaced(surface.tree()), unplaced(fresh.tree()));
      assert.deepEqual(plain(jsonOf(picture, size)), plain(jsonOf(pictureOf(json), size)));
      assert.equal(surface.widgets, fresh.widgets);
      // The numbers that the root gets are the surface's.
      for (const id of made.widgets.values()) assert.ok(surface.rect(id) !== undefined);
      assert.ok(made.nextWidget > Math.max(0, ...made.widgets.values()));
    }),
    runs(200),
  );
});

test('a root gets the places and keys that came before it, in its numbers', () => {
  const surface = new HeadlessSurface(size);
  const json: ScreenJson = {
    version: VERSION,
    ...size,
    styles: [],
    widgets: [{ values: { width: 100, height: 50, reports: true } }],
    focus: 1,
  };
  const shown = showScreen(surface, json);
  surface.advance(16);
  surface.press('ArrowRight');
  const heard: (readonly number[])[] = [];
  const texts: string[] = [];
  const batch = mount(json);
  const { widgets } = shown.take(batch.words, batch.length, batch.strings);
  assert.equal(heard.length, 0);
  shown.release(surface, (words, length, strings) => {
    heard.push(Array.from(words.subarray(0, length)));
    texts.push(...strings);
  });
  const [layout, ...keys] = heard;
  assert.deepEqual(layout?.slice(0, 2), [EVENT.LAYOUT, [...widgets.values()][0]]);
  assert.deepEqual(
    keys.map((words) => words.slice(0, 2)),
    [
      [EVENT.KEY, 0],
      [EVENT.KEY, 2],
    ],
  );
  assert.deepEqual(texts, ['ArrowRight', 'ArrowRight']);
  surface.press('Enter');
  assert.equal(texts.at(-1), 'Enter');
});

test('screens that follow each other leave no events of widgets that are gone, and use their numbers again', () => {
  const surface = new HeadlessSurface(size);
  const picture = told(surface);
  const text = { values: { text: 'a', reports: true } };
  const plain = { values: { width: 10, reports: true } };
  const screen = (widgets: readonly WidgetJson[]): ScreenJson => ({
    version: VERSION,
    ...size,
    styles: [],
    widgets,
    focus: 0,
  });
  const shown = showScreen(surface, screen([text, plain]));
  for (let turn = 0; turn < 20; turn += 1) {
    shown.show(screen(turn % 2 === 0 ? [plain, text, plain, text] : [text, plain]));
    surface.advance(16);
    assert.deepEqual(
      [...picture.parts.keys()].filter((id) => id > 6),
      [],
    );
  }
  const places: number[] = [];
  shown.release(surface, (words) => places.push(words[1] ?? 0));
  assert.deepEqual(
    places.sort((one, other) => one - other),
    [...picture.parts.keys()].sort((one, other) => one - other),
  );
});

test('16 presses are remembered, each with its release', () => {
  const surface = new HeadlessSurface(size);
  const shown = showScreen(surface, { version: VERSION, ...size, styles: [], widgets: [{}], focus: 1 });
  for (let key = 0; key < 15; key += 1) surface.press(`k${key}`);
  surface.press('Enter', 3);
  surface.press('late');
  const heard: string[] = [];
  shown.release(surface, (words, _, strings) => heard.push(`${words[1]} ${strings[0]}`));
  const kept = Array.from({ length: 15 }, (_, key) => [`0 k${key}`, `2 k${key}`]).flat();
  assert.deepEqual(heard, [...kept, '0 Enter', '2 Enter']);
});

test('keys move the focus when the app begins with fewer widgets than the server has shown', async () => {
  const surface = new HeadlessSurface(size);
  const stop = { values: { height: 10 } };
  const shown = showScreen(surface, {
    version: VERSION,
    ...size,
    styles: [],
    widgets: [{ values: { text: 'a' } }, { values: { text: 'late' } }, stop, stop, stop],
    focus: 3,
  });
  const root = createRoot(surface, { adopt: shown });
  const log: string[] = [];
  const place: { third: WidgetHandle | null } = { third: null };
  const stopOf = (key: string, ref?: (handle: WidgetHandle | null) => void) =>
    h(Widget, {
      key,
      focusable: true,
      style: { height: 10 },
      onFocus: () => log.push(`focus ${key}`),
      onBlur: () => log.push(`blur ${key}`),
      ...(ref !== undefined && { ref }),
    });
  const third = (handle: WidgetHandle | null): void => {
    place.third = handle;
  };
  const area = { direction: 'column', enter: () => place.third } as const;
  root.render([
    h(Widget, { key: 'a', text: 'a' }),
    stopOf('one'),
    stopOf('two'),
    h(
      Widget,
      { key: 'area', focusArea: area, style: { height: 10 } },
      stopOf('second'),
      stopOf('third', third),
    ),
  ]);
  root.flush();
  await Promise.resolve();
  surface.press('ArrowDown');
  const two = surface.focused;
  surface.press('ArrowDown');
  assert.equal(surface.focused, place.third?.id);
  surface.press('ArrowUp');
  surface.press('ArrowUp');
  surface.press('ArrowUp');
  surface.press('ArrowDown');
  assert.equal(surface.focused, two);
  assert.deepEqual(log.slice(0, 5), ['focus one', 'blur one', 'focus two', 'blur two', 'focus third']);
});

test('JSON that is hostile or newer is refused, or shown as far as it is known', () => {
  const surface = new HeadlessSurface(size);
  assert.throws(() => showScreen(surface, { version: VERSION + 1 } as ScreenJson), /version/);
  assert.throws(() => showScreen(surface, { version: VERSION } as ScreenJson), /styles and widgets/);
  const text = `{"version":${VERSION},"width":1,"height":1,"focus":99,"styles":[{"values":{"__proto__":1,"width":"wide"}}],
    "widgets":[{"style":7,"values":{"__proto__":{"width":5},"constructor":1,"width":12,"opacity":"#ffffffff","display":"grid",
    "text":{"toString":1},"newer":3},"transitions":{"width":[1,1,"ease"],"opacity":[-1,0,"ease"]},
    "animations":{"x":{"to":"far","duration":1}}}]}`;
  const shown = new Shown(new HeadlessSurface(size), JSON.parse(text) as ScreenJson);
  assert.ok(shown);
  const picture = pictureOf(JSON.parse(text) as ScreenJson);
  const [part] = picture.root.children;
  assert.deepEqual([...(part?.values.keys() ?? [])].length, 1);
  assert.equal(part?.style, 0);
  assert.equal(part?.transitions.size, 0);
  assert.equal(part?.animations.size, 0);
  assert.equal(picture.focus, 0);
  assert.equal(({} as Record<string, unknown>)['width'], undefined);
});
