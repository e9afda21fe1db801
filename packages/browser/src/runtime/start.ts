/** The runtime's beginning: finds boxes, also those that are still on their way, and has each hydrated in its time. */
import { WAITING, attribute, isHole, isWhole } from './box.js';
import { counts, ready } from './events.js';
import type { EarlyEvents, holdEarlyEvents } from './early.js';
import { fillBoxes } from './fill.js';
import { type Source, load } from './load.js';
import { type Code, createMount, unmountLeft } from './mount.js';
import { pageData } from './page.js';
import { replayEarlyEvents } from './replay.js';
import { MEDIA, schedule } from './when.js';
import type { Known } from '../vitals/measure.js';

export interface StartOptions extends Code {
  /** Share of page views that are measured, 0 to 1. */
  readonly vitalsShare: number;
  readonly vitals: Source<{ measure: (known: Known) => void }>;
  /** Source for pages without the inline script. */
  readonly early: Source<{ holdEarlyEvents: typeof holdEarlyEvents }>;
}

export function start({ vitalsShare, vitals, early, ...code }: StartOptions): void {
  const mount = createMount(code);
  const look = lookout(mount);
  let isLoaded = false;
  const observer = new MutationObserver((records) => {
    // Libraries that swap parts of a page, such as htmx and Turbo, take boxes away and bring others.
    unmountLeft();
    if (!isLoaded || (records.some(adds) && document.querySelector(WAITING))) look.now();
  });
  observer.observe(document, { childList: true, subtree: true });
  document.addEventListener('DOMContentLoaded', look.now);
  afterLoad(() => {
    look.now();
    isLoaded = true;
    // Beacons are of the page that was loaded, whatever pages come in its place.
    const page = pageData();
    // A page without its vitals is no worse for its user.
    if (Math.random() < vitalsShare && page.vitals)
      load(vitals).then(({ measure }) => measure({ counts, ready, pageData: () => page }), ignore);
  });
  look.now();
  const replay = (held: EarlyEvents): void =>
    replayEarlyEvents(held, (box) => look.whole(box).then(() => mount(box)));
  if (globalThis.__sluice) replay(globalThis.__sluice);
  else load(early).then(({ holdEarlyEvents }) => replay(holdEarlyEvents()), ignore);
}

/** One look at the document for all of them: a list may bring a thousand rows at once. */
const adds = ({ addedNodes }: MutationRecord): boolean => addedNodes.length > 0;

interface Lookout {
  now: () => void;
  /** Resolves when all of a box has arrived. */
  whole: (box: Element) => Promise<void>;
}

function lookout(mount: (box: HTMLElement) => Promise<boolean>): Lookout {
  const scheduled = new WeakSet<Element>();
  let waiting: [Element, () => void][] = [];
  return {
    now() {
      fillBoxes();
      for (const [box, resolve] of waiting) if (isWhole(box)) resolve();
      waiting = waiting.filter(([box]) => !isWhole(box));
      for (const box of document.querySelectorAll<HTMLElement>(WAITING)) {
        if (scheduled.has(box) || !isWhole(box)) continue;
        scheduled.add(box);
        schedule(box, whenFor(box), () => void mount(box));
      }
    },
    whole: (box) =>
      isWhole(box) ? Promise.resolve() : new Promise((resolve) => waiting.push([box, resolve])),
  };
}

/** A hole in place of HTML that was to be there does not wait for a hand; one that was meant may. */
function whenFor(box: Element): string {
  const on = attribute(box, 'on');
  const isMissing = isHole(box) && attribute(box, 'hole') !== 'client';
  return isMissing && (on === 'interaction' || on.startsWith(MEDIA)) ? 'visible' : on;
}

function afterLoad(run: () => void): void {
  if (document.readyState === 'complete') run();
  else addEventListener('load', run);
}

const ignore = (): void => undefined;
