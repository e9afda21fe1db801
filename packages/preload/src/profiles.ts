/** Answers the gateway's wish for a profile. What takes one is loaded at the first, as most workers never do. */
import type { Control } from './control.js';
import type { FromGateway, Taken } from './messages.js';
import type { Requests } from './requests.js';

/** What the gateway may ask for. */
type Wish = Extract<FromGateway, { readonly type: 'profile' | 'heap' }>;

export function offerProfiles(control: Control, requests: Requests): void {
  let current: AbortController | undefined;
  control.onMessage((said) => {
    if (said.type === 'drop-profile') {
      current?.abort(new Error('nobody waits for it any more'));
      current = undefined;
    }
    if (said.type !== 'profile' && said.type !== 'heap') return;
    const { number } = said;
    if (current !== undefined) {
      control.send({ type: 'profiled', number, error: 'a profile of this worker is being taken already' });
      return;
    }
    const own = (current = new AbortController());
    void take(said, requests, own.signal)
      .then(
        (taken) => control.send({ type: 'profiled', number, taken }),
        (error: unknown) =>
          control.send({
            type: 'profiled',
            number,
            error: error instanceof Error ? error.message : String(error),
          }),
      )
      .finally(() => {
        if (current === own) current = undefined;
      });
  });
}

async function take(wish: Wish, requests: Requests, signal: AbortSignal): Promise<Taken> {
  if (wish.type === 'profile') {
    const { takeProfile } = await import('./profile.js');
    return takeProfile(wish.duration_ms, wish.file, wish.requests ? requests : undefined, signal);
  }
  const { takeHeapProfile } = await import('./heap.js');
  return takeHeapProfile(wish.kind, wish.duration_ms, wish.file, signal);
}
