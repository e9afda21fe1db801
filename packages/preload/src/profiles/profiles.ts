/** Answers the gateway's wish for a profile, or for the routes. What does it is loaded at the first, as most workers never do. */
import type { Control } from '../control/control.js';
import type { FromGateway, ProfileRecord } from '../control/messages.js';
import { closeInspector } from './inspector-session.js';
import type { Ends } from './lasting.js';
import { nextTurn } from '../timers.js';
import type { Requests } from '../requests/requests.js';
import type { Routers } from '../routes/routers.js';

/** Wish of the gateway. */
type Wish = Extract<FromGateway, { readonly type: 'profile' | 'heap' | 'routes' }>;

/** `standsStill` is called when the process is about to do so for a wish. */
export function offerProfiles(
  control: Control,
  requests: Requests,
  routers: Routers,
  standsStill: () => void,
): void {
  let current: { readonly cancel: AbortController; readonly exit: AbortController } | undefined;
  control.onMessage((said) => {
    if (said.type === 'drop-profile') {
      current?.cancel.abort(new Error('the profile was cancelled'));
      current = undefined;
    }
    // The gateway waits a moment for what a worker has gathered until it is replaced.
    if (said.type === 'message' && said.message === 'shutdown') current?.exit.abort();
    if (said.type === 'close-inspector') {
      // Node opens it once more in the turn after the signal, perhaps after this message of the same turn.
      nextTurn(() => {
        closeInspector();
        control.send({ type: 'inspector-closed' });
      });
    }
    if (said.type !== 'profile' && said.type !== 'heap' && said.type !== 'routes') return;
    const { number } = said;
    if (current !== undefined) {
      control.send({ type: 'profiled', number, error: 'this worker is already being profiled' });
      return;
    }
    const own = (current = { cancel: new AbortController(), exit: new AbortController() });
    const ends = { cancelled: own.cancel.signal, exits: own.exit.signal };
    void take(said, requests, routers, standsStill, ends)
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

async function take(
  wish: Wish,
  requests: Requests,
  routers: Routers,
  standsStill: () => void,
  ends: Ends,
): Promise<ProfileRecord> {
  if (wish.type === 'routes') {
    // Before the rest is imported, during which the app may load a router.
    routers.load();
    const { reportRoutes } = await import('../routes/route-report.js');
    return reportRoutes(routers, wish.file, ends.cancelled);
  }
  if (wish.type === 'profile') {
    const { takeProfile } = await import('./profile.js');
    const followed = wish.requests ? requests : undefined;
    return takeProfile(wish.duration_ms, wish.file, followed, standsStill, ends);
  }
  const { takeHeapProfile } = await import('./heap.js');
  return takeHeapProfile(wish.kind, wish.duration_ms, wish.file, standsStill, ends);
}
