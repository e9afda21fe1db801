/** @jsxRuntime automatic @jsxImportSource react */
/**
 * The page in a browser. This part comes first and is small: it draws the screen that is in the page. The app follows, and takes the screen over. A
 * browser that cannot read the app's syntax stays with screens from the server, as `?remote` makes any browser do.
 */
import {
  type KeyQuery,
  type PlacedScreen,
  remoteScreens,
  showScreen,
  understands,
} from '@sluice/screens/adopt';
import { browserSurface } from '@sluice/screens/browser';

const parent = document.querySelector<HTMLElement>('#screen') ?? document.body;
const surface = await browserSurface({
  parent,
  width: 1920,
  height: 1080,
  resolution: 1,
  background: 0x0c0f17,
});
const placed = JSON.parse(
  document.querySelector('#first-screen')?.textContent ?? 'null',
) as PlacedScreen | null;
const isRemote = new URLSearchParams(location.search).has('remote');

if (placed !== null && (isRemote || !understands('class A { #b = 1n; static { a?.b ?? (c ||= 2) } }'))) {
  remoteScreens(surface, placed, {
    ask,
    onError: (error) => console.error('The screen after a key did not come:', error),
  });
} else {
  const shown = placed === null ? undefined : showScreen(surface, placed.screen);
  const { start } = await import('./start.js');
  const root = start(surface, {
    first: placed === null || shown === undefined ? undefined : { placed, shown },
    // A reload comes back to the same place.
    onAt: (at) => history.replaceState(null, '', at === '' ? '/' : `/?at=${encodeURIComponent(at)}`),
  });
  Object.assign(globalThis, { livingRoom: { root, surface } });
}

async function ask({ at, focus, key }: KeyQuery): Promise<PlacedScreen> {
  const query = new URLSearchParams({ at, focus: String(focus), key });
  const answer = await fetch(`/screen?${query}`, { method: 'POST' });
  if (!answer.ok) throw new Error(`The server answered with ${answer.status}`);
  return (await answer.json()) as PlacedScreen;
}
