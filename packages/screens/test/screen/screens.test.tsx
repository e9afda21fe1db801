/** @jsxRuntime automatic @jsxImportSource react */
// Screens on a surface without pictures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReactNode, useEffect, useState } from 'react';
import {
  Screen,
  Screens,
  type ScreensProps,
  Widget,
  createRoot,
  measures,
  reportMeasures,
  useShown,
} from '../../src/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

interface Log {
  readonly lines: string[];
  renders: number;
}

function Page({ name, log }: { readonly name: string; readonly log: Log }): ReactNode {
  const isShown = useShown();
  log.renders += 1;
  useEffect(() => {
    log.lines.push(`+${name}`);
    return () => {
      log.lines.push(`-${name}`);
    };
  }, [name, log]);
  useEffect(() => {
    log.lines.push(`${name} ${isShown ? 'shown' : 'hidden'}`);
  }, [name, log, isShown]);
  return (
    <Widget focusArea={{ direction: 'row' }}>
      <Widget focusable text={`${name} 1`} />
      <Widget focusable text={`${name} 2`} />
    </Widget>
  );
}

interface Shown {
  readonly surface: HeadlessSurface;
  readonly root: ReturnType<typeof createRoot>;
  readonly log: Log;
  /** Shows a screen, and lets all effects run. */
  readonly go: (current: string, props?: Partial<ScreensProps>) => void;
  readonly settle: () => void;
}

function opened(fixed: Partial<ScreensProps> = {}, preload: readonly string[] = []): Shown {
  const surface = new HeadlessSurface({ width: 600, height: 400 });
  const root = createRoot(surface);
  const log: Log = { lines: [], renders: 0 };
  const settle = (): void => {
    root.flush();
    surface.advance(0);
    root.flush();
  };
  const go = (current: string, props: Partial<ScreensProps> = {}): void => {
    root.render(
      <Screens current={current} {...fixed} {...props}>
        {['a', 'b', 'c', 'd'].map((name) => (
          <Screen key={name} name={name} preload={preload.includes(name)}>
            <Page name={name} log={log} />
          </Screen>
        ))}
      </Screens>,
    );
    settle();
  };
  return { surface, root, log, go, settle };
}

const focused = (surface: HeadlessSurface): string | undefined =>
  /\*\d+ .*text="(.*?)"/.exec(surface.tree())?.[1];
const texts = (surface: HeadlessSurface): string[] =>
  [...surface.tree().matchAll(/text="(.*?)"/g)].map(([, text = '']) => text);

test('the screen that is shown has the focus, and one that comes back has it where it was', () => {
  const { surface, log, go } = opened();
  go('a');
  surface.press('ArrowRight');
  go('b');
  assert.equal(focused(surface), 'b 1');
  assert.deepEqual(texts(surface), ['b 1', 'b 2']);
  const { renders } = log;
  go('b');
  assert.equal(log.renders - renders, 1, 'the hidden one does not render');
  go('a');
  assert.equal(focused(surface), 'a 2');
  assert.deepEqual(log.lines, ['+a', 'a shown', 'a hidden', '+b', 'b shown', 'a shown', 'b hidden']);
});

test('screens are mounted ahead one by one when idle, and are there in one batch', () => {
  const { surface, log, go, settle } = opened({ max: 3 }, ['b', 'c', 'd']);
  go('a');
  settle();
  settle();
  settle();
  assert.deepEqual(
    log.lines.filter((line) => line.startsWith('+')),
    ['+a', '+b', '+c'],
    'no more than max',
  );
  assert.ok(log.lines.includes('b hidden'));
  const before = surface.commands;
  go('c');
  assert.ok(surface.commands - before <= 5, `${surface.commands - before} commands`);
  assert.equal(focused(surface), 'c 1');
});

test('nothing is mounted ahead while frames leave too little time', () => {
  const { log, go, settle } = opened({ budget: 11 }, ['b']);
  go('a');
  for (let frame = 0; frame < 5; frame += 1) settle();
  assert.deepEqual(log.lines, ['+a', 'a shown']);
  go('a', { budget: 10 });
  settle();
  settle();
  assert.ok(log.lines.includes('+b'));
});

