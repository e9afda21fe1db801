/**
 * Functions that return HTML. Their modules may export `hydrate(box, props)`, which gets the box once its HTML is there. It may return a
 * function that is called when the box has left the document, or a promise of one.
 */
import type { BrowserAdapter, ComponentModule, Mounted, MountRequest } from '../adapter.js';

const SLOT_TAG = 'sluice-slot';

type View = (props: unknown, context: { id: string; slots: { html: (name: string) => string } }) => unknown;
type Hydrate = (box: HTMLElement, props: unknown) => unknown;

async function mount(request: MountRequest): Promise<Mounted> {
  if (!request.hydrate) await fill(request, request.view);
  let end = await hydrate(request, request.module);
  return {
    update: (module, view) => {
      fill(request, view)
        .then(() => hydrate(request, module))
        .then((given) => (end = given), request.onError);
    },
    unmount: () => {
      if (typeof end === 'function') (end as () => void)();
    },
  };
}

async function fill({ box, id, props, slots }: MountRequest, view: unknown): Promise<void> {
  const html = (name: string): string =>
    `<${SLOT_TAG} n="${name.replace(/[&"]/g, escapeOne)}"></${SLOT_TAG}>`;
  box.innerHTML = String(await (view as View)(props, { id, slots: { ...slots, html } }));
  for (const name of slots.names) {
    const element = [...box.querySelectorAll(SLOT_TAG)].find((each) => each.getAttribute('n') === name);
    if (element) slots.adopt(name, element);
  }
}

const escapeOne = (character: string): string => (character === '&' ? '&amp;' : '&quot;');

async function hydrate({ box, props }: MountRequest, module: ComponentModule): Promise<unknown> {
  const own = module['hydrate'];
  return typeof own === 'function' ? (own as Hydrate)(box, props) : undefined;
}

const plain: BrowserAdapter = { mount };
export default plain;
