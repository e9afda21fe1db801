/** Our renderer, behind the same methods as the stock one. */
import { startTransition } from 'react';
import { createRoot, type ScreenRoot } from '../../../src/index.ts';
import { FIRST_TRANSITION, SYNC, TRANSITIONS } from '../../../src/tree/lanes.ts';
import { setEventLane, transitionLane } from '../../../src/tree/schedule.ts';
import { Board } from '../support/board.ts';
import type { Errors } from './stock.ts';

export class Ours {
  readonly board = new Board();
  private readonly root: ScreenRoot;

  constructor({ uncaught, caught }: Errors, firstLane: number) {
    this.root = createRoot(this.board, { onUncaughtError: uncaught, onCaughtError: caught });
    // Transitions until the next one gets the lane.
    const last = firstLane === 0 ? TRANSITIONS & ~(TRANSITIONS >> 1) : FIRST_TRANSITION << (firstLane - 1);
    let lane = 0;
    while (lane !== last) {
      startTransition(() => {
        lane = transitionLane(null);
        this.render(null);
      });
      this.flush();
    }
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
