// @sluice/screens, on a surface that counts. The driver compiles the view with @sluice/compiler or leaves it.
import { createRoot } from '@sluice/screens';
import { EVENT } from '../../../packages/screens/src/stream/codes.ts';
import { Home } from './view.jsx';

let listener;
let taken = 0;
const surface = {
  width: 1920,
  height: 1080,
  now: () => 0,
  commit(_words, length, strings) {
    taken += length + strings.length;
  },
  listen(to) {
    listener = to;
  },
  requestIdle() {},
};

export function takeBatch() {
  const words = taken;
  taken = 0;
  return words;
}

const event = new Int32Array(5);
let sequence = 0;

/** Mounts the screen. */
export function mount() {
  const root = createRoot(surface);
  root.render(<Home />);
  root.flush();
  return {
    key(name) {
      sequence += 1;
      event[0] = EVENT.KEY;
      event[1] = 0;
      event[2] = sequence;
      event[4] = 0;
      listener(event, 5, [name]);
    },
    unmount() {
      root.unmount();
      root.flush();
    },
  };
}
