/** Meeting point of the preload and the package that an app imports: they are two instances of the same files. */
import type { FinishedRequest, Hook, Pages, Unsubscribe } from '../api.js';

export interface Registry {
  addBefore(hook: Hook): Unsubscribe;
  addAfter(hook: Hook<FinishedRequest>): Unsubscribe;
  addReset(hook: Hook): Unsubscribe;
}

/** Purges pages of the gateway. */
export type Purge = (pages: Pages) => Promise<number>;

/** Symbol of that function. `@sluice/react` looks for it as well. */
export const purgeKey = Symbol.for('sluice.preload.purge.1');

/** Symbol of the channel between workers. */
export const channelKey = Symbol.for('sluice.preload.channel.1');

/** The number changes with the registry's shape: another version then finds none, instead of one it does not know. */
export const registryKey = Symbol.for('sluice.preload.hooks.1');
