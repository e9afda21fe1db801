/**
 * Tells the gateway of an exception that nothing caught, with the request that was served then: a moment later nobody is left who
 * knows. What becomes of the exception is the app's and Node's own affair.
 */
import { isNativeError } from 'node:util/types';
import type { Control } from './control.js';
import { cpuUs, type OwnCpu } from '../cpu/own-cpu.js';
import { idOf } from '../requests/peer.js';

/** The gateway keeps no more of it. */
const CHARACTERS_MAX = 300;

export function tellThrown(control: Control, cpu: OwnCpu): void {
  process.on('uncaughtExceptionMonitor', (thrown: unknown) => {
    const { running } = cpu;
    const id = running === undefined ? undefined : idOf(running.label);
    // A small line to a unix socket still goes out while the process exits.
    control.send({
      type: 'threw',
      text: firstLine(thrown),
      cpu_us_total: cpuUs(),
      ...(id !== undefined && { id }),
    });
  });
}

/** Anything can be thrown, and its properties may throw in turn. */
export function firstLine(thrown: unknown): string {
  try {
    const isError = isNativeError(thrown) || thrown instanceof Error;
    const text = isError ? `${cut(thrown.name)}: ${cut(thrown.message)}` : `thrown: ${cut(thrown)}`;
    return cut(text.split('\n', 1)[0]);
  } catch {
    return 'an exception that cannot be read';
  }
}

function cut(text: unknown): string {
  return String(text).slice(0, CHARACTERS_MAX);
}
