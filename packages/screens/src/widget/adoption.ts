/** Adoption: the seam by which a root takes over the widgets of a screen that the surface shows already. */
import type { EventListener, Surface } from '../surfaces/surface.js';
import type { Styles } from './styles.js';
import { INNER, type WidgetNode } from './node.js';

/** Batch that the surface gets, and the numbers by which it knows widgets and styles, by those that the root has given. */
export interface Taken {
  readonly words: Int32Array;
  readonly length: number;
  readonly strings: readonly string[];
  readonly widgets: ReadonlyMap<number, number>;
  readonly styles: ReadonlyMap<number, number>;
  /** Numbers from which on the surface has none. */
  readonly nextWidget: number;
  readonly nextStyle: number;
}

/** A screen that a surface shows: `showScreen` of `@sluice/screens/adopt` makes one. */
export interface Adoptable {
  /** Takes a root's first batch and returns what of it the surface lacks. */
  take(words: Int32Array, length: number, strings: readonly string[]): Taken;
  /** Gives the surface's events to the listener, those that came before as well. */
  release(surface: Surface, listener: EventListener): void;
}

/** Gives widgets and styles the numbers by which the surface knows them. Returns the numbers of widgets below the next one that are free. */
export function renumber(
  widgets: (WidgetNode | undefined)[],
  styles: Styles,
  { widgets: numbers, styles: ofStyles, nextWidget, nextStyle }: Taken,
): number[] {
  const before = widgets.slice(1);
  widgets.length = 1;
  for (let id = 1; id < nextWidget; id++) widgets.push(undefined);
  for (const widget of before) {
    if (widget === undefined || widget === INNER) continue;
    widget.id = numberOf(numbers, widget.id);
    widgets[widget.id] = widget;
    if (widget.inner === null) continue;
    widget.inner = widget.inner.map((inner) => numberOf(numbers, inner));
    for (const inner of widget.inner) widgets[inner] = INNER;
  }
  styles.renumber(ofStyles, nextStyle);
  const free: number[] = [];
  for (let id = nextWidget - 1; id > 0; id--) if (widgets[id] === undefined) free.push(id);
  return free;
}

function numberOf(numbers: ReadonlyMap<number, number>, id: number): number {
  const known = numbers.get(id);
  if (known === undefined) throw new Error(`Widget ${id} is not on the surface`);
  return known;
}
