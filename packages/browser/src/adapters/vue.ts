/** Vue 3 in the browser. */
import { type App, type Component, createApp, createSSRApp, h, shallowRef } from 'vue';
import { declaredProps } from '@sluice/render/vue-props';
import type { BrowserAdapter, Mounted, MountRequest } from '../adapter.js';

const SLOT_TAG = 'sluice-slot';

function mount({ view, props, box, id, slots, hydrate, onMismatch }: MountRequest): Mounted {
  const shown = shallowRef(view as Component);
  const contents: Record<string, () => unknown> = {};
  for (const name of slots.names) {
    // Without children of its own in the tree, Vue leaves the element's content alone.
    contents[name] = () =>
      h(SLOT_TAG, {
        n: name,
        onVnodeMounted: ({ el }: { el: unknown }) => slots.adopt(name, el as Element),
      });
  }
  const app = (hydrate ? createSSRApp : createApp)({
    render: () => h(shown.value, declaredProps(shown.value, props), contents),
  });
  app.config.idPrefix = id;
  const failed: unknown[] = [];
  app.config.errorHandler = (error) => failed.push(error);
  if (hydrate) watched(app, onMismatch, () => app.mount(box));
  else app.mount(box);
  // Later errors are the app's, which Vue writes to the console without a handler.
  delete app.config.errorHandler;
  if (failed.length > 0) throw failed[0];
  return {
    update: (_module, changed) => {
      shown.value = changed as Component;
    },
    unmount: () => app.unmount(),
  };
}

const OF_HYDRATION = /hydration/i;

/** Vue tells of mismatches by warnings in development, and by the console alone in production. */
function watched(app: App, onMismatch: (error: unknown) => void, hydrateNow: () => void): void {
  const { warn, error } = console;
  const heard = new Set<string>();
  const listen =
    (log: (...all: unknown[]) => void) =>
    (...all: unknown[]): void => {
      const text = all.filter((each) => typeof each === 'string').join(' ');
      if (OF_HYDRATION.test(text)) heard.add(text);
      else log(...all);
    };
  console.warn = listen(warn);
  console.error = listen(error);
  app.config.warnHandler = (message, _instance, trace) => listen(warn)(`[Vue warn]: ${message}${trace}`);
  try {
    hydrateNow();
  } finally {
    Object.assign(console, { warn, error });
    delete app.config.warnHandler;
  }
  // The last says that there were some, and is said once a page.
  const told = [...heard].filter((text) => heard.size === 1 || !text.startsWith('Hydration completed'));
  for (const text of told) onMismatch(new Error(text));
}

const vue: BrowserAdapter = { mount };
export default vue;
