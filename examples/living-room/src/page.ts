/** The page for browsers, with the first screen in it. */
import type { PlacedScreen } from '@sluice/screens/adopt';
import { renderScreen, type ScreenApp } from '@sluice/screens/server';
import { SCREEN } from './screens/look.js';

/** HTML of the page at a place of the app. `entry` is the address of its script. */
export async function pageOf(app: ScreenApp, at: string, entry: string): Promise<string> {
  const work = (): Promise<PlacedScreen> => placedOf(app, at);
  const placed = await (app.run?.(work) ?? work());
  const json = JSON.stringify(placed).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Tidewick</title>
    <link rel="icon" href="data:,">
    <link rel="modulepreload" href="${entry}">
    <style>
      html, body { height: 100%; margin: 0; background: #0c0f17; overflow: hidden; }
      body { display: grid; place-items: center; }
      canvas { width: min(100vw, 177.78vh) !important; height: auto !important; }
    </style>
  </head>
  <body>
    <div id="screen"></div>
    <script type="application/json" id="first-screen">${json}</script>
    <script type="module" src="${entry}"></script>
  </body>
</html>
`;
}

async function placedOf(app: ScreenApp, at: string): Promise<PlacedScreen> {
  return {
    at,
    screen: await renderScreen(
      app.render(at, () => undefined),
      SCREEN,
    ),
  };
}
