// Looks at something again and again while something else runs.

export interface Sampler<T> {
  samples: { at_ms: number; value: T }[];
  stop(): Promise<void>;
}

/** Calls `look` every `everyMs` until stopped. A look that fails is left out, because the process may have exited. */
export function sample<T>(look: () => T | Promise<T>, everyMs: number): Sampler<T> {
  const samples: { at_ms: number; value: T }[] = [];
  const started = performance.now();
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      try {
        const at_ms = performance.now() - started;
        samples.push({ at_ms, value: await look() });
      } catch {
        // Left out.
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  };
  const running = loop();
  return {
    samples,
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}
