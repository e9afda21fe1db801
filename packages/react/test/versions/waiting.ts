/** What waits in a page, with React of any version. */

import type * as ReactModule from 'react';
import type { ReactNode } from 'react';

export type React = typeof ReactModule;

export const never = new Promise<never>(() => undefined);

const settled = new WeakMap<Promise<unknown>, unknown>();

/** React 18 has no `use`: a component throws the promise, and has its value when it is asked again. */
export function awaited(React: React, promise: Promise<ReactNode>): ReactNode {
  if ('use' in React) return React.use(promise);
  if (settled.has(promise)) return settled.get(promise) as ReactNode;
  throw promise.then((value) => void settled.set(promise, value));
}

/** A promise, and what keeps it. */
export function later(): readonly [promise: Promise<never>, came: () => void] {
  let came = (): void => undefined;
  const promise = new Promise<void>((resolve) => (came = resolve));
  return [promise as Promise<never>, () => came()];
}

export const waits = (React: React): (() => ReactNode) => {
  return () => awaited(React, never);
};

export const comes = (React: React): (() => ReactNode) => {
  const came = Promise.resolve('came');
  return () => awaited(React, came);
};

export function within(React: React, fallback: ReactNode, ...content: ReactNode[]): ReactNode {
  return React.createElement(React.Suspense, { fallback }, ...content);
}
