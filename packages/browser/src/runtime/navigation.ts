/**
 * Navigation without a new document: the next page's boxes come as JSON, and those that differ are swapped. It goes by the browser's Navigation
 * API, which keeps history, scroll positions and aborts; browsers without it load documents. It must not know what a box is.
 */
import { type NextPage, fetchPage } from './next-page.js';
import { showHead, type Styles, stylesOf } from './head.js';
import { swapBoxes } from './swap.js';

export interface NavigateDetail {
  /** Address of the next page. */
  readonly url: string;
  readonly type: NavigationType;
}

export interface NavigatedDetail extends NavigateDetail {
  /** Address of the page before. */
  readonly from: string;
}

export interface SwapDetail {
  /** Address of the next page. */
  readonly url: string;
}

/** A page with its styles, on its way into the history. */
class Arrived {
  readonly page: NextPage;
  readonly styles: Styles;
  readonly from: string;
  readonly type: NavigationType;

  constructor(page: NextPage, styles: Styles, from: string, type: NavigationType) {
    this.page = page;
    this.styles = styles;
    this.from = from;
    this.type = type;
  }
}

declare global {
  /** A second copy of this code leaves the document to the first. */
  var __sluiceNavigates: boolean | undefined;
}

export function startNavigation(): void {
  // Firefox before 147 and Safari before 26.2 have none.
  const api = (globalThis as { readonly navigation?: Navigation }).navigation;
  if (api === undefined || globalThis.__sluiceNavigates) return;
  globalThis.__sluiceNavigates = true;
  new Navigator(api).start();
}

class Navigator {
  readonly #api: Navigation;
  /** Number of the page that is shown. */
  #shown = 0;
  /** Numbers of pages by the keys of their entries: entries of one page differ in fragments, or are the app's own. */
  readonly #pages = new Map<string, number>();
  /** Link that is followed, and not in the history yet. */
  #following: AbortController | undefined;
  /** Navigation whose page is not shown yet, though its address is. */
  #going: NavigateEvent | undefined;
  /** Address for which this document is left. */
  #leftFor = '';
  /** Data at the end of the page that is shown; a document's own is not among it. */
  #data: Iterable<Element> = [];

  constructor(api: Navigation) {
    this.#api = api;
  }

  start(): void {
    this.#note();
    this.#api.addEventListener('currententrychange', () => this.#note());
    this.#api.addEventListener('navigate', (event) => this.#hear(event));
  }

  #note(): void {
    const { currentEntry } = this.#api;
    if (currentEntry === null) return;
    if (this.#going === undefined) this.#pages.set(currentEntry.key, this.#shown);
    else this.#pages.delete(currentEntry.key);
  }

  #hear(event: NavigateEvent): void {
    const { destination, info, navigationType: type } = event;
    const { url } = destination;
    if (info instanceof Arrived) return this.#intercept(event, () => this.#show(event, info));
    if (url === this.#leftFor) return;
    const isOurs = this.#isOurs(event);
    if (isOurs || type === 'traverse' || !destination.sameDocument) this.#following?.abort();
    if (!isOurs) return;
    const from = location.href;
    // Measurements of a load belong to the loaded page.
    const isLeft = document.readyState !== 'complete' || !tell(url, type);
    // The browser would show this document for another entry of it.
    if (type === 'traverse') this.#intercept(event, () => (isLeft ? reload() : this.#traverse(event, from)));
    else if (!isLeft && event.cancelable) {
      // The address changes once the page is there, so that a document can be loaded in its place.
      event.preventDefault();
      void this.#follow(url, from, type);
    }
  }

