/** @jsxRuntime automatic @jsxImportSource react */
// Focus through React: widgets on a surface, keys from it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReactNode, useState } from 'react';
import { Focusable, Widget, createRoot, isBack, useFocused } from '../../src/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

const FOCUSED = { scale: 1.1 };

function shown(element: ReactNode): HeadlessSurface {
  const surface = new HeadlessSurface();
  const root = createRoot(surface);
  root.render(element);
  root.flush();
  surface.advance(0);
  return surface;
}

/** Texts of the widgets, the one with the focus in brackets. */
const texts = (surface: HeadlessSurface): string =>
  [...surface.tree().matchAll(/(\*?)\d+ .*text="(.*?)"/g)]
    .map(([, mark, text]) => (mark ? `[${text}]` : text))
    .join(' ');

test('a key moves the focus along a row by one command, and renders nothing', () => {
  let renders = 0;
  function Poster({ name }: { readonly name: string }): ReactNode {
    renders += 1;
    return <Widget focusable focusStyle={FOCUSED} text={name} />;
  }
  const surface = shown(
    <Widget focusArea={{ direction: 'row' }}>
      {['a', 'b', 'c'].map((name) => (
        <Poster key={name} name={name} />
      ))}
    </Widget>,
  );
  assert.equal(texts(surface), '[a] b c');
  const [before, rendered] = [surface.commands, renders];
  surface.press('ArrowRight');
  assert.equal(texts(surface), 'a [b] c');
  assert.equal(surface.value(surface.focused, 'scale'), Math.fround(1.1));
  assert.deepEqual([surface.commands - before, renders], [1, rendered]);
});

test('a dialog takes the focus by a prop, and gives it back', () => {
  function App(): ReactNode {
    const [isOpen, setOpen] = useState(false);
    return (
      <Widget onKey={({ key }) => key === 'Enter' && (setOpen(true), true)}>
        <Widget focusArea={{ direction: 'row' }}>
          <Widget focusable text="a" />
          <Widget focusable text="b" />
        </Widget>
        {isOpen && (
          <Widget
            focused
            focusArea={{ direction: 'row', trap: true }}
            onKey={(event) => isBack(event) && (setOpen(false), true)}
          >
            <Widget focusable text="yes" />
            <Widget focusable text="no" />
          </Widget>
        )}
      </Widget>
    );
  }
  const surface = shown(<App />);
  surface.press('ArrowRight');
  surface.press('Enter');
  assert.equal(texts(surface), 'a b [yes] no');
  surface.press('ArrowRight');
  surface.press('ArrowUp');
  assert.equal(texts(surface), 'a b yes [no]');
  surface.press('Escape');
  assert.equal(texts(surface), 'a [b]');
});

test('a widget that goes gives the focus to its neighbour in the same batch', () => {
  function App(): ReactNode {
    const [names, setNames] = useState(['a', 'b', 'c']);
    return (
      <Widget focusArea={{ direction: 'row' }}>
        {names.map((name) => (
          <Widget
            key={name}
            focusable
            text={name}
            onKey={({ key }) => key === 'Enter' && (setNames(names.filter((each) => each !== name)), true)}
          />
        ))}
      </Widget>
    );
  }
  const surface = shown(<App />);
  surface.press('ArrowRight');
  surface.press('Enter');
  assert.equal(texts(surface), 'a [c]');
  surface.press('Enter');
  surface.press('Enter');
  assert.equal(texts(surface), '');
  assert.equal(surface.focused, 0);
});

test('repeats wait for their frame, a grid for its places', () => {
  const surface = shown(
    <Widget style={{ flexDirection: 'row', flexWrap: 'wrap', width: 300 }} focusArea={{ direction: 'grid' }}>
      {Array.from({ length: 12 }, (_, index) => (
        <Widget key={index} focusable text={String(index)} style={{ width: 100, height: 50 }} />
      ))}
    </Widget>,
  );
  surface.press('ArrowDown', 5);
  assert.equal(texts(surface).split(' ').indexOf('[3]'), 3, 'no frame has been drawn since');
  for (const _ of [1, 2]) {
    surface.advance(0);
    surface.keyDown('ArrowDown', true);
  }
  assert.equal(texts(surface).split(' ').indexOf('[9]'), 9);
  surface.press('ArrowRight');
  assert.equal(texts(surface).split(' ').indexOf('[10]'), 10);
});

test('components that ask render by the focus, others do not', () => {
  const renders: string[] = [];
  function Title(): ReactNode {
    const { focused, onFocus, onBlur } = useFocused();
    renders.push(`title ${focused}`);
    return <Widget focusable onFocus={onFocus} onBlur={onBlur} text={focused ? 'TITLE' : 'title'} />;
  }
  let blurs = 0;
  const surface = shown(
    <Widget focusArea={{ direction: 'column' }}>
      <Title />
      <Focusable onBlur={() => (blurs += 1)}>
        {(focused) => <Widget text={focused ? 'BODY' : 'body'} />}
      </Focusable>
    </Widget>,
  );
  surface.advance(16);
  assert.ok(surface.tree().includes('TITLE') && surface.tree().includes('body'));
  surface.press('ArrowDown');
  assert.ok(surface.tree().includes('title') && surface.tree().includes('BODY'));
  surface.press('ArrowUp');
  assert.equal(blurs, 1);
  assert.deepEqual(renders, ['title false', 'title true', 'title false', 'title true']);
});
