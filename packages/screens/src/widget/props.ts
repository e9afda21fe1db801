/** Props of a widget. */
import type { ReactNode, Ref } from 'react';
import type { KeyEvent } from '../focus/key.js';
import type { FocusArea } from '../focus/node.js';
import type { EASINGS, PropertyName, PropertyValues } from '../stream/codes.js';
import type { Commands } from './commands.js';
import type { WidgetNode } from './node.js';

export interface Transition {
  /** Milliseconds. */
  readonly duration: number;
  /** Milliseconds; 0 without it. */
  readonly delay?: number;
  readonly easing?: (typeof EASINGS)[number];
}

export interface Animation extends Transition {
  /** The value that the property has, without it. */
  readonly from?: number;
  readonly to: number;
  /** Further runs after the first; Infinity for no end. */
  readonly repeat?: number;
  /** Whether every second run goes back. */
  readonly alternate?: boolean;
}

export interface Shorthands {
  readonly gap?: number;
  readonly padding?: number;
  readonly paddingHorizontal?: number;
  readonly paddingVertical?: number;
  readonly margin?: number;
  readonly marginHorizontal?: number;
  readonly marginVertical?: number;
}

export interface Style extends Omit<PropertyValues, 'text' | 'image' | 'reports'>, Shorthands {
  /** Properties that change by steps: milliseconds, or more than that. */
  readonly transition?: { readonly [property in PropertyName]?: number | Transition };
}

/** Place on the surface, pixels. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Handle that a ref of a widget gets. */
export interface WidgetHandle {
  readonly id: number;
  /** Place as last reported; null before. Widgets with `onLayout` have one. */
  readonly rect: Rect | null;
  /** Gives the focus to the widget. */
  focus(): void;
}

export interface WidgetProps {
  readonly style?: Style | undefined;
  /** Style that never changes: a constant, compared by identity only, sent to the surface once. */
  readonly staticStyle?: Style | undefined;
  /** Style while the widget has the focus; like `staticStyle` a constant. */
  readonly focusStyle?: Style | undefined;
  readonly text?: string | undefined;
  /** Address of a picture. */
  readonly image?: string | undefined;
  readonly animate?: { readonly [property in PropertyName]?: Animation } | undefined;
  /** true gives the focus to the widget. */
  readonly focused?: boolean | undefined;
  readonly focusable?: boolean | undefined;
  readonly focusArea?: FocusArea | undefined;
  /** Returns true if the key was used. */
  readonly onKey?: ((event: KeyEvent) => unknown) | undefined;
  readonly onKeyUp?: ((event: KeyEvent) => unknown) | undefined;
  readonly onLongPress?: ((event: KeyEvent) => unknown) | undefined;
  readonly onFocus?: (() => void) | undefined;
  readonly onBlur?: (() => void) | undefined;
  readonly onLayout?: ((rect: Rect) => void) | undefined;
  readonly onAnimationEnd?: ((property: PropertyName) => void) | undefined;
  readonly onImage?: ((state: 'ready' | 'failed') => void) | undefined;
  readonly ref?: Ref<WidgetHandle> | undefined;
  readonly children?: ReactNode;
  /** Groups of names that the widget's place can give, by the compiler: `STATIC` to `BLOCK`. Without it, every name is looked for. */
  readonly $k?: number;
  /** Update that the compiler has written. */
  readonly $u?: (node: WidgetNode, before: WidgetProps, now: WidgetProps, out: Commands) => void;
  /** The same for a new widget. */
  readonly $m?: (node: WidgetNode, now: WidgetProps, out: Commands) => void;
  /** Widgets below that the compiler has made one with this one. */
  readonly $b?: Block;
}

/** Widgets that are always there below another one, and have styles, texts and images alone. Their values are among that one's props. */
export interface Block {
  /** Creates them below the widget `parent`; returns their numbers. */
  readonly mount: (parent: number, now: WidgetProps, out: Commands) => number[];
  readonly update: (ids: readonly number[], before: WidgetProps, now: WidgetProps, out: Commands) => void;
}

// Groups of names, bits of `$k`.
export const STATIC = 1;
export const FOCUS_STYLE = 2;
/** `style`, `text`, `image`, `animate`. */
export const OWN = 4;
/** `onLayout`, `onAnimationEnd`, `onImage`. */
export const REPORTS = 8;
/** `focused`, `focusable`, `focusArea`. */
export const FOCUS = 16;
/** All of them: the place is not known. */
export const ALL = 31;
/** Bit of places with `$b`. */
export const BLOCK = 128;
