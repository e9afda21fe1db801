// Memory of the program, with its first screen, and after keys, in a process of its own. Prints one line of JSON.
import { mount } from 'app';
import { takeBatch } from 'batch';

const KEYS = 200;

/** Bytes of the heap once nothing is left to free, and its objects where the engine counts them; undefined where it does not tell. */
function heap() {
  if (typeof gc !== 'function') return undefined;
  // Twice: what finalizers let go is freed by the second.
  gc();
  gc();
  if (typeof heapObjects === 'function') return { bytes: sluiceSurface.heapBytes(), objects: heapObjects() };
  if (typeof gcHeapSize === 'function') return { bytes: gcHeapSize() };
  return typeof process.memoryUsage === 'function' ? { bytes: process.memoryUsage().heapUsed } : undefined;
}

// JavaScriptCore's shell has no timers, and so no pause in which renderers clean up.
function pause(next) {
  if (typeof preciseTime === 'function') next();
  else setTimeout(() => next(), 50);
}

pause(() => {
  const program = heap();
  const screen = mount();
  takeBatch();
  pause(() => {
    const first = heap();
    for (let at = 0; at < KEYS; at += 1) {
      screen.key(at % 38 < 19 ? 'ArrowRight' : 'ArrowLeft');
      takeBatch();
    }
    pause(() => {
      const line = JSON.stringify({ program, first, keys: heap() });
      // Behind the last figure: what nothing refers to any more would be gone.
      screen.unmount();
      if (typeof print === 'function') print(line);
      else console.log(line);
    });
  });
});
