/**
 * `POST /batch`: renders components for hosts that are not JavaScript, by the Hypernova protocol. Each job is a task of its own,
 * so that its time is its own. It must not know the server that it is part of.
 */
import type { IncomingMessage } from 'node:http';
import { NO_SLOTS } from '../adapters/slot.js';
import type { Component, Props } from '../component.js';
import type { Assets } from '../boxes/assets.js';
import { renderHost, type Outcome } from '../host.js';
import type { Abortable } from '../abort.js';
import { jsonAnswer, pathOf, type Answer, type Exchange as Answered } from '../http/answer.js';
import { readJson, type BodyOptions } from '../http/body.js';
import { HttpError } from '../http/errors.js';
import { served, type Served } from '../http/handler.js';
import type { Registry } from '../registry/registry.js';
import { InvalidPropsError } from '../tasks/errors.js';
import { madeProps, OwnProps } from '../tasks/own-props.js';
import type { PropsLimits } from '../tasks/props.js';
import { tamed, toError } from '../thrown.js';
import { JobTask } from '../tasks/job-task.js';
import { createTaskQueue, type QueueOptions, type TaskQueue } from '../tasks/queue.js';
import type { Job, TaskResult } from '../tasks/result.js';
import { Scope } from '../tasks/task.js';
import { Batch, RenderError, type BatchRules, type Exchange, type RenderedJob } from './batch.js';
import { boxOf, headOf, newId } from './boxes.js';
import { serialize } from './markup.js';
import { runHooks, type JobContext, type Plugin } from './plugins.js';
import {
  errorAnswer,
  jobsOf,
  UnknownComponentError,
  type BatchAnswer,
  type FragmentJob,
} from './protocol.js';

const BODY_BYTES_MAX = 1_024_000;
const JOBS_MAX = 1_000;
const HOOK_TIMEOUT_MS = 300;
/** Browser code that hydrates fragments gives React no prefix of ids, so that the server must not, either. */
const NO_ID = '';

/** Source of components, and the markup around their HTML. */
export interface FragmentSource {
  /** Undefined: nothing of this name. A component that is no promise was found without calling code of the app. */
  find(job: FragmentJob, context: JobContext): Promise<Component | undefined> | Component | undefined;
  /** Props of the component, from the job's data. Throws an `InvalidPropsError` for data that is none. */
  props(job: FragmentJob, component: Component): Props | OwnProps;
  /** The HTML that goes to the host. The props are as the component's schema made them. */
  markup(component: Component, html: string, props: Props, id: string): string;
  /** Id of a fragment, of which its component makes its own. Default: none, as browser code of Hypernova gives none. */
  id?(): string;
}

export interface FragmentRules extends PropsLimits, QueueOptions, Partial<BodyOptions> {
  /** Default `/batch`. */
  readonly endpoint?: string;
  readonly plugins?: readonly Plugin[];
  /** Jobs of a batch begin together, so that one that waits for data does not hold up the rest; default true. */
  readonly isConcurrent?: boolean;
  /** Milliseconds that a batch waits for its hooks; default 300. */
  readonly hookTimeoutMs?: number;
  /** Jobs of one batch; default 1,000. */
  readonly jobsMax?: number;
  /** Bytes of a request's body, after decompression; default 1,024,000. */
  readonly bytesMax?: number;
  /** Shared with pages, so that both take turns. Default: a queue of its own, with `QueueOptions` of these rules. */
  readonly queue?: TaskQueue;
}

export interface FragmentOptions extends FragmentRules {
  readonly registry: Registry;
  /**
   * Markup around a component's HTML, by which the browser finds it and its props. Default: the markup of Hypernova, but for
   * components with `rendering: 'static'`, which have none, and remote ones, which bring theirs.
   */
  readonly markup?: (component: Component, html: string, props: Props) => string;
  /**
   * `sluice-assets.json` of `@sluice/browser`, or its path: fragments are boxes then, which its runtime hydrates. The host puts `head` into its
   * pages.
   */
  readonly assets?: Assets | string;
}

