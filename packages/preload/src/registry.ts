/** Where the preload and the package that an app imports meet: they are two instances of the same files. */
import type { FinishedRequest, Hook, Unsubscribe } from './api.js';

export interface Registry {
  addBefore(hook: Hook): Unsubscribe;
  addAfter(hook: Hook<FinishedRequest>): Unsubscribe;
  addReset(hook: Hook): Unsubscribe;
}

/** The number changes with the registry's shape: another version then finds none, instead of one it does not know. */
export const registryKey = Symbol.for('sluice.preload.hooks.1');
