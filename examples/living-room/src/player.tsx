/** @jsxRuntime automatic @jsxImportSource react */
/** The app in the native player. It begins with the screen that the server has rendered, and by itself where that does not come. */
// oxlint-disable-next-line import/no-unassigned-import -- fills in what the engine lacks
import './engine.js';
import { type PlacedScreen, showScreen } from '@sluice/screens/adopt';
import { playerSurface } from '@sluice/screens/player';
import { start, type StartOptions } from './start.js';

const surface = playerSurface();

/** Address of the server, from a file beside the bundle: the build writes it, and `start.sh` for the port that it gets. */
async function serverAddress(): Promise<string> {
  const answer = await fetch('server.json');
  return ((await answer.json()) as { readonly server: string }).server;
}

async function firstScreen(server: string): Promise<StartOptions['first']> {
  const answer = await fetch(`${server}/screen?server=${encodeURIComponent(server)}`);
  if (!answer.ok) throw new Error(`The server answered with ${answer.status}`);
  const placed = (await answer.json()) as PlacedScreen;
  return { placed, shown: showScreen(surface, placed.screen) };
}

async function run(): Promise<void> {
  const server = await serverAddress();
  const first = await firstScreen(server).catch((error: unknown) => {
    console.error('The first screen did not come from the server:', error);
    return undefined;
  });
  start(surface, { first, server });
}

void run();
