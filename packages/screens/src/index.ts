export { type KeyEvent, isBack } from './focus/key.js';
export type { FocusArea } from './focus/node.js';
export type { PropertyValues } from './stream/codes.js';
export type { Surface } from './surfaces/surface.js';
export type { ErrorInfo } from './tree/root.js';
export { createRoot, type Options, type ScreenRoot } from './root.js';
export { Widget } from './widget/widget.js';
export type { Animation, Rect, Style, Transition, WidgetHandle, WidgetProps } from './widget/props.js';
