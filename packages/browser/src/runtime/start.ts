/** The runtime's beginning: finds boxes, also those that are still on their way, and has each hydrated in its time. */
import { WAITING, attribute, isWhole } from './box.js';
import { fillBoxes } from './fill.js';
import { type Code, createMount } from './mount.js';
import { pageData } from './page.js';
import { replayEarlyEvents } from './replay.js';
import { schedule } from './when.js';

export interface StartOptions extends Code {
  /** Share of page views that are measured, 0 to 1. */
  readonly vitalsShare: number;
  readonly vitals: () => Promise<{ measure: () => void }>;
}

export function start({ vitalsShare, vitals, ...code }: StartOptions): void {
  const mount = createMount(code);
  const scheduled = new WeakSet<Element>();
  const look = (): void => {
    fillBoxes();
    for (const box of document.querySelectorAll<HTMLElement>(WAITING)) {
      if (scheduled.has(box) || !isWhole(box)) continue;
      scheduled.add(box);
      schedule(box, attribute(box, 'on'), () => void mount(box));
    }
  };

  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true });
  addEventListener('load', () => {
    look();
    observer.disconnect();
    if (Math.random() < vitalsShare && pageData().vitals) void vitals().then(({ measure }) => measure(), () => undefined);
  });
  look();
  // Events that came before a box was whole are kept until it is.
  replayEarlyEvents(mount);
}
