/** @jsxRuntime automatic @jsxImportSource react */
/** The app in the native player. It begins with the screen that the server has rendered, and by itself where that does not come. */
// oxlint-disable-next-line import/no-unassigned-import -- fills in what the engine lacks
import './engine.js';
import { type PlacedScreen, showScreen } from '@sluice/screens/adopt';
import { playerSurface } from '@sluice/screens/player';
import { start, type StartOptions } from './start.js';

/** Address of the server; the build puts it in. */
declare const LIVING_ROOM_SERVER: string;

const surface = playerSurface();

async function firstScreen(): Promise<StartOptions['first']> {
  const answer = await fetch(`${LIVING_ROOM_SERVER}/screen?server=${encodeURIComponent(LIVING_ROOM_SERVER)}`);
  if (!answer.ok) throw new Error(`The server answered with ${answer.status}`);
  const placed = (await answer.json()) as PlacedScreen;
  return { placed, shown: showScreen(surface, placed.screen) };
}

void firstScreen()
  .catch((error: unknown) => {
    console.error('The first screen did not come from the server:', error);
    return undefined;
  })
  .then((first) => start(surface, { first, server: LIVING_ROOM_SERVER }));
