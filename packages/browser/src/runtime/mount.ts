/** A box's way from HTML to a component that answers: code, props, adapter. It must not know what asked for it. */
import type { BrowserAdapter, ComponentModule, Mounted } from '../adapter.js';
import { attribute, BOX, codeOf, isHole } from './box.js';
import { type FailureReason, tellFailed, tellMismatch, tellReady } from './events.js';
import { keepValues } from './fields.js';
import { type Source, load } from './load.js';
import { pageData } from './page.js';
import { type BoxData, dataOf } from './props.js';
import { isKept, slotsOf } from './slots.js';

/** Components by name, with `@version` or `@arm` where there is one. */
export type Registry = Readonly<Record<string, Source<ComponentModule>>>;

export interface Code {
  readonly adapters: Readonly<Record<string, Source<{ default: BrowserAdapter }>>>;
  /** All components of the build; asked for only where the page does not name the code of its own. */
  readonly registry: Source<{ default: Registry }>;
}

class Failure extends Error {
  declare readonly message: FailureReason;

  constructor(reason: FailureReason, cause: unknown) {
    super(reason, { cause });
  }
}

const failWith =
  (reason: FailureReason) =>
  (cause: unknown): never => {
    throw cause instanceof Failure ? cause : new Failure(reason, cause);
  };

/** A component that is there. */
interface Shown {
  readonly name: string;
  readonly box: Element;
  readonly mounted: Mounted;
}

const shown = new Set<Shown>();

export function createMount(code: Code): (box: HTMLElement) => Promise<boolean> {
  const mounts = new WeakMap<Element, Promise<boolean>>();
  return (box) => {
    let mounting = mounts.get(box);
    if (!mounting) {
      // A component is there before those in its slots.
      const around = box.parentElement?.closest(BOX);
      mounting = mountBox(box, code, around ? mounts.get(around) : undefined);
      mounts.set(box, mounting);
    }
    return mounting;
  };
}

/** Resolves to whether the component is there. Never rejects. */
async function mountBox(
  box: HTMLElement,
  code: Code,
  around: Promise<boolean> | undefined,
): Promise<boolean> {
  const name = codeOf(box);
  // Something else has come in its place.
  if (!box.isConnected) return false;
  try {
    const [adapter, module, data] = await Promise.all([
      adapterOf(box, code),
      moduleOf(name, code),
      dataOf(box).catch(failWith('props')),
      around && Promise.race([around, new Promise((late) => setTimeout(late, AROUND_MS))]),
    ]);
    if (!box.isConnected) return false;
    await take(box, name, adapter, module, data).catch(failWith('render'));
    tellReady(box, name);
    return true;
  } catch (error) {
    // What the server sent stays.
    box.setAttribute('ready', 'failed');
    const { message, cause } = error as Failure;
    tellFailed(box, name, message, cause);
    return false;
  }
}

/** Longest wait of a component for the one around it, whose code may be late. */
const AROUND_MS = 1_000;

async function adapterOf(box: Element, { adapters }: Code): Promise<BrowserAdapter> {
  const name = attribute(box, 'a');
  const source = ownOf(adapters, name);
  if (source === undefined) throw new Failure('unknown', new Error(`no adapter ${name}`));
  return (await load(source).catch(failWith('code'))).default;
}

async function moduleOf(name: string, { registry }: Code): Promise<ComponentModule> {
  const own = ownOf(pageData().code ?? {}, name);
  const source = own ?? ownOf((await load(registry).catch(failWith('code'))).default, name);
  if (source === undefined) throw new Failure('unknown', new Error(`no component ${name}`));
  return load<ComponentModule>(source).catch(failWith('code'));
}

/** Names come from the document, and may be those of what every object has. */
function ownOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

async function take(
  box: HTMLElement,
  name: string,
  adapter: BrowserAdapter,
  module: ComponentModule,
  { props, html }: BoxData,
): Promise<void> {
  if (html !== undefined) box.innerHTML = html;
  const hydrate = html !== undefined || !isHole(box);
  const before = [...box.childNodes];
  const slots = slotsOf(box);
  const giveValues = keepValues(box);
  try {
    const mounted = await adapter.mount({
      view: module['default'],
      module,
      props,
      box,
      id: attribute(box, 'i'),
      slots,
      hydrate,
      onMismatch: (error) => tellMismatch(box, name, error),
      onError: (error) => tellFailed(box, name, 'render', error),
    });
    shown.add({ name, box, mounted });
    // From here on events are the component's, also those of the values that its fields get back.
    box.setAttribute('ready', '');
  } catch (error) {
    slots.restore();
    box.replaceChildren(...before);
    throw error;
  } finally {
    giveValues();
  }
}

/** Shows a changed module in every box of the component. */
export function update(name: string, module: ComponentModule): void {
  for (const { name: own, mounted } of shown) if (own === name) mounted.update(module, module['default']);
}

/** Ends components whose boxes have left. One that was moved is there again by the time that this is called. */
export function unmountLeft(): void {
  for (const each of shown) {
    // What one throws is nothing to the others.
    if (!isKept(each.box) && shown.delete(each)) queueMicrotask(() => each.mounted.unmount?.());
  }
}
