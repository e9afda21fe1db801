/** Errors of offloaded tasks: those of the pool, and how those of a task come across threads. */

export type OffloadCode =
  | 'SLU_OFFLOAD_QUEUE'
  | 'SLU_OFFLOAD_TIMEOUT'
  | 'SLU_OFFLOAD_LEFT'
  | 'SLU_OFFLOAD_TASK'
  | 'SLU_OFFLOAD_THREAD'
  | 'SLU_OFFLOAD_MEMORY'
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

/** Error for arguments or a result that cannot be copied; `error` is that of the copy. */
export function copyFailed(what: 'the arguments' | 'the result', error: unknown): OffloadError {
  const words = error instanceof Error ? error.message : String(error);
  return new OffloadError(
    'SLU_OFFLOAD_COPY',
    `${what} of an offloaded task cannot be copied between threads; use plain data, without functions (${words})`,
    { cause: error },
  );
}

/** Error for a task whose thread could not be started, or ended under it. */
export function threadLost(what: 'could not be started' | 'ended', error: unknown): OffloadError {
  const words = error instanceof Error ? error.message : String(error);
  return new OffloadError('SLU_OFFLOAD_THREAD', `the thread of an offloaded task ${what}: ${words}`, {
    cause: error,
  });
}

/** Error for a task whose thread had no memory left. `heap_mb_max` is the limit in MiB, Infinity for that of Node.js. */
export function memoryExceeded(heap_mb_max: number, error: unknown): OffloadError {
  const limit = Number.isFinite(heap_mb_max)
    ? `${heap_mb_max} MiB, set by heap_mb_max`
    : 'the limit of Node.js, as heap_mb_max is not set';
  return new OffloadError(
    'SLU_OFFLOAD_MEMORY',
    `an offloaded task needed more heap than its thread may have (${limit}), so the thread was stopped; other tasks continue. Give the task less work at once, or raise heap_mb_max with configureOffload()`,
    { cause: error },
  );
}

/** Error that a task has thrown. A copy of an error keeps message, stack and cause alone. */
export interface Thrown {
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
    return { error: copied, name: undefined, properties: {}, isUnfit };
  }
  const properties = Object.fromEntries(Object.entries(error).filter(([, value]) => copies(value)));
  const { message, stack, name } = error;
  const bare = new Error(message, copies(error.cause) ? { cause: error.cause } : {});
  const sent = copies(error) ? error : Object.assign(bare, { stack });
  return { error: sent, name, properties, isUnfit };
}

/** Returns what the caller is to throw. `caller` stands where `offload` was called. */
export function revive({ error, name, properties, isUnfit }: Thrown, caller: Error): unknown {
  if (isUnfit)
    return new OffloadError('SLU_OFFLOAD_TASK', error instanceof Error ? error.message : String(error));
  if (!(error instanceof Error)) return error;
  Object.assign(error, properties);
  if (name !== undefined && error.name !== name) {
    Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  }
  const [, ...frames] = (caller.stack ?? '').split('\n');
  error.stack = [error.stack ?? String(error), '    --- offloaded by ---', ...frames.slice(1)].join('\n');
  return error;
}

function copies(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
