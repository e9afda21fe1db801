/** Vue 3, by its server renderer. It must not know pages. */
import {
  createSSRApp,
  h,
  onServerPrefetch,
  type App,
  type Component as VueComponent,
  type ComponentOptions,
  type VNode,
} from 'vue';
import { renderToString } from 'vue/server-renderer';
import { logText } from '../thrown.js';
import type { Adapter, RenderContext } from './adapter.js';
import { Resumptions } from './resumptions.js';
import { SLOT_TAG } from './slot.js';
import { declaredProps } from './vue-props.js';

export interface VueOptions {
  /** Called with the app of each component, to install plugins: a store, translations. */
  readonly setUp?: (app: App, context: RenderContext) => void;
}

function ignore(): void {}

export function vue({ setUp }: VueOptions = {}): Adapter {
  return {
    name: 'vue',
    recognises: isVueComponent,
    async render(view, props, context) {
      // Until it is loaded, nobody knows what it declares.
      await (view as Loads).__asyncLoader?.();
      const app = createSSRApp({
        render: () => h(view as VueComponent, { ...declaredProps(view, props) }, slotFunctions(context)),
      });
      app.config.idPrefix = context.id;
      // Vue writes only what the app's handler does not take; the first error is the render's.
      app.config.warnHandler = ignore;
      app.mixin(pauses(context.signal));
      setUp?.(app, context);
      return new Promise((resolve, reject) => {
        failWithErrors(app, reject);
        renderToString(app).then(resolve, reject);
      });
    },
  };
}

/**
 * Calls `fail` with errors that no `errorCaptured` has stopped. Vue continues after them with an empty comment in place of
 * the component, and the rest of it must be no box.
 */
function failWithErrors({ config }: App, fail: (error: unknown) => void): void {
  const { errorHandler } = config;
  const failWith: typeof errorHandler = (error, instance, info) => {
    fail(error);
    try {
      errorHandler?.(error, instance, info);
    } catch (thrown) {
      console.error(`The errorHandler of a Vue app threw: ${logText(thrown)}`);
    }
  };
  config.errorHandler = failWith;
}

/** Lets the event loop turn where components with an async `setup` follow each other in microtasks. */
function pauses(signal: AbortSignal): ComponentOptions {
  const resumptions = new Resumptions(signal);
  let hasBegun = false;
  return {
    beforeCreate() {
      // The first component is no resumption.
      const pause = hasBegun ? resumptions.next() : undefined;
      hasBegun = true;
      if (pause !== undefined) onServerPrefetch(() => pause);
    },
  };
}

/** Result of `defineAsyncComponent`. */
interface Loads {
  readonly __asyncLoader?: () => Promise<unknown>;
}

/** Made by Vue's compilers, `defineAsyncComponent` and libraries for classes. */
const MARKS = ['__name', '__file', 'ssrRender', '__asyncLoader', '__vccOpts'];
const OPTIONS = ['setup', 'render', 'template'];

/**
 * Whether it is a Vue component: a plain object of options. An object with a class is another's, even if it has a `render`. Functions
 * without a mark belong to other adapters, but by name.
 */
function isVueComponent(view: unknown): boolean | 'perhaps' {
  if (typeof view === 'function') return Object.hasOwn(view, '__vccOpts');
  if (typeof view !== 'object' || view === null || '$$typeof' in view) return false;
  const prototype: unknown = Object.getPrototypeOf(view);
  if (prototype !== Object.prototype && prototype !== null) return false;
  if (MARKS.some((key) => Object.hasOwn(view, key))) return true;
  return OPTIONS.some((key) => Object.hasOwn(view, key)) && 'perhaps';
}

function slotFunctions({ slots }: RenderContext): Record<string, () => VNode> {
  return Object.fromEntries(slots.names.map((name) => [name, () => h(SLOT_TAG, { n: name, innerHTML: '' })]));
}
