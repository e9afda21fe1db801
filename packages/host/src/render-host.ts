/**
 * Services of Sluice for a worker that renders components: how much of them the server renders, and a place for reports.
 * Without Sluice there is no host, and options in code say both. It must not know pages or fragments.
 */

/** Fate of one component of one page or batch. */
export type Outcome =
  | 'rendered'
  /** HTML that came from a cache. */
  | 'cached'
  /** Rendered, but with more CPU time than its budget. */
  | 'over-budget'
  /** Left to the browser, by its setting or the dial. */
  | 'client'
  | 'error'
  | 'late'
  | 'unknown'
  | 'invalid'
  | 'aborted'
  | 'remote-late'
  | 'remote-error'
  /** Component that was not asked for, because the remote service failed too often shortly before. */
  | 'remote-open'
  /** Component that was not rendered, because it went over its budget too often shortly before. */
  | 'suspended'
  /** The client's engine is older than its JSON form, and it has no fallback. */
  | 'unsupported';

export interface ComponentReport {
  readonly component: string;
  readonly outcome: Outcome;
  /** CPU time of this component alone, in microseconds. */
  readonly cpu_us: number;
  /** Label of the dial's setting that its page got: `s100`, `s0`. */
  readonly setting: string;
}

export interface PageReport {
  readonly setting: string;
  /** `experiment:arm` of the first experiment that had a say in the page; null for none. */
  readonly variant: string | null;
  /** The same of each experiment, where there are several. */
  readonly variants?: readonly string[];
}

/** Renders of a component that went over its CPU budget one after the other, in all workers. */
export interface OverrunCount {
  readonly count: number;
  /** Time of the latest, by `performance.now()`. */
  readonly at_ms: number;
}

export interface RenderHost {
  /**
   * Shares of visitors, from 0 to 1, for whom the server renders, by `*`, `Component`, `Component@device` or `*@device`.
   * The object is replaced when the config changes, and never changed.
   */
  server(): Readonly<Record<string, number>>;
  /** Address to which browsers send their measurements; empty for none. */
  vitalsPath(): string;
  /** Counts what became of a component. Never throws. */
  rendered(report: ComponentReport): void;
  /** Counts a page for browsers. Never throws. */
  page(report: PageReport): void;
  /** Counts by component, with its version if it has one. The same object until it changes. Absent before Sluice counted them. */
  overruns?(): Readonly<Record<string, OverrunCount>>;
  /** A render went over its budget, or the first one after such renders did not. Never throws. */
  overran?(component: string, isOver: boolean): void;
}

/** Symbol of the host. The number changes with its shape. */
const HOST = Symbol.for('sluice.render.1');

type Holder = { readonly [HOST]?: RenderHost };

/** The host that Sluice's preload put there; undefined outside Sluice. */
export function renderHost(): RenderHost | undefined {
  return (globalThis as Holder)[HOST];
}

/** Puts the host where the copies of `@sluice/render` look for it. Throws a TypeError where there is one. */
export function offerHost(host: RenderHost): void {
  Object.defineProperty(globalThis, HOST, { value: host });
}