test('the screen that was shown longest ago goes first, hidden ones go when memory is low', () => {
  const { surface, log, go, settle } = opened({ max: 3 }, ['d']);
  const unmounted = (): string[] => log.lines.splice(0).filter((line) => line.startsWith('-'));
  for (const name of ['a', 'b', 'c', 'd']) go(name);
  assert.deepEqual(unmounted(), ['-d', '-a'], 'one that has never been shown before the others');
  surface.memory(1);
  settle();
  assert.deepEqual(unmounted(), ['-b']);
  surface.memory(2);
  settle();
  assert.deepEqual(unmounted(), ['-c']);
  go('c');
  settle();
  surface.memory(2);
  for (let frame = 0; frame < 4; frame += 1) settle();
  assert.deepEqual(unmounted(), ['-d'], 'and nothing is mounted ahead until there is enough');
  surface.memory(0);
  for (let frame = 0; frame < 4; frame += 1) settle();
  assert.ok(log.lines.includes('+d'));
});

test('a transition shows both screens, gives keys to the new one alone, and hides the old one at its end', () => {
  for (const transition of ['fade', 'slide'] as const) {
    const { surface, go, settle } = opened({ transition, duration: 100 });
    go('b');
    go('a');
    surface.advance(50);
    assert.equal(texts(surface).length, 4, transition);
    assert.equal(focused(surface), 'a 1');
    surface.press('ArrowDown');
    surface.press('ArrowUp');
    assert.equal(focused(surface), 'a 1');
    const moving = transition === 'fade' ? /opacity=0\.\d+/g : / x=-?\d+/g;
    assert.equal(surface.tree().match(moving)?.length, 2);
    if (transition === 'slide')
      assert.ok(/ x=-\d+(.|\n)*a 1/.test(surface.tree()), 'the one before comes from the left');
    surface.advance(100);
    settle();
    assert.deepEqual(texts(surface), ['a 1', 'a 2']);
    assert.ok(!/opacity|x=/.test(surface.tree()), surface.tree());
  }
});

test("a key that leads back is the app's, once for a press", () => {
  function App(): ReactNode {
    const [current, setCurrent] = useState('b');
    return (
      <Screens current={current} onBack={() => setCurrent('a')}>
        <Screen name="a">
          <Widget focusable text="a" />
        </Screen>
        <Screen name="b">
          <Widget focusable text="b" />
        </Screen>
      </Screens>
    );
  }
  const surface = new HeadlessSurface();
  const root = createRoot(surface);
  root.render(<App />);
  root.flush();
  surface.press('GoBack', 2);
  assert.equal(focused(surface), 'a');
});

test('each screen is a view of the measures', () => {
  const { root, surface, go } = opened();
  const sent: string[] = [];
  reportMeasures(root, {
    url: '/',
    send: (_url, body) => sent.push((JSON.parse(body) as { page: string }).page),
  });
  go('a');
  surface.press('ArrowRight');
  surface.advance(16);
  assert.equal(measures(root).key_to_frame.count, 1);
  assert.equal(measures(root).widgets, surface.widgets);
  go('b');
  assert.deepEqual(sent, ['a']);
  assert.equal(measures(root).key_to_frame.count, 0);
});

test('a name without a screen, and other children, are errors', () => {
  const errors: unknown[] = [];
  const root = createRoot(new HeadlessSurface(), { onUncaughtError: (error) => errors.push(error) });
  root.render(<Screens current="x">{null}</Screens>);
  root.flush();
  root.render(
    <Screens current="x">
      <Widget />
    </Screens>,
  );
  root.flush();
  root.render(<Screen name="x" />);
  root.flush();
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    [
      '<Screens> has no <Screen name="x">',
      '<Screens> has children other than <Screen>',
      '<Screen> must be a direct child of <Screens>',
    ],
  );
});
