/**
 * Entry for apps: types of the page's events, and of adapters for other frameworks. The runtime itself is built by the
 * plugin.
 */
export type {
  BrowserAdapter,
  ComponentModule,
  Mounted,
  MountRequest,
  Props,
  SlotContents,
} from './adapter.js';
export type { FailedDetail, FailureReason, MismatchDetail } from './runtime/events.js';
export type { NavigateDetail, NavigatedDetail, SwapDetail } from './runtime/navigation.js';
export type { PageData } from './runtime/page.js';
