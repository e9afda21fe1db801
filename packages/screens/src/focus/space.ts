// Stops by their places on the screen.
import type { Direction, FocusNode } from './node.js';

interface Place {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * Place of a widget, with the shifts of its own styles and of those above it: so the scrolled content of a list counts where it is seen.
 * An area without a place of its own has that of what is below it.
 */
export function placeOf(node: FocusNode): Place | undefined {
  if (Number.isNaN(node.x)) return around(node);
  let left = node.x;
  let top = node.y;
  for (let each: FocusNode | null = node; each !== null; each = each.parent) {
    const { style, staticStyle } = each.props;
    left += style?.x ?? staticStyle?.x ?? 0;
    top += style?.y ?? staticStyle?.y ?? 0;
  }
  return { left, top, right: left + node.width, bottom: top + node.height };
}

function around(node: FocusNode): Place | undefined {
  let place: Place | undefined;
  for (const child of node.children) {
    const each = placeOf(child);
    if (each === undefined) continue;
    place =
      place === undefined
        ? each
        : {
            left: Math.min(place.left, each.left),
            top: Math.min(place.top, each.top),
            right: Math.max(place.right, each.right),
            bottom: Math.max(place.bottom, each.bottom),
          };
  }
  return place;
}

/** A place that is across from the way counts so much more than one that is further along it. */
const ACROSS = 2;

/**
 * Nearest stop in a direction, null if none lies there. `inLine`: to the left and right only stops of the same line, and up and down the nearest line.
 */
export function nearestTowards(
  from: FocusNode,
  stops: readonly FocusNode[],
  direction: Direction,
  inLine: boolean,
): FocusNode | null {
  const start = placeOf(from);
  if (start === undefined) return null;
  let best: FocusNode | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const stop of stops) {
    const place = stop === from ? undefined : placeOf(stop);
    if (place === undefined) continue;
    const cost = costOf(
      turned(start, direction),
      turned(place, direction),
      inLine && (direction === 'left' || direction === 'right'),
    );
    if (cost < least) {
      least = cost;
      best = stop;
    }
  }
  return best;
}

/** Nearest stop by the distance of middles: along the axis that counts for an area entered from outside. */
export function nearest(from: FocusNode, stops: readonly FocusNode[]): FocusNode | null {
  const start = placeOf(from);
  if (start === undefined) return null;
  let best: FocusNode | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const stop of stops) {
    const place = placeOf(stop);
    if (place === undefined) continue;
    const distance = Math.hypot(
      place.left + place.right - start.left - start.right,
      place.top + place.bottom - start.top - start.bottom,
    );
    if (distance < least) {
      least = distance;
      best = stop;
    }
  }
  return best;
}

/** The place seen so that the way goes to the right. */
function turned({ left, top, right, bottom }: Place, direction: Direction): Place {
  switch (direction) {
    case 'right':
      return { left, top, right, bottom };
    case 'left':
      return { left: -right, top, right: -left, bottom };
    case 'down':
      return { left: top, top: left, right: bottom, bottom: right };
    case 'up':
      return { left: -bottom, top: left, right: -top, bottom: right };
  }
}

/** Cost of a way to the right; infinite for a place that does not lie there. */
function costOf(start: Place, place: Place, sameLine: boolean): number {
  const isThere =
    place.left + place.right > start.left + start.right &&
    place.left > start.left &&
    place.right > start.right;
  if (!isThere) return Number.POSITIVE_INFINITY;
  const along = Math.max(place.left - start.right, 0);
  const gap = Math.max(place.top - start.bottom, start.top - place.bottom);
  if (sameLine && gap >= 0) return Number.POSITIVE_INFINITY;
  const middles = Math.abs(place.top + place.bottom - start.top - start.bottom) / 2;
  // What lies in the way comes before what lies beside it; of those equally far the one whose middle is nearer.
  return along + ACROSS * Math.max(gap, 0) + middles / 1000;
}
