/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** createRoot: a tree of React elements on a surface. */
import { type ReactNode, createElement } from 'react';
import { KeyPress } from './focus/key.js';
import { ProbeContext } from './measure/context.js';
import { Probe } from './measure/probe.js';
import { keepProbe } from './measure/roots.js';
import { EVENT, PROPERTIES, type PropertyName } from './stream/codes.js';
import type { EventListener, Surface } from './surfaces/surface.js';
import { SYNC } from './tree/lanes.js';
import { Root, type RootOptions } from './tree/root.js';
import { batch, flushAll, flushRoot, flushUnmount } from './tree/schedule.js';
import type { Adoptable } from './widget/adoption.js';
import { Output } from './widget/output.js';

export interface Options extends RootOptions {
  /** Screen that the surface shows already; the first render takes its widgets over where place and kind agree. */
  readonly adopt?: Adoptable;
}

export interface ScreenRoot {
  /** Shows an element; rendered in a microtask, or by `flush`. */
  render(element: ReactNode): void;
  /** Removes everything, and runs all cleanups at once; in a render or an effect of any root, right after it. */
  unmount(): void;
  /** Renders all that is due and runs all effects, at once. For tests. Does nothing in a render or an effect. */
  flush(): void;
  /** Gives the focus to a widget by its number at the surface; nothing happens if there is none. */
  focus(id: number): void;
}

const propertyNames = new Map<number, PropertyName>(
  (Object.keys(PROPERTIES) as PropertyName[]).map((name) => [PROPERTIES[name].code, name]),
);

/** Creates a root on a surface. Events of the surface go to its widgets. */
export function createRoot(surface: Surface, options: Options = {}): ScreenRoot {
  const { adopt = null } = options;
  const probe = new Probe(surface);
  const hear: EventListener = (words, length, strings) => listen(root, words, length, strings);
  const release = (): void => adopt?.release(probe, hear);
  const output = new Output(probe, adopt, release, (error) => root.eventFailed(error));
  const root = new Root(probe, output, options);
  if (adopt === null) probe.listen(hear);
  const flush = root.isStill ? (): void => flushRoot(root) : flushAll;
  const screen: ScreenRoot = {
    render(element) {
      root.render(createElement(ProbeContext.Provider, { value: probe }, element));
    },
    unmount() {
      batch(SYNC, root, () => root.render(null));
      root.close();
      flushUnmount(root);
    },
    flush,
    focus(id) {
      const widget = output.widgets[id];
      if (widget !== undefined && id !== 0) output.focus(widget);
    },
  };
  keepProbe(screen, probe);
  return screen;
}

/** Number of words of each event. */
const LENGTHS: readonly number[] = [1, 5, 6, 3, 3, 2, 3, 4];

function listen(root: Root, words: Int32Array, length: number, strings: readonly string[]): void {
  root.output.hear();
  try {
    listenTo(root, words, length, strings);
  } finally {
    root.output.heard();
  }
}

function listenTo(root: Root, words: Int32Array, length: number, strings: readonly string[]): void {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  for (let at = 0; at < length;) {
    const code = words[at]! & 0xff;
    if (code === EVENT.KEY) {
      const { onEventWork } = root.options;
      const phase = words[at + 1]!;
      const sequence = words[at + 2]!;
      key(root, new KeyPress(strings[words[at + 4]!]!, phase, sequence, floats[at + 3]!, onEventWork));
    } else if (code === EVENT.FRAME) root.output.manager.drawn(words[at + 1]!);
    else tell(root, code, at, words, floats);
    at += LENGTHS[code] ?? length;
  }
}

/** Gives a key to the focused widget; what comes of it is rendered and sent before this returns. */
function key(root: Root, event: KeyPress): void {
  const { output } = root;
  output.cause = event.sequence;
  output.busy = true;
  try {
    batch(SYNC, root, () => output.manager.key(event));
  } catch (error) {
    root.eventFailed(error);
  } finally {
    output.busy = false;
    // A move of the focus needs no render.
    output.send();
    output.cause = 0;
  }
}

/** Runs a handler; its error goes where errors of events go. */
function handle(root: Root, run: () => void): void {
  try {
    batch(0, root, run);
  } catch (error) {
    root.eventFailed(error);
  }
}

/** Gives an event to the widget that it is about. */
function tell(root: Root, code: number, at: number, words: Int32Array, floats: Float32Array): void {
  const widget = root.output.widgets[words[at + 1]!];
  if (widget === undefined) return;
  const { props } = widget;
  if (code === EVENT.LAYOUT) {
    widget.x = floats[at + 2]!;
    widget.y = floats[at + 3]!;
    widget.width = floats[at + 4]!;
    widget.height = floats[at + 5]!;
    const { x, y, width, height } = widget;
    if (props.onLayout !== undefined) handle(root, () => props.onLayout!({ x, y, width, height }));
  } else if (code === EVENT.ANIMATION_END) {
    const property = propertyNames.get(words[at + 2]!);
    if (property !== undefined && props.onAnimationEnd !== undefined)
      handle(root, () => props.onAnimationEnd!(property));
  } else if (code === EVENT.IMAGE && props.onImage !== undefined) {
    const state = words[at + 2] === 1 ? 'ready' : 'failed';
    handle(root, () => props.onImage!(state));
  }
}
