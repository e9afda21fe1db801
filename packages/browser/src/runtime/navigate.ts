/**
 * Entry for components: from its import on, clicks on links lead to other pages without a new document, if `createPages` of the server has
 * `navigation`. On the server it does nothing.
 */
import { startNavigation } from './navigation.js';

export type { NavigateDetail, NavigatedDetail, SwapDetail } from './navigation.js';

export interface NavigateOptions {
  /** The new page takes the place of this one in the history. Default: false. */
  readonly replace?: boolean;
}

/**
 * Goes to another page as a click on a link does: without a new document where it may, otherwise with one. `url` may be relative to the
 * document. Throws a `TypeError` for an address that is none.
 */
export function navigate(url: string | URL, { replace = false }: NavigateOptions = {}): void {
  const { href } = new URL(url, document.baseURI);
  if (replace) location.replace(href);
  else location.assign(href);
}

if (typeof document !== 'undefined') startNavigation();
