/**
 * One batch on its way through hooks and renders. It must not know HTTP, or where components come from.
 *
 * ```text
 * batchStart ─ each job: jobStart ─ beforeRender ─ render ─ afterRender ─ jobEnd ─ batchEnd
 * ```
 *
 * An error of a job is the job's, with `onError`; one of the batch ends it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Failure } from '../tasks/result.js';
import { tameProps, type PropsLimits } from '../tasks/props.js';
import { messageOf, tamed } from '../thrown.js';
import {
  runHooks,
  type BatchContext,
  type BatchHook,
  type JobContext,
  type JobHook,
  type Plugin,
} from './plugins.js';
import {
  fragmentError,
  checkJob,
  statusOf,
  type BatchAnswer,
  type FragmentJob,
  type FragmentResult,
  type Jobs,
} from './protocol.js';

export interface BatchRules extends PropsLimits {
  readonly plugins: readonly Plugin[];
  readonly hookTimeoutMs: number;
  /** Jobs begin together; otherwise each begins at the end of the one before. */
  readonly isConcurrent: boolean;
}

export interface Exchange {
  readonly request?: IncomingMessage;
  readonly response?: ServerResponse;
}

export interface RenderedJob {
  readonly html: string;
  readonly cpu_us: number;
  /** A part of the HTML has failed, and is the browser's to render. */
  readonly isPartial: boolean;
}

/** Rejects with why there is no HTML: a `RenderError` where the render had begun. */
export type RenderJob = (job: FragmentJob, context: JobContext) => Promise<RenderedJob>;

/** Reason for the lack of a job's HTML, and its cost. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly reason: Failure;
  readonly error: Error;
  readonly cpu_us: number;

  constructor(reason: Failure, error: Error, cpu_us: number) {
    super(error.message, { cause: error });
    this.reason = reason;
    this.error = error;
    this.cpu_us = cpu_us;
  }
}

/** Progress of a job so far. */
interface Progress extends FragmentJob {
  readonly token: string;
  returnMeta: Record<string, unknown>;
  statusCode: number;
  html: string | null;
  isPartial: boolean;
  duration: number | null;
  error: unknown;
  hasFailed: boolean;
}

export class Batch {
  readonly #rules: BatchRules;
  readonly #render: RenderJob;
  readonly #shared: Pick<BatchContext, 'request' | 'response' | 'batchMeta'>;
  readonly #jobs: Jobs;
  readonly #progress: readonly Progress[];
  readonly #data: ReadonlyMap<Plugin, Map<unknown, unknown>>;
  #error: unknown;
  #hasFailed = false;

  constructor(jobs: Jobs, exchange: Exchange, rules: BatchRules, render: RenderJob) {
    this.#rules = rules;
    this.#render = render;
    this.#jobs = jobs;
    this.#shared = { request: exchange.request, response: exchange.response, batchMeta: {} };
    this.#progress = Array.from(jobs, ([token, job]) => begin(token, job, rules));
    this.#data = new Map(rules.plugins.map((plugin) => [plugin, new Map()]));
  }

  /** Status of the batch; each job has its own beside it. */
  get statusCode(): number {
    return this.#hasFailed ? 500 : 200;
  }

