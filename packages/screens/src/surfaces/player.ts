import { VERSION } from '../stream/codes.js';
import type { Surface } from './surface.js';

export type { Surface } from './surface.js';

/** The native player's surface, which it puts into the engine before the app's bundle runs. */
export interface PlayerSurface extends Surface {
  /** Version of the stream. */
  readonly version: number;
}

/**
 * Surface of the native player that runs this bundle.
 *
 * @throws {Error} if no player runs it, or one with another version of the stream.
 */
export function playerSurface(): PlayerSurface {
  const { sluiceSurface: surface } = globalThis as { readonly sluiceSurface?: PlayerSurface };
  if (surface === undefined)
    throw new Error(
      'No player runs this bundle: globalThis.sluiceSurface is missing. In a browser, use browserSurface() of @sluice/screens/browser.',
    );
  if (surface.version !== VERSION)
    throw new Error(
      `The player has version ${surface.version} of the stream, this bundle has ${VERSION}. Build the bundle for the player's version.`,
    );
  return surface;
}
