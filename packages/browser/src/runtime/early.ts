/**
 * Keeps what users do to components whose code is not there yet. It runs before everything else, as an inline script, so it
 * may use nothing from outside its one function. `replay.ts` takes over what it has kept.
 */

export interface EarlyEvent {
  readonly target: Element;
  /** The innermost box that waits. */
  readonly box: HTMLElement;
  /** Dispatched again once the boxes around the target are ready; undefined for events that only hurry them. */
  readonly event?: Event;
  /** Child indexes from the box to the target, for when hydration replaces the target. */
  readonly path: readonly number[];
}

export interface EarlyEvents {
  readonly held: EarlyEvent[];
  /** Called instead of keeping, once the runtime is there. */
  take?: (early: EarlyEvent) => void;
}

declare global {
  var __sluice: EarlyEvents | undefined;
}

/**
 * Holds events until the runtime is there. The browser handles default actions that work without script: links, forms with an
 * action, fields. All others wait, and happen when the event is dispatched again. `data-sluice-wait` on an element or around it
 * has its default action wait.
 *
 * `runtime` is the address of the script that takes over. If it does not come, perhaps because a deploy has removed it, it is
 * asked for once more. After that the page stays what it is without scripts.
 */
export function holdEarlyEvents(runtime?: string): EarlyEvents {
  if (globalThis.__sluice) return globalThis.__sluice;
  const HELD_MAX = 200;
  const WAITING = 'sluice-box:is([on],[hole]):not([ready],[hole=remote])';
  const early: EarlyEvents = { held: [] };
  globalThis.__sluice = early;

  /** Fate of an event: left alone, withheld from listeners (fields' values are read instead), or kept. */
  type Fate = 'leave' | 'withhold' | 'keep' | 'keep-default';

  const submits = (form: Element | null, submitter: Element | null): Fate => {
    const action = submitter?.getAttribute('formaction') ?? form?.getAttribute('action');
    // React writes actions that are functions as `javascript:` addresses.
    return action === null || action === undefined || /^\s*javascript:/i.test(action)
      ? 'keep-default'
      : 'leave';
  };

  const clicks = (target: Element, event: MouseEvent): Fate => {
    const link = target.closest('a[href],area[href]');
    if (link) {
      const href = link.getAttribute('href') ?? '';
      const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
      return isElsewhere || !/^(#|\s*javascript:|$)/i.test(href) ? 'leave' : 'keep-default';
    }
    const field = target.closest<HTMLInputElement>('button,input,select,textarea,label,summary');
    if (!field) return 'keep';
    // The label's own control gets a click as well.
    if (/^(checkbox|radio)$/.test(field.type) || field.localName === 'label') return 'withhold';
    if (field.localName === 'summary') return 'leave';
    if (field.form && /^(submit|image)$/.test(field.type)) return submits(field.form, field);
    return field.type === 'reset' ? 'keep-default' : 'keep';
  };

  const fateOf = (target: Element, event: Event): Fate => {
    const { type } = event;
    if (/^(pointer|focus)/.test(type)) return 'leave';
    if (type === 'input' || type === 'change') return 'withhold';
    if (type === 'keydown') return 'keep';
    if (target.closest('[data-sluice-wait]')) return 'keep-default';
    return type === 'click'
      ? clicks(target, event as MouseEvent)
      : submits(target, (event as SubmitEvent).submitter);
  };

  const listener = (event: Event): void => {
    const target = event.target;
    const box = target instanceof Element && target.closest<HTMLElement>(WAITING);
    if (!box) return;
    const fate = fateOf(target, event);
    // Listeners further out get the second event alone.
    if (fate !== 'leave') event.stopImmediatePropagation();
    if (fate === 'keep-default') event.preventDefault();
    const path: number[] = [];
    for (let at: Element = target; at !== box && at.parentElement; at = at.parentElement)
      path.unshift([...at.parentElement.children].indexOf(at));
    const kept: EarlyEvent = { target, box, path, ...(fate.startsWith('keep') && { event }) };
    if (early.take) early.take(kept);
    // A pointer that moves about must not take the place of clicks.
    else if (early.held.length < HELD_MAX && (kept.event || !early.held.some((other) => other.box === box)))
      early.held.push(kept);
  };
  const types = 'click submit input change keydown pointerover pointerdown focusin'.split(' ');
  for (const type of types) document.addEventListener(type, listener, true);

  const onError = ({ target }: Event): void => {
    if (!runtime || !(target instanceof HTMLScriptElement)) return;
    const address = target.getAttribute('src');
    if (address === runtime) {
      const { type, nonce } = target;
      document.head.append(
        Object.assign(document.createElement('script'), { type, nonce, src: `${runtime}?retry` }),
      );
    } else if (address === `${runtime}?retry`) {
      for (const type of types) document.removeEventListener(type, listener, true);
      const detail = { component: '', reason: 'code', error: address };
      document.dispatchEvent(new CustomEvent('sluice:failed', { detail }));
    }
  };
  // Events of scripts do not bubble.
  addEventListener('error', onError, true);
  return early;
}
