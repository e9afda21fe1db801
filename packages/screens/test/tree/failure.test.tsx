/** @jsxRuntime automatic @jsxImportSource react */
// Commits that fail: what was under way reaches no other root, and the root goes on empty.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as React from 'react';
import { createRoot, Widget, type ScreenRoot } from '../../src/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

interface Screen {
  readonly surface: HeadlessSurface;
  readonly root: ScreenRoot;
  readonly errors: string[];
  readonly show: (element: React.ReactNode) => void;
}

function screen(): Screen {
  const surface = new HeadlessSurface({ width: 100, height: 100 });
  const errors: string[] = [];
  const root = createRoot(surface, { onUncaughtError: (error) => errors.push((error as Error).message) });
  const show = (element: React.ReactNode): void => {
    root.render(element);
    root.flush();
  };
  return { surface, root, errors, show };
}

function textsOf(surface: HeadlessSurface): string[] {
  return [...surface.tree().matchAll(/text="([^"]*)"/g)].map(([, text]) => text ?? '');
}

/** Lets the surface refuse the next batches. */
function refuse(surface: HeadlessSurface, batches: number): void {
  const commit = surface.commit.bind(surface);
  let left = batches;
  surface.commit = (...batch) => {
    if (left-- > 0) throw new Error('refused');
    commit(...batch);
  };
}

for (const refused of [1, 2, 3])
  void test(`a root whose surface refuses ${refused} batches is empty, and other roots get nothing of it`, () => {
    const log: string[] = [];
    const Child = ({ text }: { text: string }): React.ReactNode => {
      React.useLayoutEffect(() => {
        log.push(`layout ${text}`);
        return () => void log.push(`end ${text}`);
      }, [text]);
      React.useEffect(() => {
        log.push(`effect ${text}`);
        return () => void log.push(`passive end ${text}`);
      }, [text]);
      return <Widget text={text} focusable staticStyle={{ height: text.length }} />;
    };
    const a = screen();
    const b = screen();
    a.show([<Child key="1" text="a" />, <Child key="2" text="b" />]);
    b.show([<Widget key="1" text="x" />, <Widget key="2" text="y" />]);
    log.length = 0;
    refuse(a.surface, refused);
    a.show([<Child key="1" text="secret" />, <Child key="3" text="new" />]);
    assert.deepEqual(a.errors.slice(0, 1), ['refused']);
    assert.deepEqual(log.toSorted(), [
      'end a',
      'end b',
      'end new',
      'end secret',
      'layout new',
      'layout secret',
      'passive end a',
      'passive end b',
    ]);
    for (let i = 0; i < 4; i++) {
      b.show([<Widget key="1" text={`x${i}`} />, <Widget key="2" text={`y${i}`} />]);
      assert.deepEqual(textsOf(b.surface), [`x${i}`, `y${i}`]);
    }
    for (let i = 0; i < 4; i++) a.show(<Child text={`again ${i}`} />);
    assert.deepEqual(textsOf(a.surface), ['again 3']);
    assert.equal(a.surface.widgets, 1);
    assert.equal(a.surface.value(a.surface.focused, 'height'), 'again 3'.length);
    assert.deepEqual(b.errors, []);
    assert.ok(a.errors.every((message) => message === 'refused'));
  });

void test('an error in the middle of a commit leaves nothing for the next commits', () => {
  const a = screen();
  const b = screen();
  const hostile = {
    get width(): number {
      throw new Error('of a getter');
    },
  };
  a.show([<Widget key="1" text="a" />, <Widget key="2" text="b" />]);
  b.show([<Widget key="1" text="x" />, <Widget key="2" text="y" />]);
  a.show([<Widget key="1" style={hostile} />, <Widget key="2" text="secret" />, <Widget key="3" />]);
  assert.deepEqual(a.errors, ['of a getter']);
  assert.equal(a.surface.tree(), '');
  for (let i = 0; i < 3; i++) {
    b.show([<Widget key="1" text={`x${i}`} />, <Widget key="2" text={`y${i}`} />]);
    assert.deepEqual(textsOf(b.surface), [`x${i}`, `y${i}`]);
  }
  a.show(<Widget text="again" staticStyle={{ height: 5 }} />);
  assert.deepEqual(textsOf(a.surface), ['again']);
});

void test('an error of onFocus or onBlur is reported, and the commit goes on', () => {
  const reported: string[] = [];
  const global = globalThis as { reportError?: unknown };
  global.reportError = (error: Error) => reported.push(error.message);
  const fail = (message: string) => (): never => {
    throw new Error(message);
  };
  try {
    const { surface, show, errors } = screen();
    show(<Widget key="1" focusable onFocus={fail('onFocus')} onBlur={fail('onBlur')} text="a" />);
    assert.deepEqual(textsOf(surface), ['a']);
    show([
      <Widget key="1" focusable onFocus={fail('onFocus')} onBlur={fail('onBlur')} text="b" />,
      <Widget key="2" focused text="c" />,
    ]);
    assert.deepEqual(textsOf(surface), ['b', 'c']);
    assert.deepEqual(reported, ['onFocus', 'onBlur']);
    assert.deepEqual(errors, []);
  } finally {
    delete global.reportError;
  }
});
