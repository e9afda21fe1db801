/** Results that move to the caller instead of being copied. */
import type { MessagePort } from 'node:worker_threads';

type Movable = ArrayBuffer | ArrayBufferView<ArrayBuffer> | MessagePort;

/** Other copies of this module find it too. */
const key = Symbol.for('sluice.offload.moved');

class Result {
  readonly [key]: Movable;

  constructor(value: Movable) {
    this[key] = value;
  }
}

/** Marks the result of a task: a buffer, a view of one, or a port moves to the caller. To be returned by the task itself. */
export function move<T extends Movable>(value: T): T {
  return new Result(value) as unknown as T;
}

export interface Sent {
  readonly value: unknown;
  readonly transfer: (ArrayBuffer | MessagePort)[];
}

export function movedOf(result: unknown): Sent {
  if (typeof result !== 'object' || result === null || !(key in result))
    return { value: result, transfer: [] };
  const value = (result as Result)[key];
  return { value, transfer: [ArrayBuffer.isView(value) ? value.buffer : value] };
}
