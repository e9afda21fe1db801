/** Errors of offloaded tasks: those of the pool, and how those of a task come across threads. */

export type OffloadCode =
  | 'SLU_OFFLOAD_QUEUE'
  | 'SLU_OFFLOAD_TIMEOUT'
  | 'SLU_OFFLOAD_LEFT'
  | 'SLU_OFFLOAD_TASK'
  | 'SLU_OFFLOAD_THREAD'
  | 'SLU_OFFLOAD_COPY'
  | 'SLU_OFFLOAD_POOL';

export class OffloadError extends Error {
  override readonly name = 'OffloadError';
  readonly code: OffloadCode;

  constructor(code: OffloadCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Makes the error for a task that gave neither a result nor an error. */
export function threadFailed(error: unknown): OffloadError {
  // From the thread, a `DataCloneError` comes without its name and words, or as no error at all.
  const isCopy = !(error instanceof Error) || `${error.name} ${error.stack}`.includes('DataCloneError');
  if (!isCopy) {
    return new OffloadError('SLU_OFFLOAD_THREAD', `the thread of an offloaded task ended: ${error.message}`, {
      cause: error,
    });
  }
  const words = error instanceof Error ? error.message : '';
  const what = words === '' ? 'the result' : 'the arguments';
  const text = `${what} of an offloaded task cannot be copied between threads; use plain data, without functions`;
  return new OffloadError('SLU_OFFLOAD_COPY', words === '' ? text : `${text} (${words})`, { cause: error });
}

/** Error that a task has thrown. A copy of an error keeps message, stack and cause alone. */
export interface Thrown {
  readonly isThrownBySluiceTask: true;
  readonly error: unknown;
  readonly name: string | undefined;
  /** Further properties, such as `code`. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** The task could not be begun. */
  readonly isUnfit: boolean;
}

export function thrown(error: unknown, isUnfit: boolean): Thrown {
  if (!(error instanceof Error)) {
    const [copied] = copies(error) ? [error] : [String(error)];
    return { isThrownBySluiceTask: true, error: copied, name: undefined, properties: {}, isUnfit };
  }
  const properties = Object.fromEntries(Object.entries(error).filter(([, value]) => copies(value)));
  const { message, stack, name } = error;
  const bare = new Error(message, copies(error.cause) ? { cause: error.cause } : {});
  const sent = copies(error) ? error : Object.assign(bare, { stack });
  return { isThrownBySluiceTask: true, error: sent, name, properties, isUnfit };
}

/** The result, or throws what the task has thrown. `caller` stands where `offload` was called. */
export function revive(result: unknown, caller: Error): unknown {
  if (typeof result !== 'object' || result === null || !('isThrownBySluiceTask' in result)) return result;
  const { error, name, properties, isUnfit } = result as Thrown;
  if (isUnfit)
    throw new OffloadError('SLU_OFFLOAD_TASK', error instanceof Error ? error.message : String(error));
  if (!(error instanceof Error)) throw error;
  Object.assign(error, properties);
  if (name !== undefined && error.name !== name) {
    Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  }
  const [, ...frames] = (caller.stack ?? '').split('\n');
  error.stack = [error.stack ?? String(error), '    --- offloaded by ---', ...frames.slice(1)].join('\n');
  throw error;
}

function copies(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
