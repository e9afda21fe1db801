/**
 * Says whether all that the app holds waits, where the gateway cannot see that from outside (elsewhere than on Linux). The
 * gateway asks while requests are queued or a worker holds one for long; until then this costs nothing. It must not know what is done with the answer.
 */
import { performance } from 'node:perf_hooks';
import type { Control } from '../control/control.js';
import { later } from '../timers.js';

/** Time for which the event loop is watched for an answer. */
const WATCH_MS = 2;
/** Maximum busy time in a check at which the event loop counts as waiting. The answer itself takes some. */
const BUSY_MS_MAX = 1;

const active_ms = (): number => performance.eventLoopUtilization().active;

/** `moves`: how many requests the app has been given and has let go so far. */
export function offerLooks(control: Control, moves: () => number): void {
  let told_ms = active_ms();
  let run_ms = 0;
  control.onMessage((said) => {
    if (said.type !== 'look') return;
    const [before_ms, moves_before] = [active_ms(), moves()];
    later(() => {
      const now_ms = active_ms();
      const moved = moves();
      // What the looks themselves take is no work of the app, so that two in a row can find that nothing was done.
      if (now_ms - told_ms >= BUSY_MS_MAX) run_ms += now_ms - told_ms;
      told_ms = now_ms;
      const rests = now_ms - before_ms < BUSY_MS_MAX && moved === moves_before;
      control.send({
        type: 'look',
        rests,
        // A request that came or went is work, however little of it was seen.
        run_us: Math.round(run_ms * 1000) + moved,
        active_us: Math.round(now_ms * 1000),
      });
    }, WATCH_MS).unref();
  });
}
