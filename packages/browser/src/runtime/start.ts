/** The runtime's beginning: finds boxes, also those that are still on their way, and has each hydrated in its time. */
import { WAITING, attribute, isWhole } from './box.js';
import { counts } from './events.js';
import type { EarlyEvents, holdEarlyEvents } from './early.js';
import { fillBoxes } from './fill.js';
import { type Source, load } from './load.js';
import { type Code, createMount } from './mount.js';
import { pageData } from './page.js';
import { replayEarlyEvents } from './replay.js';
import { schedule } from './when.js';
import type { Known } from '../vitals/measure.js';

export interface StartOptions extends Code {
  /** Share of page views that are measured, 0 to 1. */
  readonly vitalsShare: number;
  readonly vitals: Source<{ measure: (known: Known) => void }>;
  /** For pages without the inline script. */
  readonly early: Source<{ holdEarlyEvents: typeof holdEarlyEvents }>;
}

export function start({ vitalsShare, vitals, early, ...code }: StartOptions): void {
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
    // A page without its vitals is no worse for its user.
    if (Math.random() < vitalsShare && pageData().vitals)
      load(vitals).then(({ measure }) => measure({ counts, pageData }), ignore);
  });
  look();
  const replay = (held: EarlyEvents): void => replayEarlyEvents(held, mount);
  if (globalThis.__sluice) replay(globalThis.__sluice);
  else load(early).then(({ holdEarlyEvents }) => replay(holdEarlyEvents()), ignore);
}

const ignore = (): void => undefined;
