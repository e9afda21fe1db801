/** @jsxRuntime automatic @jsxImportSource react */
// Numbers of widgets: events about a widget that is gone reach no other one that has its number.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as React from 'react';
import { createRoot, Widget } from '../../src/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

void test('an event that a handler before it has made stale reaches no new widget', () => {
  const log: string[] = [];
  const surface = new HeadlessSurface({ width: 100, height: 100 });
  const root = createRoot(surface);
  const App = (): React.ReactNode => {
    const [step, setStep] = React.useState(0);
    React.useLayoutEffect(() => {
      if (step === 1) setStep(2);
    }, [step]);
    return [
      <Widget key="first" image="a" onImage={() => setStep(1)} />,
      step === 0 && <Widget key="old" image="b" onImage={() => log.push('old')} />,
      step === 2 && <Widget key="new" onImage={() => log.push('new')} />,
    ];
  };
  root.render(<App />);
  root.flush();
  surface.advance(16);
  surface.advance(16);
  assert.equal(surface.widgets, 2);
  assert.deepEqual(log, []);
  // After the delivery the number is free.
  root.render([<Widget key="x" />, <Widget key="y" />, <Widget key="z" text="z" />]);
  root.flush();
  root.render([<Widget key="1" />, <Widget key="2" text="2" />]);
  root.flush();
  assert.match(surface.tree(), /^[1-6] .*\n[1-6] .*text="2"\n$/);
});

void test('an event that waits at the surface when its widget is removed is dropped', () => {
  const log: string[] = [];
  const surface = new HeadlessSurface({ width: 100, height: 100 });
  const root = createRoot(surface);
  const show = (element: React.ReactNode): void => {
    root.render(element);
    root.flush();
  };
  const box = (name: string, height: number): React.ReactElement => (
    <Widget key={name} style={{ height }} onLayout={(rect) => log.push(`${name} ${rect.y} ${rect.height}`)} />
  );
  show([box('kept', 5), box('old', 10)]);
  // Lays out, and notes events for the next frame.
  assert.equal(surface.rect(2)?.height, 10);
  show([box('kept', 5)]);
  show([box('kept', 5), box('new', 20)]);
  assert.equal(surface.rect(2)?.height, 20);
  surface.advance(16);
  assert.deepEqual(log, ['kept 0 5', 'new 5 20']);
});
