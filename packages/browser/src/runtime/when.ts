/** Times at which boxes are hydrated: each on its own, so that the page can be used between two. */

type Run = () => void;

/** `run` is called once, in a task of its own. `interaction` needs nothing here: `replay.ts` hurries such boxes. */
export function schedule(box: HTMLElement, on: string, run: Run): void {
  if (on === 'interaction') return;
  if (on === 'idle') whenIdle(run);
  else if (on === 'visible') whenVisible(box, run);
  else if (on.startsWith(MEDIA)) whenMedia(on.slice(MEDIA.length), run);
  else inTurn(run);
}

export const MEDIA = 'media ';

/** Runs when the query matches, now or later. A box is hydrated once, however often that is. */
function whenMedia(query: string, run: Run): void {
  const list = matchMedia(query);
  const look = (): void => {
    if (list.matches) inTurn(run);
  };
  list.addEventListener('change', look);
  look();
}

const waiting: Run[] = [];
const { port1, port2 } = new MessageChannel();
port1.addEventListener('message', () => waiting.shift()?.());
port1.start();

/** Messages are tasks without the 4 ms that nested timers wait, and input goes before them. */
function inTurn(run: Run): void {
  waiting.push(run);
  port2.postMessage(null);
}

const IDLE_TIMEOUT_MS = 2000;

function whenIdle(run: Run): void {
  // Safari has none.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(run, { timeout: IDLE_TIMEOUT_MS });
  else setTimeout(run, 200);
}

/** Part of the next screen that visitors scroll while the code comes. */
const MARGIN = '200px';

const runs = new Map<Element, Run>();
let observer: IntersectionObserver | undefined;

function whenVisible(box: HTMLElement, run: Run): void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) seen(target);
    },
    { rootMargin: MARGIN },
  );
  // Boxes and slots have no layout of their own. Where a box has no element either, what is around it stands for it.
  const elements = box.firstElementChild
    ? [...box.children]
    : [box.closest(':not(sluice-box,sluice-slot)') ?? box];
  let isDone = false;
  for (const element of elements) {
    const others = runs.get(element);
    runs.set(element, () => {
      others?.();
      if (!isDone) inTurn(run);
      isDone = true;
    });
    observer.observe(element);
  }
}

function seen(element: Element): void {
  observer?.unobserve(element);
  runs.get(element)?.();
  runs.delete(element);
}
