/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Runs a history on react-reconciler and on ours, and says where they differ. */
import * as React from 'react';
import { Side, children, type Later } from './app.ts';
import { Ours } from './ours.ts';
import type { History, Operation } from './specs.ts';
import { Stock } from './stock.ts';

/** Our errors and React's have other texts for the same. */
const texts: readonly (readonly [RegExp, string])[] = [
  [/Minified React error #185;.*|Maximum update depth exceeded.*/, 'too deep'],
  [/Minified React error #301;.*|Too many re-renders.*/, 'too many renders'],
];

function textOf(error: unknown): string {
  let { message } = error as Error;
  for (const [pattern, text] of texts) message = message.replace(pattern, text);
  return message;
}

class Run {
  readonly side = new Side();
  readonly renderer: Stock | Ours;
  private readonly app: History['app'];
  private readonly outer: boolean;

  constructor(Renderer: typeof Stock | typeof Ours, { app, outer, firstLane }: History) {
    this.app = app;
    this.outer = outer;
    const errors = {
      uncaught: (error: unknown) => this.side.note(`uncaught ${textOf(error)}`),
      caught: (error: unknown) => this.side.note(`caught ${textOf(error)}`),
    };
    this.renderer = new Renderer(errors, firstLane);
  }

  private inLane(lane: number, name: string, run: () => void): void {
    const start = this.side.starts.get(name);
    if (lane === 0 || (lane === 1 && !this.outer)) run();
    else if (lane === 1) this.renderer.discrete(run);
    else if (lane === 2 || start === undefined) React.startTransition(run);
    else start(run);
  }

  private apply(operation: Operation): void {
    const { side } = this;
    switch (operation.o) {
      case 'set': {
        const names = [...side.setters.keys()].sort();
        if (names.length === 0) return;
        const name = names[operation.which % names.length]!;
        const set = side.setters.get(name)!;
        const { value, relative } = operation;
        this.inLane(operation.lane, name, () => set(relative ? (n: number) => (n + value) % 4 : value));
        return;
      }
      case 'settle':
        (side.promises[operation.promise] as Later).settle(
          operation.fails ? new Error(`promise ${operation.promise}`) : operation.promise,
          operation.fails,
        );
        return;
      case 'store':
        side.setStore(operation.value);
        return;
      case 'root':
        this.inLane(operation.lane, '', () => this.show(operation.v));
        return;
      case 'empty':
        this.renderer.render(null);
    }
  }

  show(v: number): void {
    const app = children(this.side, this.app, v, v) as React.ReactNode;
    this.renderer.render(
      this.outer
        ? React.createElement(
            React.Suspense,
            { fallback: React.createElement('sluice-widget', { text: 'outer' }) },
            app,
          )
        : app,
    );
  }

  step(operations: readonly Operation[]): string {
    try {
      for (const operation of operations) this.apply(operation);
      this.renderer.flush();
    } catch (error) {
      this.side.note(`thrown ${textOf(error)}`);
      if (process.env['SLUICE_SCREENS_TRACE'] !== undefined) console.log(error);
    }
    return [this.renderer.show(), ...this.side.log.splice(0)].join('\n');
  }
}

/** Where the two differ; null if they do not. */
export function difference(history: History): string | null {
  const stock = new Run(Stock, history);
  const ours = new Run(Ours, history);
  const all: readonly (readonly Operation[])[] = [
    [{ o: 'root', v: 0, lane: 0 }],
    ...history.steps,
    [{ o: 'empty' }],
  ];
  for (const [index, operations] of all.entries()) {
    const expected = stock.step(operations);
    const actual = ours.step(operations);
    if (expected !== actual)
      return `step ${index} (${JSON.stringify(operations)}):\n--- react-reconciler\n${expected}\n--- ours\n${actual}`;
  }
  return null;
}
