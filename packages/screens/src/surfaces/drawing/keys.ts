// Keys of the window.
import { PHASE } from '../../stream/events.js';

/** Keys that scroll or leave the page. */
const MOVING = new Set([
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  ' ',
  'PageUp',
  'PageDown',
  'Home',
  'End',
  'Tab',
  'Backspace',
  'GoBack',
  'BrowserBack',
]);

/** Tells of keys until the returned function is called. Keys of a text field, and those with Ctrl, Alt or Meta, are left alone. */
export function listenToKeys(tell: (phase: number, key: string) => void): () => void {
  const held = new Set<string>();
  const down = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isField(event.target)) return;
    if (MOVING.has(event.key)) event.preventDefault();
    held.add(event.key);
    tell(event.repeat ? PHASE.REPEATED : PHASE.PRESSED, event.key);
  };
  const up = (event: KeyboardEvent): void => {
    if (held.delete(event.key)) tell(PHASE.RELEASED, event.key);
  };
  /** A window that has lost the keyboard does not hear of the release. */
  const release = (): void => {
    for (const key of held) tell(PHASE.RELEASED, key);
    held.clear();
  };
  const hide = (): void => {
    if (document.visibilityState === 'hidden') release();
  };
  addEventListener('keydown', down);
  addEventListener('keyup', up);
  addEventListener('blur', release);
  document.addEventListener('visibilitychange', hide);
  return () => {
    removeEventListener('keydown', down);
    removeEventListener('keyup', up);
    removeEventListener('blur', release);
    document.removeEventListener('visibilitychange', hide);
  };
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