export interface Fragments {
  readonly handle: Served;
  /** A batch in process. */
  batch(jobs: Readonly<Record<string, unknown>>, signal?: Abortable): Promise<BatchAnswer>;
  /**
   * HTML for the head of the host's pages, once in each: styles of all components, and the browser's runtime. Empty without `assets`. Hosts that are
   * no JavaScript get it by `GET /batch/head`.
   */
  head(nonce?: string): string;
  /** Runs the `initialize` hooks, once. The first batch does it otherwise. */
  initialize(): Promise<void>;
  /** Runs the `shutDown` hooks. */
  shutDown(error?: unknown, request?: unknown): Promise<void>;
}

/** Fragments of a registry's components. */
export function createFragments(options: FragmentOptions): Fragments {
  const { registry, assets } = options;
  if (assets !== undefined && options.markup !== undefined)
    throw new TypeError('fragments have the markup of boxes with `assets`: remove `markup` or `assets`');
  const markup = options.markup ?? (assets === undefined ? defaultMarkup : boxOf);
  const source: FragmentSource = {
    ...(assets !== undefined && { id: newId }),
    find: ({ name }) => registry.loaded(name) ?? registry.find(name),
    props: (job, component) => new OwnProps(component, propsOf(job)),
    markup,
  };
  return new FragmentService(source, options, options, assets === undefined ? undefined : headOf(assets));
}

/** `config` is what plugins get with `initialize` and `shutDown`. */
export function fragmentsOf(source: FragmentSource, rules: FragmentRules, config: unknown): Fragments {
  return new FragmentService(source, rules, config, undefined);
}

/** Renders one component of a batch. `isFoundAtOnce`: no code of the app has run for the job. */
type Run = (job: Job, isFoundAtOnce: boolean) => Promise<TaskResult>;

class FragmentService implements Fragments {
  readonly #source: FragmentSource;
  readonly #rules: FragmentRules;
  readonly #batchRules: BatchRules;
  readonly #config: unknown;
  readonly #head: ((nonce?: string) => string) | undefined;
  readonly #endpoint: string;
  readonly #queue: TaskQueue;
  #initialized: Promise<void> | undefined;

  constructor(
    source: FragmentSource,
    rules: FragmentRules,
    config: unknown,
    head: ((nonce?: string) => string) | undefined,
  ) {
    this.#source = source;
    this.#rules = rules;
    this.#config = config;
    this.#head = head;
    this.#endpoint = rules.endpoint ?? '/batch';
    this.#queue = rules.queue ?? createTaskQueue(rules);
    const { plugins = [], hookTimeoutMs = HOOK_TIMEOUT_MS, isConcurrent = true } = rules;
    this.#batchRules = { ...rules, plugins, hookTimeoutMs, isConcurrent };
  }

