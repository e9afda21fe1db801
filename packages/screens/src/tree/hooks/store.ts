/** External stores: useSyncExternalStore. */
import { SYNC } from '../lanes.js';
import type { Node } from '../node.js';
import { markUpdate } from '../schedule.js';
import { FIRE, STORE, STRIDE, at, next } from './cursor.js';
import { mountEffect, updateEffect, updateEffectIf, type Create } from './effects.js';

type Subscribe = (changed: () => void) => (() => void) | void;
type GetSnapshot = () => unknown;

class StoreInstance {
  value: unknown;
  getSnapshot: GetSnapshot;

  constructor(value: unknown, getSnapshot: GetSnapshot) {
    this.value = value;
    this.getSnapshot = getSnapshot;
  }
}

function check(node: Node, store: StoreInstance): void {
  try {
    if (Object.is(store.value, store.getSnapshot())) return;
  } catch {
    // The render meets the same error, where a boundary can catch it.
  }
  markUpdate(node, null, SYNC);
}

function subscription(node: Node, store: StoreInstance, subscribe: Subscribe): Create {
  return () => subscribe(() => check(node, store));
}

function taking(node: Node, store: StoreInstance, value: unknown, getSnapshot: GetSnapshot): Create {
  return () => {
    store.value = value;
    store.getSnapshot = getSnapshot;
    check(node, store);
  };
}

export function mountStore(subscribe: Subscribe, getSnapshot: GetSnapshot): unknown {
  const value = getSnapshot();
  const store = new StoreInstance(value, getSnapshot);
  at.index += STRIDE;
  at.hooks.push(STORE, value, store, null);
  const { node } = at;
  mountEffect(subscription(node, store, subscribe), [subscribe]);
  mountEffect(taking(node, store, value, getSnapshot), null);
  return value;
}

export function updateStore(subscribe: Subscribe, getSnapshot: GetSnapshot): unknown {
  const index = next(STORE);
  const { hooks, node } = at;
  const value = getSnapshot();
  const store = hooks[index + 2] as StoreInstance;
  const changed = !Object.is((at.before ?? hooks)[index + 1], value);
  if (changed) {
    hooks[index + 1] = value;
    at.received = true;
  }
  const subscriptionIndex = at.index;
  updateEffect(subscription(node, store, subscribe), [subscribe]);
  const subscribes = ((hooks[subscriptionIndex] as number) & FIRE) !== 0;
  updateEffectIf(
    changed || subscribes || store.getSnapshot !== getSnapshot,
    taking(node, store, value, getSnapshot),
  );
  return value;
}
