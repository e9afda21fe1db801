/** @jsxRuntime automatic @jsxImportSource react */
/** What a render on the server costs: handlers of promises, and widgets beyond the limit. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { type ReactElement, Suspense, use } from 'react';
import { Widget } from '../../src/index.ts';
import { Recorder } from '../../src/server/recorder.ts';
import { renderScreen, ScreenLimitError } from '../../src/server/index.ts';
import { parseBatch } from '../../src/stream/parse.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

const size = { width: 640, height: 360 };

/** Handlers that a slow promise gets while this many others settle one after the other. */
async function handlersOf(count: number): Promise<number> {
  let settle: (() => void) | undefined;
  const slow = new Promise<string>((resolve) => {
    settle = () => resolve('late');
  });
  const then = mock.method(slow, 'then');
  const resolves: ((text: string) => void)[] = [];
  const quick = Array.from({ length: count }, () => new Promise<string>((resolve) => resolves.push(resolve)));
  const Slow = (): ReactElement => <Widget text={use(slow)} />;
  const Quick = ({ at }: { readonly at: number }): ReactElement => {
    const text = use(quick[at] as Promise<string>);
    // The next one settles a turn later.
    setTimeout(() => (at + 1 < count ? resolves[at + 1]?.('next') : settle?.()), 1);
    return <Widget text={text} />;
  };
  resolves[0]?.('first');
  const { widgets, partial } = await renderScreen(
    <>
      <Suspense fallback={null}>
        <Slow />
      </Suspense>
      {quick.map((_, at) => (
        <Suspense key={at} fallback={null}>
          <Quick at={at} />
        </Suspense>
      ))}
    </>,
    size,
  );
  assert.equal(widgets.length, count + 1);
  assert.equal(partial, undefined);
  return then.mock.callCount();
}

void test('a promise gets no further handler each time that another one settles', async () => {
  assert.equal(await handlersOf(30), await handlersOf(3));
});

void test('a batch of more widgets than a screen may have is neither kept nor laid out', () => {
  const layout = new HeadlessSurface(size);
  const recorder = new Recorder(size, 3, layout);
  const commit = (text: string): void => {
    const { words, length, strings } = parseBatch(text);
    recorder.commit(words, length, strings, 0);
  };
  commit(
    'define 1 { number width 1; string text "a" }\ncreate 1\nplace 0 1 0\ncreate 2\nplace 0 2 0\ncreate 3\nplace 0 3 0',
  );
  assert.throws(() => commit([4, 5, 6, 7].map((id) => `create ${id}`).join('\n')), ScreenLimitError);
  assert.deepEqual([recorder.picture.parts.size, layout.widgets], [3, 3]);
  // Others may take their places.
  commit('create 4\nplace 0 4 0\ncreate 5\nplace 0 5 0\ncreate 6\nplace 0 6 0\nremove 1\nremove 2\nremove 3');
  assert.deepEqual([recorder.isTooLarge, layout.widgets], [false, 3]);
});
