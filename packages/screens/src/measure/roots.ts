import type { Measures, Probe } from './probe.js';

const probes = new WeakMap<object, Probe>();

export function keepProbe(root: object, probe: Probe): void {
  probes.set(root, probe);
}

/** @throws {TypeError} if it is no root of `createRoot`. */
export function probeOf(root: object): Probe {
  const probe = probes.get(root);
  if (probe === undefined) throw new TypeError('measures are of a root that createRoot has returned');
  return probe;
}

/** Measures of a root, or of the screen that it shows now. Always on; times are in milliseconds. */
export const measures = (root: object): Measures => probeOf(root).measures();
