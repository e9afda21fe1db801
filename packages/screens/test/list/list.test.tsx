/** @jsxRuntime automatic @jsxImportSource react */
// Lists on a surface without pictures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReactNode, useState } from 'react';
import { List, type ListProps, Widget, createRoot } from '../../src/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

const FOCUSED = { scale: 1.1 };

interface Shown {
  readonly surface: HeadlessSurface;
  readonly render: (element: ReactNode) => void;
}

function shown(element: ReactNode): Shown {
  const surface = new HeadlessSurface({ width: 600, height: 400 });
  const root = createRoot(surface);
  const render = (element: ReactNode): void => {
    root.render(element);
    root.flush();
    surface.advance(0);
    root.flush();
    surface.advance(1000);
  };
  render(element);
  return { surface, render };
}

/** Key, its frame, and the end of the scroll. */
function go(surface: HeadlessSurface, key: string, times = 1): void {
  for (let time = 0; time < times; time += 1) {
    surface.press(key);
    surface.advance(300);
  }
}

/** Text of the widget with the focus, or of the first one in it. */
const focused = (surface: HeadlessSurface): string | undefined =>
  /\*\d+ [^*]*?text="(.*?)"/s.exec(surface.tree())?.[1];

const text = (item: number): ReactNode => <Widget text={`item ${item}`} />;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function Column(props: Partial<ListProps<number>> & { readonly items: readonly number[] }): ReactNode {
  return (
    <List
      renderItem={text}
      itemSize={100}
      style={{ height: 400, width: 600 }}
      itemFocusStyle={FOCUSED}
      {...props}
    />
  );
}

test('100,000 items have no more widgets than three screens hold, whatever has been scrolled', () => {
  const { surface } = shown(<Column items={numbers(100_000)} />);
  const most = 2 + 2 * (3 * 4) + 2;
  assert.ok(surface.widgets <= most, `${surface.widgets} at the start`);
  assert.equal(focused(surface), 'item 0');
  let widgets = 0;
  for (let press = 0; press < 300; press += 1) {
    surface.keyDown('ArrowDown', press > 0);
    surface.advance(16);
    widgets = Math.max(widgets, surface.widgets);
  }
  assert.equal(focused(surface), 'item 300');
  assert.ok(widgets <= most, `${widgets} on the way`);
});

test('an item with the focus is where it is seen, its row is the same widget with another item', () => {
  let mounts = 0;
  function Item({ item }: { readonly item: number }): ReactNode {
    useState(() => (mounts += 1));
    return <Widget text={`item ${item}`} />;
  }
  const render = (item: number): ReactNode => <Item item={item} />;
  const { surface } = shown(<Column items={numbers(1000)} renderItem={render} />);
  go(surface, 'ArrowDown', 40);
  assert.equal(focused(surface), 'item 40');
  const scroll = [...surface.tree().matchAll(/ y=(-\d+)/g)].map(([, y]) => Number(y));
  assert.deepEqual(scroll, [-(41 * 100 - 400)], 'one widget is scrolled');
  assert.ok(mounts <= 14, `${mounts} components for 40 keys`);
  go(surface, 'ArrowUp', 40);
  assert.equal(focused(surface), 'item 0');
});

test('a key sends few commands, all of them in its own batch', () => {
  const { surface } = shown(<Column items={numbers(1000)} align="start" />);
  go(surface, 'ArrowDown', 20);
  const before = surface.commands;
  surface.press('ArrowDown');
  const sent = surface.commands - before;
  surface.advance(300);
  assert.equal(surface.commands, before + sent);
  assert.ok(sent <= 12, `${sent} commands`);
});

test('the ends of a list let the focus out, and it comes back to the same item', () => {
  const { surface } = shown(
    <Widget>
      <Widget focusable text="above" style={{ height: 20 }} />
      <Column items={numbers(3)} />
      <Widget focusable text="below" />
    </Widget>,
  );
  assert.equal(focused(surface), 'above');
  go(surface, 'ArrowDown', 3);
  assert.equal(focused(surface), 'item 2');
  go(surface, 'ArrowDown');
  assert.equal(focused(surface), 'below');
  go(surface, 'ArrowUp');
  assert.equal(focused(surface), 'item 2');
  go(surface, 'ArrowUp', 3);
  assert.equal(focused(surface), 'above');
});

test('lists in a list: each row scrolls by itself', () => {
  const row = (index: number): ReactNode => (
    <List
      key={index}
      items={numbers(50)}
      renderItem={(item: number) => <Widget text={`${index}/${item}`} />}
      itemSize={150}
      direction="horizontal"
      style={{ height: 100 }}
    />
  );
  const { surface } = shown(<Column items={numbers(100)} renderItem={row} />);
  assert.equal(focused(surface), '0/0');
  go(surface, 'ArrowRight', 9);
  assert.equal(focused(surface), '0/9');
  go(surface, 'ArrowDown', 2);
  assert.equal(focused(surface), '2/0');
  go(surface, 'ArrowUp', 2);
  assert.equal(focused(surface), '0/9');
});

test('items of different sizes, an end that loads more, and an end that goes', () => {
  let ends = 0;
  const sized = (count: number): ReactNode => (
    <Column
      items={numbers(count)}
      itemSize={(index) => 60 + 10 * (index % 5)}
      onEnd={() => (ends += 1)}
      initialIndex={3}
    />
  );
  const { surface, render } = shown(sized(30));
  assert.equal(focused(surface), 'item 3');
  assert.equal(ends, 0);
  go(surface, 'ArrowDown', 26);
  assert.equal(focused(surface), 'item 29');
  assert.equal(ends, 1);
  render(sized(60));
  go(surface, 'ArrowDown', 1);
  assert.equal(focused(surface), 'item 30');
  render(sized(10));
  assert.equal(ends, 2);
  assert.ok((surface.tree().match(/text=/g) ?? []).length <= 10);
  go(surface, 'ArrowUp');
  assert.ok(/^item [0-9]$/.test(focused(surface) ?? ''), focused(surface));
  render(sized(0));
  assert.equal(focused(surface), undefined);
});

test('a list without a size of its own takes that of its place', () => {
  const { surface } = shown(
    <Widget style={{ height: 250 }}>
      <List items={numbers(1000)} renderItem={text} itemSize={50} style={{ flexGrow: 1, flexShrink: 1 }} />
    </Widget>,
  );
  go(surface, 'ArrowDown', 9);
  assert.equal(focused(surface), 'item 9');
  assert.ok(surface.tree().includes(' y=-250'), surface.tree());
});
