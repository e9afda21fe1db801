// One bad box: what can be wrong with a component of a page.
import { createRemote, type Registry } from '@sluice/render';

export const BAD_BOX = 'Bad';

/**
 * `loops` computes for twice its budget, and cannot be interrupted. The remote service of `remote-down` refuses connections; that of
 * `remote-hangs` takes them and never answers.
 */
export const FAULTS = ['throws', 'loops', 'remote-down', 'remote-hangs'] as const;

const LOOPS_MS = 100;

/** `url`: where a remote component is asked for. The registry needs the adapter of remote components. */
export function registerBad(registry: Registry, fault: string, url: string): void {
  if (fault === 'throws')
    registry.register(BAD_BOX, () => {
      throw new Error('the box is bad');
    });
  else if (fault === 'loops') registry.register(BAD_BOX, loop, { adapter: 'plain', budgetMs: LOOPS_MS / 2 });
  else registry.register(BAD_BOX, createRemote({ url }).component(BAD_BOX));
}

function loop(): string {
  const until_ms = performance.now() + LOOPS_MS;
  while (performance.now() < until_ms);
  return '';
}
