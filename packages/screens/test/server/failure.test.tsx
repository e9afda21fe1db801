/** @jsxRuntime automatic @jsxImportSource react */
/** A screen that fails in its commit: its visitor gets the error, and no other visitor gets anything of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReactElement, Suspense, use, useState } from 'react';
import { Widget } from '../../src/index.ts';
import { renderScreen } from '../../src/server/index.ts';
import { afterKey } from '../../src/server/keys.ts';

const options = { width: 10, height: 10 };
const hostile = {
  get width(): number {
    throw new Error('of a getter');
  },
};

function Failing(): ReactElement {
  const [on, setOn] = useState(false);
  return (
    <Widget>
      <Widget focused onKey={() => setOn(true)} {...(on && { style: hostile })} />
      <Widget text={on ? 'secret of one visitor' : 'a'} />
    </Widget>
  );
}

function Data({ from }: { from: Promise<string> }): ReactElement {
  return <Widget text={use(from)} />;
}

function Waiting({ from }: { from: Promise<string> }): ReactElement {
  return (
    <Widget>
      <Widget text="b1" />
      <Widget text="b2" />
      <Suspense fallback={<Widget text="wait" />}>
        <Data from={from} />
      </Suspense>
    </Widget>
  );
}

void test('nothing of a commit that fails comes into the screens of other visitors', async () => {
  let arrive!: (text: string) => void;
  const data = new Promise<string>((resolve) => {
    arrive = resolve;
  });
  const waiting = renderScreen(<Waiting from={data} />, options);
  await new Promise(setImmediate);
  await assert.rejects(
    afterKey(<Failing />, { focus: 2, key: 'Enter' }, { ...options, timeoutMs: 5_000 }),
    /of a getter/,
  );
  arrive('data');
  const screens = [await waiting];
  for (let i = 0; i < 4; i++) screens.push(await renderScreen(<Waiting from={data} />, options));
  for (const { widgets } of screens) assert.deepEqual(widgets, screens[4]?.widgets);
  assert.doesNotMatch(JSON.stringify(screens), /secret/);
  assert.match(JSON.stringify(screens[0]), /b1.*b2.*data/);
});

void test('handlers of the focus do not run where effects do not', async () => {
  let calls = 0;
  await renderScreen(<Widget focusable onFocus={() => calls++} />, options);
  assert.equal(calls, 0);
});
