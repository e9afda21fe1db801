// What the focus manager reads of a widget. The renderer's nodes have it.
import type { KeyEvent } from './key.js';

export type Direction = 'left' | 'right' | 'up' | 'down';

/** Rules by which the focus moves among the widgets below. */
export interface FocusArea {
  /** `row` and `column` go by order, `grid` and `spatial` by places on the screen; with `none` the app alone moves the focus inside. */
  readonly direction: 'row' | 'column' | 'grid' | 'spatial' | 'none';
  /** Whether the area remembers its last focused widget; true by default. */
  readonly remember?: boolean;
  /**
   * Widget that gets the focus when it enters the area: the `last` focused one, the `first`, the `nearest` on the screen, or the one whose handle a
   * function returns. By default the last one if the area remembers one, otherwise the one at the side from which the focus comes.
   */
  readonly enter?: 'last' | 'first' | 'nearest' | (() => { readonly id: number } | null);
  /** Whether the focus goes from the last widget to the first and back; of rows and columns. */
  readonly wrap?: boolean;
  /** Whether keys keep the focus inside. */
  readonly trap?: boolean;
}

export interface FocusProps {
  readonly focused?: boolean | undefined;
  readonly focusable?: boolean | undefined;
  readonly focusArea?: FocusArea | undefined;
  /** Returns true, or calls `preventDefault`, if the key has been used. */
  readonly onKey?: ((event: KeyEvent) => unknown) | undefined;
  readonly onKeyUp?: ((event: KeyEvent) => unknown) | undefined;
  readonly onLongPress?: ((event: KeyEvent) => unknown) | undefined;
  readonly onFocus?: (() => void) | undefined;
  readonly onBlur?: (() => void) | undefined;
  readonly style?: Shifts | undefined;
  readonly staticStyle?: Shifts | undefined;
}

/** Values of styles that count for the focus: what is hidden, and what is shifted. */
export interface Shifts {
  readonly display?: 'flex' | 'none' | undefined;
  readonly x?: number | undefined;
  readonly y?: number | undefined;
}

export interface FocusNode {
  readonly id: number;
  readonly parent: FocusNode | null;
  readonly children: readonly FocusNode[];
  readonly props: FocusProps;
  /** Whether a Suspense hides the widget. */
  readonly hidden: boolean;
  /** Place as last reported, pixels of the surface; not a number before. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The manager's own: of an area the widget that had the focus last. */
  focus: unknown;
}

export const isStop = ({ focusable, focused }: FocusProps): boolean => focusable ?? focused === true;

/** Whether the focus passes over the widget and all below it: it is not shown, or an area that is closed by `focusable={false}`. */
export const isClosed = ({ hidden, props }: FocusNode): boolean =>
  hidden ||
  (props.style?.display ?? props.staticStyle?.display) === 'none' ||
  (props.focusable === false && props.focusArea !== undefined);

/** Whether the focus can be on the widget: it may have it, and nothing above it is closed. The caller knows that it is in the tree. */
export function canHaveFocus(node: FocusNode): boolean {
  return isStop(node.props) && isOpen(node);
}

export function isOpen(node: FocusNode): boolean {
  for (let each: FocusNode | null = node; each !== null; each = each.parent) if (isClosed(each)) return false;
  return true;
}

/** Nearest area above the widget; null where there is none. */
export function areaAbove(node: FocusNode): FocusNode | null {
  let each = node.parent;
  while (each !== null && each.props.focusArea === undefined) each = each.parent;
  return each;
}

export function isInside(node: FocusNode, above: FocusNode): boolean {
  for (let each: FocusNode | null = node; each !== null; each = each.parent) if (each === above) return true;
  return false;
}
