/** `@sluice/screens/adopt`: a screen from the server on a device, before and without the app's bundle. */
export { type Engine, supports, understands } from './engine.js';
export type { AnimationJson, LookJson, ScreenJson, TransitionJson, ValueJson, WidgetJson } from './json.js';
export {
  type KeyQuery,
  type PlacedScreen,
  type RemoteOptions,
  type RemoteScreens,
  remoteScreens,
} from './remote.js';
export { type Shown, showScreen } from './show.js';
