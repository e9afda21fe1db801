/** @jsxRuntime automatic @jsxImportSource react */
/** Starts the app on a surface that shows its first screen already. */
import { type JsonGraph, Model } from '@sluice/graph';
import { httpSource } from '@sluice/graph/browser';
import { createRoot, type ScreenRoot, type Surface } from '@sluice/screens';
import type { PlacedScreen, Shown } from '@sluice/screens/adopt';
import { Root } from './screens/Root.js';

export interface StartOptions {
  /** What the server has rendered, and what shows it; absent where there is none. */
  readonly first?: { readonly placed: PlacedScreen; readonly shown: Shown } | undefined;
  /** Address of the server, without a slash at the end; empty for the page's own. */
  readonly server?: string;
  readonly onAt?: (at: string) => void;
}

export function start(surface: Surface, { first, server = '', onAt }: StartOptions = {}): ScreenRoot {
  const model = new Model({
    source: httpSource(`${server}/model.json`),
    ...(first?.placed.screen.state !== undefined && { cache: first.placed.screen.state as JsonGraph }),
  });
  const root = createRoot(surface, first === undefined ? {} : { adopt: first.shown });
  root.render(
    <Root
      model={model}
      server={server}
      {...(first !== undefined && { at: first.placed.at })}
      {...(onAt !== undefined && { onAt })}
    />,
  );
  return root;
}
