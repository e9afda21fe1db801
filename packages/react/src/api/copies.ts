/**
 * The copies of this package in the process, for Sluice's preload: an app may have one by `import` and another by
 * `require`. Without Sluice nobody reads the list.
 */
import { statistics, type Statistics } from './fallback.js';
import { nameFrames, type Frame } from '../facts/frames.js';

interface Copy {
  statistics(): Statistics;
  nameFrames(make: ((name: string) => Frame) | null): void;
}

/** The number changes with the shape of what is in the list. */
const copiesKey = Symbol.for('sluice.react.copies.1');

/** A module that is loaded anew again and again, as by tests, must not make the list grow for ever. */
const COPIES_MAX = 32;

export function register(): void {
  const holder = globalThis as { [copiesKey]?: Copy[] };
  const copies = (holder[copiesKey] ??= []);
  if (copies.length < COPIES_MAX) copies.push({ statistics, nameFrames });
}
