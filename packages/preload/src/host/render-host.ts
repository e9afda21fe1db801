/**
 * Host that `@sluice/render` finds in a worker: for whom the server is to render, and a receiver of its reports. Reports are summed
 * up and told once a second. It must not know what a component is, nor how a share of visitors is drawn.
 */
import {
  type ComponentReport,
  offerHost,
  type OverrunCount,
  type PageReport,
  type RenderHost,
} from '#host/render-host.js';
import type { Control } from '../control/control.js';
import { cut, Telling, within } from './sums.js';

/** Report of any version of `@sluice/render`, whose outcomes this one may not know. */
interface Told extends Omit<ComponentReport, 'outcome'> {
  readonly outcome: string;
}

interface Count {
  count: number;
  cpu_us: number;
}

/** Maximum number of components in one report. The rest counts as `other`. */
const COMPONENTS_MAX = 500;
/** Maximum number of outcomes of a component in one report. */
const OUTCOMES_MAX = 16;
/** Maximum number of settings in one report. */
const LABELS_MAX = 32;
/** Maximum number of arms of experiments in one report. */
const VARIANTS_MAX = 100;
/** Maximum length of a reported component, outcome, setting or variant, characters. */
const NAME_CHARACTERS_MAX = 100;
/** Maximum number of components in one line of a report. */
const LINE_COMPONENTS_MAX = 1000;

/** Puts the host where the app's copies of `@sluice/render` look for it. */
export function offerRenderHost(control: Control): void {
  offerHost(new Rendering(control).host);
}

export class Rendering {
  readonly #control: Control;
  #server = frozen([['*', 1]]);
  #overruns = frozen<OverrunCount>([]);
  /** Lines about overruns that the gateway was sent. */
  #overransTold = 0;
  #vitalsPath = '/.sluice/vitals';
  #components = new Map<string, Map<string, Count>>();
  #settings = new Map<string, Count>();
  #variants = new Set<string>();
  readonly #telling = new Telling(() => this.#tell());

  constructor(control: Control) {
    this.#control = control;
    control.onMessage((message) => {
      if (message.type === 'render') {
        this.#server = frozen(Object.entries(message.server));
        this.#vitalsPath = message.vitals;
      }
      // Others come soon, with all that was told.
      if (message.type === 'overruns' && message.heard >= this.#overransTold) {
        const now_ms = performance.now();
        this.#overruns = frozen(
          Object.entries(message.components).map(([component, { count, ago_ms }]) => [
            component,
            { count, at_ms: now_ms - ago_ms },
          ]),
        );
      }
    });
  }

  /** Host for the app's code; a report that is none is ignored, as a render must not fail because of it. */
  readonly host = Object.freeze({
    server: () => this.#server,
    vitalsPath: () => this.#vitalsPath,
    rendered: ({ component, outcome, cpu_us, setting }: Told) => {
      const cost_us = Number.isFinite(cpu_us) && cpu_us > 0 ? Math.round(cpu_us) : 0;
      const outcomes = within(
        this.#components,
        component,
        COMPONENTS_MAX,
        NAME_CHARACTERS_MAX,
        () => new Map<string, Count>(),
      );
      const ended = within(outcomes, outcome, OUTCOMES_MAX, NAME_CHARACTERS_MAX, noCount);
      ended.count += 1;
      ended.cpu_us += cost_us;
      within(this.#settings, setting, LABELS_MAX, NAME_CHARACTERS_MAX, noCount).cpu_us += cost_us;
      this.#telling.soon();
    },
    page: ({ setting, variant, variants = [] }: PageReport) => {
      within(this.#settings, setting, LABELS_MAX, NAME_CHARACTERS_MAX, noCount).count += 1;
      if (variant !== null) this.#addVariant(variant);
      for (const one of variants) this.#addVariant(one);
      this.#telling.soon();
    },
    overruns: () => this.#overruns,
    overran: (component: string, isOver: boolean) => {
      if (typeof component !== 'string') return;
      if (this.#control.send({ type: 'overrun', component, over: isOver })) this.#overransTold += 1;
    },
  } satisfies Required<RenderHost>);

  #addVariant(variant: unknown): void {
    if (typeof variant === 'string' && this.#variants.size < VARIANTS_MAX)
      this.#variants.add(cut(variant, NAME_CHARACTERS_MAX));
  }

  #tell(): void {
    const components = [...this.#components].flatMap(([component, outcomes]) =>
      [...outcomes].map(([outcome, count]) => ({ component, outcome, ...count })),
    );
    const settings = [...this.#settings].map(([setting, { count, cpu_us }]) => ({
      setting,
      pages: count,
      cpu_us,
    }));
    const variants = [...this.#variants];
    this.#components = new Map();
    this.#settings = new Map();
    this.#variants = new Set();
    const first = components.splice(0, LINE_COMPONENTS_MAX);
    if (first.length + settings.length === 0) return;
    this.#control.send({ type: 'rendered', components: first, settings, variants });
    while (components.length > 0)
      this.#control.send({
        type: 'rendered',
        components: components.splice(0, LINE_COMPONENTS_MAX),
        settings: [],
        variants: [],
      });
  }
}

function noCount(): Count {
  return { count: 0, cpu_us: 0 };
}

/** Makes an object without a prototype: a component may be called `constructor`. */
function frozen<Value>(entries: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> {
  const record: Record<string, Value> = Object.create(null) as Record<string, Value>;
  for (const [name, value] of entries) record[name] = value;
  return Object.freeze(record);
}
