/** `@sluice/screens/server`: screens rendered by a server, as JSON. */
export { type ScreenComponent, screenComponent } from './component.js';
export { type ScreenApp, type ScreenHandler, type ScreenHandlerOptions, screenHandler } from './handler.js';
export { ScreenLimitError, type ScreenLimits } from './limits.js';
export { type RenderScreenOptions, renderScreen } from './render.js';
