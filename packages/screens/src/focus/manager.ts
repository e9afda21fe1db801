// Focus: which widget has it, and where it goes. It works on the tree of widgets alone: a move renders no component.
import { PHASE } from '../stream/events.js';
import { type KeyEvent, KeyPress } from './key.js';
import {
  type Direction,
  type FocusArea,
  type FocusNode,
  type FocusProps,
  areaAbove,
  canHaveFocus,
  isInside,
  isStop,
} from './node.js';
import { edgeBelow, neighbour, stopsOf } from './order.js';
import { Places } from './places.js';
import { ENTER, type Later, LongPress, RepeatLimit, later } from './press.js';
import { nearest, nearestTowards } from './space.js';
import { Trail } from './trail.js';

export interface FocusCommands {
  /** Gives the focus to a widget, 0 for none. */
  focus(id: number): void;
  /** Lets the surface tell of the widget's place, or no longer. */
  reports(node: FocusNode, on: boolean): void;
  /** Takes the error of a handler. */
  failed(error: unknown): void;
}

const DIRECTIONS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};
const AXIS = { left: 'row', right: 'row', up: 'column', down: 'column' } as const;
const IS_BACK = { left: true, right: false, up: true, down: false } as const;
/** The root is a column. */
const ROOT: FocusArea = { direction: 'column' };

/** A widget with `focused`, and the one that had the focus before. */
interface Declared {
  readonly node: FocusNode;
  before: FocusNode | null;
}

export class FocusManager {
  readonly #root: FocusNode;
  readonly #send: FocusCommands;
  /** Widgets by themselves, not by number: a root that takes a screen over gives its widgets other numbers. */
  readonly #nodes = new Set<FocusNode>();
  readonly #places: Places;
  readonly #declared: Declared[] = [];
  readonly #press: LongPress;
  readonly #limit = new RepeatLimit();
  #focused: FocusNode | null = null;
  /** Widget that gets the focus at the end of the commit. */
  #wanted: FocusNode | null = null;
  readonly #trail = new Trail();
  #isStale = false;
  /** Whether `onFocus` and `onBlur` are called. */
  tells = true;

  /** @param run runs a long press later; `setTimeout` by default. */
  constructor(root: FocusNode, send: FocusCommands, run: Later = later) {
    this.#root = root;
    this.#send = send;
    this.#places = new Places(send.reports.bind(send));
    this.#press = new LongPress(run);
  }

  /** Widget that has the focus. */
  get focused(): FocusNode | null {
    return this.#focused;
  }

  attach(node: FocusNode): void {
    this.#nodes.add(node);
    this.#places.attach(node);
    this.#isStale = true;
    if (node.props.focused === true) this.#declare(node);
  }

