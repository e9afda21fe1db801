// Values of `@sluice/graph` that a render has read. The page's graph is found where that package keeps it, so that neither needs the other.

/** Place at which `@sluice/graph` says which page it is. */
const CURRENT = Symbol.for('sluice.graph.page.1');

interface Page {
  state?(): unknown;
}

/** Values that components have read of the graph of `createPageGraph().run(…)`; undefined outside of one. */
export function currentState(): unknown {
  const holder = globalThis as { [CURRENT]?: () => Page | undefined };
  return holder[CURRENT]?.()?.state?.();
}
