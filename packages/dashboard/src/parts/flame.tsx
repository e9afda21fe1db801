// A flame graph in the page: of a worker now, or of a slow request.
import { type FlameData } from '@sluice/flame/data';
import { showFlame } from '@sluice/flame/view';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FlameWish, Store } from '../feed/store.js';

interface Props {
  wish: FlameWish;
  store: Store;
  close: () => void;
}

/** The dialog that shows one. Closed before it is there, the profile is given up. */
export function Flame({ wish, store, close }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<FlameData | string | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const gone = new AbortController();
    void store.flame(wish, gone.signal).then((drawn) => {
      if (!gone.signal.aborted) setDrawn(drawn);
    });
    return () => gone.abort();
  }, []);
  useEffect(() => {
    if (place.current === null || drawn === null || typeof drawn === 'string') return;
    const end = showFlame(place.current, drawn);
    // Arrow keys move in it at once.
    place.current.querySelector('canvas')?.focus({ preventScroll: true });
    return end;
  }, [drawn]);
  return (
    <dialog ref={dialog} class="wide" onClose={close} aria-labelledby="flame">
      <div class="bar">
        <h2 id="flame">
          Flame graph: {typeof drawn === 'string' || drawn === null ? named(wish) : drawn.title}
        </h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <p role="status">{drawn === null ? waiting(wish) : typeof drawn === 'string' ? drawn : ''}</p>
      <div ref={place} />
    </dialog>
  );
}

function named(wish: FlameWish): string {
  if ('tail' in wish) return `slow request ${wish.tail}`;
  return wish.worker === undefined ? 'all workers' : `worker ${wish.worker}`;
}

function waiting(wish: FlameWish): string {
  if ('tail' in wish) return 'Loading the profile…';
  return `The profile takes ${wish.seconds} s, then a moment to draw. Workers keep serving meanwhile.`;
}
