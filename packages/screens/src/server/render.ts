// The first screen of an app, rendered by a server.
import type { ReactNode } from 'react';
import type { ScreenJson } from '../adopt/json.js';
import { Stage, type StageOptions } from './stage.js';

/** Options of a render on the server: the size of the screen in pixels, a signal, and limits. */
export type RenderScreenOptions = StageOptions;

/**
 * Renders an element to the JSON of a screen, for `showScreen` on a device. It waits for what components suspend on; parts that do not come in time
 * are left as their fallbacks, and the screen is `partial`. Effects do not run. Within `graph.run()` of `@sluice/graph/server` the screen has the values
 * that components have read as its `state`.
 *
 * @throws What the app has thrown and no boundary has caught, a `ScreenLimitError`, or the reason of the signal.
 */
export async function renderScreen(element: ReactNode, options: RenderScreenOptions): Promise<ScreenJson> {
  const stage = new Stage(options);
  try {
    stage.render(element);
    return stage.json(await stage.settle());
  } finally {
    stage.close();
  }
}
