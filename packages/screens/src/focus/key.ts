/** Event of a key, as the manager reads it. It goes to the widget with the focus, then to each one above it, until one has used it. */
export interface KeyEvent {
  /** Name as in the DOM's `KeyboardEvent.key`. */
  readonly key: string;
  /** 0 pressed, 1 repeated by the device, 2 released. */
  readonly phase: number;
  /** Number of the key, which grows by one. */
  readonly sequence: number;
  /** Milliseconds of the surface's clock. */
  readonly time: number;
  readonly defaultPrevented: boolean;
  /** Says that the key has been used: no widget above gets it, and the focus does not move. */
  preventDefault(): void;
}

export class KeyPress implements KeyEvent {
  readonly key: string;
  readonly phase: number;
  readonly sequence: number;
  readonly time: number;
  defaultPrevented = false;
  /** Called with each promise that a handler returns. */
  readonly onWork: ((work: PromiseLike<unknown>) => void) | undefined;

  constructor(
    key: string,
    phase: number,
    sequence: number,
    time: number,
    onWork?: (work: PromiseLike<unknown>) => void,
  ) {
    this.onWork = onWork;
    this.key = key;
    this.phase = phase;
    this.sequence = sequence;
    this.time = time;
  }

  preventDefault(): void {
    this.defaultPrevented = true;
  }

  /** Takes what a handler has returned. */
  returned(result: object): void {
    if (this.onWork !== undefined && 'then' in result && typeof result.then === 'function')
      this.onWork(result as PromiseLike<unknown>);
  }
}

/** Names that remote controls and keyboards give to the key that leads back. */
const BACK = new Set(['Back', 'BrowserBack', 'GoBack', 'Escape', 'Backspace', 'XF86Back']);

/** Whether the key leads back, whatever the device calls it. */
export const isBack = ({ key }: { readonly key: string }): boolean => BACK.has(key);