  async run(): Promise<void> {
    try {
      await this.#batchHook('batchStart');
      if (this.#rules.isConcurrent) await Promise.all(this.#progress.map((job) => this.#runJob(job)));
      else for (const job of this.#progress) await this.#runJob(job);
      await this.#batchHook('batchEnd');
    } catch (thrown) {
      await this.fail(thrown);
    }
  }

  /** An error that is no job's. */
  async fail(thrown: unknown): Promise<void> {
    const error = tamed(thrown);
    this.#hasFailed = true;
    this.#error = error;
    try {
      await this.#hooks((plugin) => plugin.onError?.(this.#batchContext(plugin), error));
    } catch {
      // The host gets the error that came first.
    }
  }

  answer(): BatchAnswer {
    // Without a prototype: a token may be `__proto__`.
    const results = Object.create(null) as Record<string, FragmentResult>;
    for (const job of this.#progress) results[job.token] = resultOf(job);
    return { success: !this.#hasFailed, error: this.#hasFailed ? fragmentError(this.#error) : null, results };
  }

  async #runJob(job: Progress): Promise<void> {
    const hasHooks = this.#rules.plugins.length > 0;
    try {
      if (job.hasFailed) throw job.error;
      if (hasHooks) {
        await this.#jobHooks('jobStart', job);
        await this.#jobHooks('beforeRender', job);
      }
      await this.#renderJob(job);
      if (hasHooks) {
        await this.#jobHooks('afterRender', job);
        await this.#jobHooks('jobEnd', job);
      }
      checkMeta(job);
    } catch (thrown) {
      const error = tamed(thrown);
      job.hasFailed = true;
      job.error = error;
      job.statusCode = statusOf(error);
      await this.#hooks((plugin) => plugin.onError?.(this.#jobContext(plugin, job), error));
      if (!isJson(job.returnMeta)) job.returnMeta = {};
    }
  }

  async #renderJob(job: Progress): Promise<void> {
    try {
      const { html, cpu_us, isPartial } = await this.#render(job, this.#jobContext(undefined, job));
      job.html = html;
      job.isPartial = isPartial;
      job.duration = cpu_us / 1000;
    } catch (thrown) {
      const error = tamed(thrown);
      job.duration = error instanceof RenderError ? error.cpu_us / 1000 : 0;
      throw error instanceof RenderError ? error.error : error;
    }
  }

  #batchHook(hook: BatchHook): Promise<void> {
    return this.#hooks((plugin) => plugin[hook]?.(this.#batchContext(plugin)));
  }

  #jobHooks(hook: JobHook, job: Progress): Promise<void> {
    return this.#hooks((plugin) => plugin[hook]?.(this.#jobContext(plugin, job)));
  }

  #hooks(call: (plugin: Plugin) => unknown): Promise<void> {
    return runHooks(this.#rules.plugins, call, this.#rules.hookTimeoutMs);
  }

  #batchContext(plugin: Plugin): BatchContext {
    return {
      ...this.#shared,
      tokens: [...this.#jobs.keys()],
      jobs: Object.fromEntries(this.#jobs),
      data: this.#dataOf(plugin),
    };
  }

  /** A copy: what a hook assigns to it is not the job's, but for what it puts into `returnMeta`. */
  #jobContext(plugin: Plugin | undefined, job: Progress): JobContext {
    const { request, response, batchMeta } = this.#shared;
    const { token, name, data: props, metadata, returnMeta, statusCode, html, duration } = job;
    return {
      request,
      response,
      batchMeta,
      token,
      name,
      props,
      metadata,
      returnMeta,
      statusCode,
      html,
      duration,
      data: this.#dataOf(plugin),
    };
  }

  #dataOf(plugin: Plugin | undefined): Map<unknown, unknown> {
    return (plugin && this.#data.get(plugin)) ?? new Map();
  }
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks the meta data. A value that is no JSON, such as a BigInt or a cycle, fails this job and not the answer of its
 * batch.
 */
function checkMeta(job: Progress): void {
  if (Object.keys(job.returnMeta).length === 0) return;
  try {
    JSON.stringify(job.returnMeta);
  } catch (error) {
    const reason = messageOf(error);
    job.html = null;
    throw new TypeError(`returnMeta of ${JSON.stringify(job.name)} is not JSON: ${reason}`, { cause: error });
  }
}

function begin(token: string, value: unknown, limits: PropsLimits): Progress {
  const { name, data, metadata } = (value ?? {}) as FragmentJob;
  const progress: Progress = {
    token,
    name,
    data,
    metadata,
    returnMeta: {},
    statusCode: 200,
    html: null,
    isPartial: false,
    duration: null,
    error: undefined,
    hasFailed: false,
  };
  try {
    checkJob(token, value);
    tameProps(data, limits);
    tameProps(metadata, limits);
  } catch (error) {
    progress.error = error;
    progress.hasFailed = true;
  }
  return progress;
}

function resultOf({
  name,
  html,
  isPartial,
  returnMeta,
  duration,
  statusCode,
  error,
  hasFailed,
}: Progress): FragmentResult {
  return {
    name: typeof name === 'string' ? name : null,
    html,
    meta: returnMeta,
    duration,
    statusCode,
    success: html !== null,
    error: hasFailed ? fragmentError(error) : null,
    ...(isPartial && html !== null && { partial: true }),
  };
}
