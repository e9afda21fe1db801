/**
 * Keeps messages about loaded modules from the app. Loaders of processes that the app forks take the fork's channel for
 * that of `node --watch`, and apps do not know such messages. The gateway is told of these files like of all others.
 */
import { ChildProcess } from 'node:child_process';
import type { TakeLoaded } from '../host/loaded.js';

type Emit = (this: ChildProcess, event: string | symbol, ...values: unknown[]) => boolean;

export function takeFromForks(take: TakeLoaded): void {
  const emit = ChildProcess.prototype.emit as Emit;
  const emitOthers: Emit = function (event, ...values) {
    if (event === 'message' && take(values[0])) return true;
    return emit.call(this, event, ...values);
  };
  Object.assign(ChildProcess.prototype, { emit: emitOthers });
}
