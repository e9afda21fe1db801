import { FocusManager } from '../focus/manager.js';
import type { Focus, MakeFocus } from '../widget/focus.js';

/** Focus manager of a root. */
export const makeFocus: MakeFocus = (root, send) =>
  new FocusManager(root, send as ConstructorParameters<typeof FocusManager>[1]) as unknown as Focus;
