// The screen after a key, for devices that cannot run the app.
import type { ReactNode } from 'react';
import type { ScreenJson } from '../adopt/json.js';
import { Stage, type StageOptions } from './stage.js';

export interface Press {
  /** Widget that has the focus at the device, as `focus` of its screen says. */
  readonly focus: number;
  readonly key: string;
}

/**
 * Renders an element, gives the focus to the widget that has it at the device, presses and releases the key, and renders what comes of it.
 * Waits for promises that handlers of keys return, as for those that components wait for.
 *
 * @param onError Called with errors of handlers. They go to `reportError` or `console.error` without it.
 */
export async function afterKey(
  element: ReactNode,
  { focus, key }: Press,
  options: StageOptions,
  onError?: (error: unknown) => void,
): Promise<ScreenJson> {
  const { HeadlessSurface } = await import('../surfaces/headless.js');
  const layout = new HeadlessSurface(options);
  const stage = new Stage(options, layout, onError);
  try {
    stage.render(element);
    await stage.settle();
    // The focus moves among places, which come with a frame.
    layout.advance(0);
    const part = stage.parts[focus - 1];
    if (part !== undefined) stage.root.focus(part.id);
    layout.press(key);
    return stage.json(await stage.settle());
  } finally {
    try {
      stage.close();
    } finally {
      layout.destroy();
    }
  }
}