  readonly handle = served((request, exchange) => {
    const isHead = this.#head !== undefined && pathOf(request) === `${this.#endpoint}/head`;
    if (isHead && (request.method === 'GET' || request.method === 'HEAD'))
      return Promise.resolve(htmlAnswer(this.head()));
    if (request.method !== 'POST' || !isPath(pathOf(request), this.#endpoint))
      return Promise.resolve(undefined);
    return this.#answer(request, exchange);
  });

  async batch(jobs: Readonly<Record<string, unknown>>, signal?: Abortable): Promise<BatchAnswer> {
    const batch = this.#batch(jobs, {}, signal);
    await this.#run(batch);
    return batch.answer();
  }

  head(nonce?: string): string {
    return this.#head?.(nonce) ?? '';
  }

  initialize(): Promise<void> {
    this.#initialized ??= runHooks(
      this.#batchRules.plugins,
      (plugin) => plugin.initialize?.(this.#config),
      this.#batchRules.hookTimeoutMs,
    );
    return this.#initialized;
  }

  shutDown(error?: unknown, request?: unknown): Promise<void> {
    return runHooks(
      this.#batchRules.plugins,
      (plugin) => plugin.shutDown?.(this.#config, error, request),
      this.#batchRules.hookTimeoutMs,
    );
  }

  async #answer(request: IncomingMessage, { leave, response }: Answered): Promise<Answer> {
    const exchange: Exchange = { request, ...(response && { response }) };
    const signal = leave();
    try {
      const body = await readJson(request, {
        ...this.#rules,
        bytesMax: this.#rules.bytesMax ?? BODY_BYTES_MAX,
      });
      const batch = this.#batch(body, exchange, signal);
      await this.#run(batch);
      return jsonAnswer(batch.statusCode, batch.answer());
    } catch (thrown) {
      const error = toError(thrown);
      if (!(error instanceof HttpError)) throw error;
      const none = new Batch(new Map(), exchange, this.#batchRules, nothing);
      return { ...jsonAnswer(error.statusCode, errorAnswer(error)), sent: () => none.fail(error) };
    }
  }

  async #run(batch: Batch): Promise<void> {
    try {
      await this.initialize();
    } catch (error) {
      await batch.fail(error);
      return;
    }
    await batch.run();
  }

  #batch(body: unknown, exchange: Exchange, signal: Abortable | undefined): Batch {
    const jobs = jobsOf(body, this.#rules.jobsMax ?? JOBS_MAX);
    const tasks = this.#queue.page({ signal });
    const shared = new Scope();
    const hasHooks = this.#batchRules.plugins.length > 0;
    // Hooks, and code that finds a component, may give a job an async context of its own.
    const run: Run = (job, isFoundAtOnce) =>
      new Promise((done) => {
        tasks.start(new JobTask(job, done), isFoundAtOnce && !hasHooks ? shared : new Scope());
      });
    return new Batch(jobs, exchange, this.#batchRules, (job, context) => this.#render(job, context, run));
  }

  async #render(job: FragmentJob, context: JobContext, run: Run): Promise<RenderedJob> {
    try {
      const found = this.#source.find(job, context);
      const component = await found;
      if (component === undefined) throw new UnknownComponentError(job.name);
      const props = this.#source.props(job, component);
      return await this.#renderComponent(component, props, run, found === component);
    } catch (thrown) {
      const error = tamed(thrown);
      report(job.name, outcomeOf(error), error instanceof RenderError ? error.cpu_us : 0);
      throw error;
    }
  }

  async #renderComponent(
    component: Component,
    given: Props | OwnProps,
    run: Run,
    isFoundAtOnce: boolean,
  ): Promise<RenderedJob> {
    const { name, settings } = component;
    const { rendering = 'server', placeholder = '' } = settings;
    const id = this.#source.id?.() ?? NO_ID;
    if (rendering === 'client') {
      const props = await madeProps(component, given);
      const text = typeof placeholder === 'string' ? placeholder : placeholder(props);
      const html = this.#source.markup(component, text, props, id);
      report(name, 'client', 0);
      return { html, cpu_us: 0, isPartial: false };
    }
    const context = { id, slots: NO_SLOTS, isStatic: rendering === 'static' };
    const result = await run({ component, props: given, context }, isFoundAtOnce);
    const { cpu_us } = result;
    if (!result.ok) throw new RenderError(result.reason, result.error, cpu_us);
    const html = this.#source.markup(component, result.html, await madeProps(component, given), id);
    report(name, result.isCached ? 'cached' : result.isOverBudget ? 'over-budget' : 'rendered', cpu_us);
    return { html, cpu_us, isPartial: result.isPartial };
  }
}

/** Asked by hosts when they begin, and after a deploy. */
const HEAD_CONTROL = 'public, max-age=60';

function htmlAnswer(html: string): Answer {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': HEAD_CONTROL };
  return {
    status: 200,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(html)) },
    body: html,
  };
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof RenderError) return error.reason;
  if (error instanceof UnknownComponentError) return 'unknown';
  return error instanceof InvalidPropsError ? 'invalid' : 'error';
}

/** Fragments are for every visitor alike: the host knows who it is. */
function report(component: string, outcome: Outcome, cpu_us: number): void {
  renderHost()?.rendered({ component, outcome, cpu_us, setting: 's100' });
}

function propsOf({ name, data }: FragmentJob): Props {
  if (data === undefined || data === null) return {};
  if (typeof data === 'object' && !Array.isArray(data)) return data as Props;
  throw new InvalidPropsError(`The data of component "${name}" is not an object`);
}

function defaultMarkup({ name, adapter, settings }: Component, html: string, props: Props): string {
  return settings.rendering === 'static' || adapter.hasOwnMarkup === true
    ? html
    : serialize(name, html, props);
}

function isPath(path: string, endpoint: string): boolean {
  return path === endpoint || path === `${endpoint}/`;
}

function nothing(): Promise<never> {
  return Promise.reject(new Error('A batch without jobs renders nothing'));
}
