export type { PropertyValues } from './stream/codes.js';
export type { Surface } from './surfaces/surface.js';
export type { ErrorInfo } from './tree/root.js';
export { createRoot, type Options, type ScreenRoot } from './root.js';
export { Widget } from './widget/widget.js';
export type {
  Animation,
  FocusArea,
  Rect,
  Style,
  Transition,
  WidgetHandle,
  WidgetKeyEvent,
  WidgetProps,
} from './widget/props.js';
