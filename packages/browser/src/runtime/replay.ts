/** Dispatches again what `early.ts` has kept, in order, once every box around the target has its listeners. */
import { waitingAround } from './box.js';
import type { EarlyEvent, EarlyEvents } from './early.js';

/** `mount` hydrates a box at once and says when it is done, or has failed. */
export function replayEarlyEvents(early: EarlyEvents, mount: (box: HTMLElement) => Promise<boolean>): void {
  const last = new WeakMap<Element, Promise<void>>();
  early.take = (kept) => {
    const boxes = waitingAround(kept.target);
    const mounted = Promise.all(boxes.map(mount));
    const { box, event } = kept;
    if (event === undefined) return;
    // In the order of the user's hands within a box; one whose code is late does not hold up others.
    const before = last.get(box);
    last.set(
      box,
      mounted.then(() => before).then(() => dispatch(kept, event)),
    );
  };
  for (const kept of early.held.splice(0)) early.take(kept);
}

function dispatch({ target, box, path }: EarlyEvent, event: Event): void {
  let now: Element | undefined = target;
  if (!target.isConnected) {
    now = box;
    for (const index of path) now = now?.children[index];
    if (now?.localName !== target.localName) return;
  }
  const isReady = box.getAttribute('ready') === '';
  if (event.type === 'submit') {
    // A form whose component failed would reload the page and lose what was typed.
    const { submitter } = event as SubmitEvent;
    if (isReady) (now as HTMLFormElement).requestSubmit(submitter?.isConnected ? submitter : null);
    return;
  }
  if (event.type === 'click' && !isReady && now.closest('form:not([action])')) return;
  // An event has all that its constructor wants to know.
  const Again = event.constructor as new (type: string, init: Event) => Event;
  now.dispatchEvent(new Again(event.type, event));
}
