/**
 * The Hypernova protocol: what a host posts and what it gets. `docs/guide/fragments.md` describes it. It must not know how jobs
 * are rendered.
 */
import { httpError } from '../http/errors.js';
import { InvalidPropsError } from '../tasks/errors.js';
import { toError } from '../thrown.js';

/** One component to be rendered, by the token that the host gave it. */
export interface FragmentJob {
  readonly name: string;
  readonly data: unknown;
  /** Data for hooks; components do not see it. */
  readonly metadata: unknown;
}

export interface FragmentError {
  readonly name: string;
  readonly message: string;
  /** Lines. */
  readonly stack: readonly string[];
}

export interface FragmentResult {
  /** Null where the job had none. */
  readonly name: string | null;
  readonly html: string | null;
  /** Data that hooks put into `returnMeta`. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Milliseconds of CPU time that this job alone took: 0 without a component, null where it failed before its render was asked for. */
  readonly duration: number | null;
  /** 200, 400 for a job that is none or props that are not taken, 404 for an unknown component, 500 for the rest. */
  readonly statusCode: number;
  /** True if there is HTML. A hook that fails after the render leaves both HTML and `error`. */
  readonly success: boolean;
  readonly error: FragmentError | null;
  /** True if a part of the HTML has failed, such as a boundary of React, and is the browser's to render; absent otherwise. No cache may keep such HTML. */
  readonly partial?: true;
}

export interface BatchAnswer {
  readonly success: boolean;
  readonly error: FragmentError | null;
  readonly results: Readonly<Record<string, FragmentResult>>;
}

export type Jobs = ReadonlyMap<string, unknown>;

/** A body of no bytes is a batch of no jobs. Throws an `HttpError` where it is no batch, or a batch of too many jobs. */
export function jobsOf(body: unknown, jobsMax: number): Jobs {
  if (body === undefined) return new Map();
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw httpError('SLU-RENDER-BATCH-INVALID', 'A batch is an object of jobs by their tokens');
  }
  const jobs = new Map(Object.entries(body));
  if (jobs.size > jobsMax)
    throw httpError('SLU-RENDER-BATCH-TOO-LARGE', `The batch has ${jobs.size} jobs; ${jobsMax} are allowed`);
  return jobs;
}

/** Throws a `TypeError` that says what a job lacks. */
export function checkJob(token: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidJobError(`Job "${token}" is not an object with name and data`);
  }
  if (typeof (value as Partial<FragmentJob>).name !== 'string')
    throw new InvalidJobError(`Job "${token}" has no name of a component`);
}

export class InvalidJobError extends TypeError {
  override readonly name = 'InvalidJobError';
}

export class UnknownComponentError extends ReferenceError {
  override readonly name = 'ReferenceError';

  constructor(component: string) {
    super(`Component "${component}" not registered`);
    // Where in this package it was not found helps nobody; that it is a component's does, where errors are grouped by their stacks.
    this.stack = `ReferenceError: ${this.message}\n    at component "${component}"`;
  }
}

export function statusOf(error: unknown): number {
  if (error instanceof UnknownComponentError) return 404;
  return error instanceof InvalidJobError || error instanceof InvalidPropsError ? 400 : 500;
}

export function errorAnswer(thrown: unknown): BatchAnswer {
  return { success: false, error: fragmentError(thrown), results: {} };
}

export function fragmentError(thrown: unknown): FragmentError {
  const { name, message, stack } = toError(thrown);
  return { name, message, stack: stack?.split('\n').map((line) => line.trim()) ?? [] };
}
