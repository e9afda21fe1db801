/** @jsxRuntime automatic @jsxImportSource react */
/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
// Visitors of one server: what the app does for one holds no other back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as React from 'react';
import type { ScreenJson } from '../../src/adopt/json.ts';
import { createRoot, Widget } from '../../src/index.ts';
import { afterKey } from '../../src/server/keys.ts';
import { Board } from '../tree/support/board.ts';

const never = new Promise<void>(() => undefined);
const options = { width: 100, height: 100, timeoutMs: 200 };
const enter = { focus: 1, key: 'Enter' };

type Handler = (set: (count: number) => void, start: React.TransitionStartFunction) => void;

function App({ onEnter }: { onEnter: Handler }): React.ReactNode {
  const [count, setCount] = React.useState(0);
  const [isPending, start] = React.useTransition();
  const onKey = (): boolean => {
    onEnter(setCount, start);
    return true;
  };
  return <Widget focused text={`${count}${isPending ? ' pending' : ''}`} onKey={onKey} />;
}

const textOf = ({ widgets, partial }: ScreenJson): string =>
  `${String(widgets[0]?.values?.['text'])}${partial === true ? ', partial' : ''}`;

const press = async (onEnter: Handler): Promise<string> =>
  textOf(await afterKey(<App onEnter={onEnter} />, enter, options));

void test('a transition of one visitor that never ends holds back no other', async () => {
  const hanging: Handler[] = [
    () => React.startTransition(() => never),
    (set) =>
      React.startTransition(async () => {
        set(1);
        await never;
      }),
    (_set, start) => start(() => never),
  ];
  for (const hang of hanging) {
    const hung = press(hang);
    // While the other one waits, and after it has gone.
    for (const when of ['while', 'after']) {
      if (when === 'after') await hung;
      assert.equal(await press((set) => React.startTransition(() => set(2))), '2');
      assert.equal(await press((set, start) => start(() => set(3))), '3');
    }
  }
  const board = new Board();
  const root = createRoot(board);
  React.startTransition(() => root.render(<Widget text="device" />));
  root.flush();
  assert.equal(board.show(), '(device())');
});

void test('a transition of a visitor waits for their own actions, and shows all at their end', async () => {
  let end: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const mine = press((set) => {
    React.startTransition(async () => {
      set(1);
      await ended;
      React.startTransition(() => set(5));
    });
  });
  assert.equal(await press((set) => React.startTransition(() => set(2))), '2');
  end!();
  assert.equal(await mine, '5');
});

void test('ids of a screen do not depend on the visitors before', async () => {
  const Id = (): React.ReactNode => <Widget focused text={React.useId()} />;
  const first = textOf(await afterKey(<Id />, enter, options));
  assert.equal(textOf(await afterKey(<Id />, enter, options)), first);
});