  /** Whether the navigation leads to another page that may be shown in this document. */
  #isOurs({
    canIntercept,
    destination,
    downloadRequest,
    formData,
    hashChange,
    navigationType,
  }: NavigateEvent): boolean {
    if (!canIntercept || downloadRequest !== null || formData !== null || placeOfBoxes() === null)
      return false;
    if (navigationType === 'reload') return false;
    if (navigationType === 'traverse') return destination.sameDocument && !this.#isOfShown(destination.key);
    // In the same document are fragments and the app's own `pushState`. While a visitor goes back, a fragment is one of the page to come.
    return hashChange ? !this.#isOfShown(this.#api.currentEntry?.key ?? '') : !destination.sameDocument;
  }

  #isOfShown(key: string): boolean {
    return this.#pages.get(key) === this.#shown;
  }

  #intercept(event: NavigateEvent, handler: () => Promise<void>): void {
    this.#going = event;
    event.signal.addEventListener('abort', () => this.#end(event));
    event.intercept({
      // A field in a box that stays keeps the focus.
      focusReset: document.activeElement?.matches(FIELDS) ? 'manual' : 'after-transition',
      scroll: 'manual',
      handler,
    });
  }

  async #follow(url: string, from: string, type: NavigationType): Promise<void> {
    const abort = (this.#following = new AbortController());
    try {
      const arrived = await arrive(url, from, type, abort.signal);
      if (abort.signal.aborted) arrived.styles.discard();
      else this.#enter(arrived, type === 'replace' ? 'replace' : 'auto');
    } catch (error) {
      if (abort.signal.aborted) return;
      tellLoaded(url, error);
      this.#leftFor = url;
      if (type === 'replace') location.replace(url);
      else location.assign(url);
    }
  }

  async #traverse(event: NavigateEvent, from: string): Promise<void> {
    const { destination, signal } = event;
    try {
      const arrived = await arrive(destination.url, from, 'traverse', signal);
      if (signal.aborted) return arrived.styles.discard();
      if (arrived.page.url === destination.url) return await this.#show(event, arrived);
      this.#enter(arrived, 'replace');
    } catch (error) {
      if (signal.aborted) return;
      tellLoaded(destination.url, error);
      await reload();
    }
  }

  /** Puts a page into the history, and shows it then: addresses in it are relative to its own. */
  #enter(info: Arrived, history: NavigationHistoryBehavior): void {
    const { committed, finished } = this.#api.navigate(info.page.url, { history, info });
    for (const promise of [committed, finished]) promise?.catch(ignore);
  }

  async #show(event: NavigateEvent, { page, styles, from, type }: Arrived): Promise<void> {
    try {
      await inTransition(page, () => {
        if (event.signal.aborted) return styles.discard();
        showHead(page);
        styles.commit();
        this.#showData(page);
        swapBoxes(placeOfBoxes(), page.boxes);
        this.#shown += 1;
        event.scroll();
      });
    } catch (error) {
      // Half of it may be shown.
      tellLoaded(page.url, error);
      await reload();
    }
    if (event.signal.aborted) return;
    this.#end(event);
    this.#note();
    dispatch('sluice:navigated', { url: location.href, from, type } satisfies NavigatedDetail);
  }

  /** Other HTML at the end stays that of the document. */
  #showData({ url, end }: NextPage): void {
    for (const old of this.#data) old.remove();
    this.#data = end.querySelectorAll('script[type="application/json"]');
    document.body.append(...this.#data);
    dispatch('sluice:swap', { url } satisfies SwapDetail);
  }

  #end(event: NavigateEvent): void {
    if (this.#going === event) this.#going = undefined;
  }
}

async function arrive(
  url: string,
  from: string,
  type: NavigationType,
  signal: AbortSignal,
): Promise<Arrived> {
  const page = await fetchPage(url, signal);
  return new Arrived(page, await stylesOf(page, signal), from, type);
}

function tellLoaded(url: string, error: unknown): void {
  console.info(`[sluice] ${url} is loaded as a document`, error);
}

/** Promise that never resolves: nothing is done with this document any more. */
function reload(): Promise<never> {
  location.reload();
  return new Promise(() => undefined);
}

const FIELDS = 'input,textarea,select,[contenteditable]';

const placeOfBoxes = (): Element | null => document.querySelector('[data-sluice-boxes]');

/** Whether no listener of the page has prevented it. */
function tell(url: string, type: NavigationType): boolean {
  return dispatch('sluice:navigate', { url, type } satisfies NavigateDetail, true);
}

function dispatch(type: string, detail: object, cancelable = false): boolean {
  return document.dispatchEvent(new CustomEvent(type, { cancelable, detail }));
}

async function inTransition({ page }: NextPage, run: () => void): Promise<void> {
  const has = 'startViewTransition' in document && page.transitions === true;
  if (!has || matchMedia('(prefers-reduced-motion: reduce)').matches) return run();
  const { finished, ready, updateCallbackDone } = document.startViewTransition(run);
  // A transition that is skipped is no error: the page is there.
  for (const promise of [finished, ready]) promise.catch(ignore);
  await updateCallbackDone;
}

const ignore = (): void => undefined;

declare global {
  interface DocumentEventMap {
    'sluice:navigate': CustomEvent<NavigateDetail>;
    'sluice:swap': CustomEvent<SwapDetail>;
    'sluice:navigated': CustomEvent<NavigatedDetail>;
  }
}
