/** Our renderer, behind the same methods as the stock one. */
import { createRoot, type ScreenRoot } from '../../../src/index.ts';
import { SYNC } from '../../../src/tree/lanes.ts';
import { setEventLane } from '../../../src/tree/schedule.ts';
import { Board } from '../support/board.ts';
import type { Errors } from './stock.ts';

export class Ours {
  readonly board = new Board();
  private readonly root: ScreenRoot;

  constructor({ uncaught, caught }: Errors) {
    this.root = createRoot(this.board, { onUncaughtError: uncaught, onCaughtError: caught });
  }

  render(element: unknown): void {
    this.root.render(element as never);
  }

  discrete(run: () => void): void {
    // Without the flush at the end of a key event, which react-reconciler leaves to a microtask.
    const before = setEventLane(SYNC);
    try {
      run();
    } finally {
      setEventLane(before);
    }
  }

  flush(): void {
    this.board.time += 10_000;
    this.root.flush();
  }

  show(): string {
    return this.board.show();
  }
}