  detach(node: FocusNode): void {
    this.#nodes.delete(node);
    this.#places.detach(node);
    this.#isStale = true;
    this.#revoke(node);
    for (const declared of this.#declared) if (declared.before === node) declared.before = null;
  }

  changed(node: FocusNode, before: FocusProps): void {
    this.#isStale = true;
    this.#places.changed(node, before);
    const { focused } = node.props;
    if (focused === before.focused) return;
    if (focused === true) this.#declare(node);
    else this.#revoke(node);
  }

  /** Ends a commit: the focus is on a widget that can have it, if there is one. */
  settle(): void {
    const wanted = this.#wanted;
    this.#wanted = null;
    if (wanted === null || !this.focus(wanted)) {
      if (this.#focused === null) this.#move(this.#nodes.size === 0 ? null : this.#first());
      else if (!this.#isValid(this.#focused))
        this.#move(this.#trail.back((node) => this.#settled(node)) ?? this.#first());
    }
    if (!this.#isStale) return;
    this.#isStale = false;
    if (this.#focused !== null) this.#trail.note(this.#focused);
    this.#places.settle();
  }

  /** Gives the focus to a widget; false if it cannot have it. An area passes it on to one of its own. */
  focus(node: FocusNode): boolean {
    const target = this.#settled(node);
    if (target !== null) this.#move(target);
    return target !== null;
  }

  key(event: KeyEvent): void {
    if (event.phase === PHASE.REPEATED && this.#limit.isTooSoon(event)) return;
    this.#limit.note(event);
    if (event.key !== ENTER || !this.#press.takes(event, this)) this.short(event);
  }

  /** Notes that the last key has led to a batch. */
  sent(): void {
    this.#limit.sent();
  }

  /** Notes that the batch of a key is on the screen. Repeats wait for that from the first call on. */
  drawn(cause: number): void {
    this.#limit.drawn(cause);
  }

  /** Moves the focus in a direction; false if nothing lies there. */
  navigate(direction: Direction): boolean {
    const from = this.#focused;
    if (from === null) return false;
    for (let stop = from; ;) {
      const area = areaAbove(stop) ?? this.#root;
      const next = this.#next(stop, area, direction);
      const target: FocusNode | null = next && this.#resolve(next, from, direction);
      if (target !== null && target !== from) {
        this.#move(target);
        return true;
      }
      if (area.props.focusArea?.trap === true || area === this.#root) return false;
      stop = area;
    }
  }

  /** Whether a widget from the one with the focus upward has `onLongPress`. */
  get awaitsLong(): boolean {
    return this.#bubble((props) => typeof props.onLongPress === 'function');
  }

  /** Ends a long press. */
  long(event: KeyEvent): void {
    this.#bubble((props) => isUsed(event, props.onLongPress));
  }

  /** Ends a key that is no long press. */
  short(event: KeyEvent): void {
    const isReleased = event.phase === PHASE.RELEASED;
    for (let node: FocusNode | null = this.#focused ?? this.#root; node !== null; node = node.parent) {
      const handler = isReleased ? node.props.onKeyUp : node.props.onKey;
      if (isUsed(event, handler)) return;
    }
    if (isReleased) return;
    const direction = DIRECTIONS[event.key];
    if (direction !== undefined) this.navigate(direction);
  }

  #next(stop: FocusNode, area: FocusNode, direction: Direction): FocusNode | null {
    const { direction: of, wrap } = area.props.focusArea ?? ROOT;
    if (of === 'grid' || of === 'spatial') {
      const others = stopsOf(area).filter((each) => each !== stop);
      return nearestTowards(this.#focused ?? stop, others, direction, of === 'grid');
    }
    if (of !== AXIS[direction]) return null;
    const isBack = IS_BACK[direction];
    return neighbour(stop, area, isBack) ?? (wrap === true ? edgeBelow(area, isBack) : null);
  }

  /** Whether it holds for a widget from the one with the focus upward; it is asked no further then. */
  #bubble(holds: (props: FocusProps) => boolean): boolean {
    for (let node: FocusNode | null = this.#focused ?? this.#root; node !== null; node = node.parent)
      if (holds(node.props)) return true;
    return false;
  }

  #declare(node: FocusNode): void {
    this.#declared.push({ node, before: this.#wanted ?? this.#focused });
    this.#wanted = node;
  }

  /** The focus goes back to where it was, unless it has gone elsewhere since. */
  #revoke(node: FocusNode): void {
    const index = this.#declared.findIndex((declared) => declared.node === node);
    if (index === -1) return;
    const [{ before }] = this.#declared.splice(index, 1) as [Declared];
    for (const declared of this.#declared) if (declared.before === node) declared.before = before;
    const now = this.#wanted ?? this.#focused;
    if (now !== null && isInside(now, node)) this.#wanted = before;
  }

  #numbered(id: number): FocusNode | null {
    for (const node of this.#nodes) if (node.id === id) return node;
    return null;
  }

  #isValid(node: FocusNode): boolean {
    return this.#nodes.has(node) && canHaveFocus(node);
  }

  #first(): FocusNode | null {
    return this.#enter(this.#root, null, undefined);
  }

  /** Widget that a widget passes the focus on to; null if that one cannot have it. */
  #settled(node: FocusNode): FocusNode | null {
    const target = this.#resolve(node, null, undefined);
    return target !== null && this.#isValid(target) ? target : null;
  }

  #resolve(node: FocusNode, from: FocusNode | null, direction: Direction | undefined): FocusNode | null {
    if (node.props.focusArea !== undefined) {
      const inside = this.#enter(node, from, direction);
      if (inside !== null) return inside;
    }
    if (isStop(node.props)) return node;
    const below = node.props.focusArea === undefined ? edgeBelow(node, false) : null;
    return below && this.#resolve(below, from, direction);
  }

  /** Widget of an area that gets the focus when it comes from outside. */
  #enter(area: FocusNode, from: FocusNode | null, direction: Direction | undefined): FocusNode | null {
    const { direction: of, enter, remember } = area.props.focusArea ?? ROOT;
    if (typeof enter === 'function') {
      const chosen = this.#numbered(enter()?.id ?? 0);
      const stop = chosen !== null && chosen !== area && isInside(chosen, area) ? chosen : null;
      const target = stop && this.#resolve(stop, from, direction);
      if (target !== null && this.#isValid(target)) return target;
    } else if (enter !== 'first' && enter !== 'nearest' && remember !== false) {
      const last = area.focus as FocusNode | null | undefined;
      if (last && isInside(last, area) && this.#isValid(last)) return last;
    }
    const isPlaced = of === 'grid' || of === 'spatial';
    if (from !== null && (enter === 'nearest' || (enter === undefined && isPlaced))) {
      const stop = nearest(from, stopsOf(area));
      if (stop !== null) return this.#resolve(stop, from, direction);
    }
    const isLast =
      enter === undefined && direction !== undefined && of === AXIS[direction] && IS_BACK[direction];
    const stop = edgeBelow(area, isLast);
    return stop && this.#resolve(stop, from, direction);
  }

  #move(target: FocusNode | null): void {
    const before = this.#focused;
    if (target === before) return;
    this.#focused = target;
    this.#press.cancel();
    this.#send.focus(target?.id ?? 0);
    if (target !== null) {
      this.#trail.note(target);
      for (let node = target.parent; node !== null; node = node.parent)
        if (node.props.focusArea !== undefined) node.focus = target;
    }
    // Handlers come last: what they do to the focus counts.
    if (!this.tells) return;
    if (before !== null && this.#nodes.has(before)) this.#tell(before.props.onBlur);
    if (target !== null && this.#focused === target) this.#tell(target.props.onFocus);
  }

  /** Calls a handler. Its error is one of an event: it stops no commit. */
  #tell(handler: (() => void) | null | undefined): void {
    if (typeof handler !== 'function') return;
    try {
      handler();
    } catch (error) {
      this.#send.failed(error);
    }
  }
}

function isUsed(event: KeyEvent, handler: ((event: KeyEvent) => unknown) | undefined): boolean {
  if (typeof handler !== 'function') return false;
  const result = handler(event);
  if (typeof result === 'object' && result !== null && event instanceof KeyPress) event.returned(result);
  return result === true || event.defaultPrevented;
}
