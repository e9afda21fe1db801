/** Options of pages, and their answers. It must not know how. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Abortable } from '../abort.js';
import type { Styles, StylesOptions } from '../css/styles.js';
import type { Shares } from '../dial/dial.js';
import type { Visitor, VisitorOptions } from '../dial/visitor.js';
import { renderHost, type RenderHost } from '../host.js';
import type { Registry } from '../registry/registry.js';
import type { TaskQueue } from '../tasks/queue.js';
import { callApp, logText } from '../thrown.js';
import type { Allocation, Experiment, Experiments } from '../variants/experiments.js';
import type { Assets } from '../boxes/assets.js';
import type { DocumentOptions } from './document.js';
import type { HeaderOptions, Headers } from './headers.js';
import type { Navigation, NavigationOptions } from './navigation.js';
import type { Overruns, OverrunsOptions } from './overruns.js';
import type { PageReport } from './report.js';
import type { Sources, SourcesOptions } from './sources.js';
import type { Fill } from './writer.js';

export interface PagesOptions {
  readonly registry: Registry;
  /** Default: one with defaults. */
  readonly queue?: TaskQueue;
  /** `sluice-assets.json`, or its path. Without it, pages have no code for browsers. */
  readonly assets?: Assets | string;
  readonly styles?: StylesOptions;
  /** Services and functions that trees may ask for data. */
  readonly sources?: SourcesOptions;
  readonly experiments?: readonly Experiment[];
  /** Share of the server if Sluice's config does not say: shares from 0 to 1. Default: all. */
  readonly server?: Shares;
  readonly visitor?: VisitorOptions;
  readonly document?: DocumentOptions;
  /**
   * Navigation between pages without a new document: `respond` and `pageResponse` answer the browser's runtime with the boxes of a page as
   * JSON, and it swaps those that differ. Pages get `Vary: Sluice-Page`. Without `assets` there is no runtime, and no navigation. Default: off.
   */
  readonly navigation?: boolean | NavigationOptions;
  /**
   * Address to which browsers send their measurements; null for none. Default: as Sluice's config says, without Sluice
   * none.
   */
  readonly vitals?: string | null;
  /** Milliseconds until what is not there is late; default 5,000. */
  readonly deadlineMs?: number;
  /** CPU milliseconds of a page's components together; default: no limit. */
  readonly cpuBudgetMs?: number;
  /** Suspension of components that go over their budget; false for none. */
  readonly overruns?: OverrunsOptions | false;
  /** Default: Sluice's, where there is one. */
  readonly host?: RenderHost;
  /**
   * Called with the reason why a box has no HTML, and with state that cannot be sent. Default: a line on standard error with component,
   * box and reason, for 20 boxes in 10 s.
   */
  readonly onError?: (error: Error, component: string, box: string) => void;
}

export interface RenderOptions {
  /** `boxes`: what the runtime of `navigation` asks for, which `Pages.formatOf` tells. Default `html`. */
  readonly format?: 'html' | 'json' | 'boxes';
  /** The browser's request: tells visitor and device. */
  readonly request?: IncomingMessage;
  /** Facts about the visitor that the request does not tell, or tells of somebody else. */
  readonly visitor?: Partial<Visitor>;
  /** Arms that an upstream or the caller has chosen. */
  readonly variants?: Allocation;
  /** JSON: version of the client's engine. Default: it knows all. */
  readonly engine?: number;
  readonly status?: number;
  readonly headers?: HeaderOptions;
  /** Options in place of the shared ones, each. */
  readonly document?: DocumentOptions;
  /** `whole`: with a `Content-Length`, and nothing is sent before all is there. JSON and boxes are always whole. Default: `stream`. */
  readonly delivery?: 'stream' | 'whole';
  /** `as-ready`: boxes that wait leave a place that the browser's runtime fills. Default: `in-order`. */
  readonly fill?: Fill;
  /** Address where the browser asks for the props of boxes without, as `?box=ID`: answer with `renderBox`. */
  readonly more?: string;
  readonly nonce?: string;
  readonly deadlineMs?: number;
  readonly cpuBudgetMs?: number;
  /** Aborted when nobody waits for the page any more. */
  readonly signal?: Abortable;
}

/** Data of a page, or what makes it from the request. */
export type PageInput = Readonly<Record<string, unknown>> | ((context: InputContext) => unknown);

export interface InputContext {
  readonly request: IncomingMessage | undefined;
  readonly visitor: Visitor;
  /** Arms by experiment. */
  readonly variants: Allocation;
  readonly signal: AbortSignal;
}

export interface Page {
  readonly status: number;
  /** Names in lower case; checked. */
  readonly headers: Headers;
  /** A stream to pipe, or the whole. Destroying the stream aborts what is not rendered yet. */
  readonly body: Readable | string;
  /** Resolves when the body is written, or the client has left. Never rejects. */
  readonly report: Promise<PageReport>;
}

/** Answer to the browser's later question for one box: state for `revive`. */
export interface BoxAnswer {
  readonly props: string;
}

/** State that all pages of an app share. */
export interface Shared {
  readonly options: PagesOptions;
  readonly registry: Registry;
  readonly queue: TaskQueue;
  readonly assets: Assets | undefined;
  readonly styles: Styles;
  readonly sources: Sources;
  readonly navigation: Navigation | undefined;
  readonly experiments: Experiments;
  readonly overruns: Overruns | undefined;
  readonly isDevelopment: boolean;
  readonly onError: NonNullable<PagesOptions['onError']>;
}

/** Options of one page with its visitor. */
export interface VisitedOptions extends Omit<RenderOptions, 'visitor'> {
  readonly visitor: Visitor;
  readonly setCookie: string | undefined;
}

/** A callback of the app's that throws or rejects must not end the page, nor the process. */
export function tellError(
  { onError }: Pick<Shared, 'onError'>,
  error: Error,
  component: string,
  box: string,
): void {
  callApp(
    () => onError(error, component, box),
    (thrown) => console.error(`onError of createPages threw: ${logText(thrown)}`),
  );
}

/** The host of this process, looked up for each page: the preload may be there later than the app's modules. */
export function hostOf({ host }: PagesOptions): RenderHost | undefined {
  return host ?? renderHost();
}
