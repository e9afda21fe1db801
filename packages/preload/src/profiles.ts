/** Answers the gateway's wish for a CPU profile. What takes one is loaded at the first, as most workers never do. */
import type { Control } from './control.js';

export function offerProfiles(control: Control): void {
  control.onMessage((said) => {
    if (said.type !== 'profile') return;
    void import('./profile.js')
      .then(({ takeProfile }) => takeProfile(said.duration_ms, said.file))
      .then(
        (profile) => control.send({ type: 'profiled', profile }),
        (error: unknown) =>
          control.send({ type: 'profiled', error: error instanceof Error ? error.message : String(error) }),
      );
  });
}
