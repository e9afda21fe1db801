/**
 * Data of the document about itself: `<script type="application/json" data-sluice-page>`. Scripts of boxes have another attribute, so a box
 * may have any id.
 */

export interface PageData {
  /** Path or class, which beacons name. */
  readonly page?: string;
  /** Label of how much the server has rendered. */
  readonly setting?: string;
  /** `experiment:arm` of the first experiment that had a say in the page. */
  readonly variant?: string | null;
  /** The same of each experiment, where there are several. */
  readonly variants?: readonly string[];
  /** Address for beacons; none are sent without it. */
  readonly vitals?: string | null;
  /** Address from which holes without props get theirs: `?box=ID` is added. */
  readonly more?: string | null;
  /** Addresses of the code of this page's components, so that the browser needs no list of all. */
  readonly code?: Readonly<Record<string, string>>;
  /** Id for navigation: equal for pages whose boxes fit into each other's documents. None without navigation. */
  readonly navigation?: string;
  /** The swap of two pages is a view transition. */
  readonly transitions?: boolean;
}

/** Read when needed, because it may be the last of a document that still arrives. */
export function pageData(): PageData {
  const text = document.querySelector('script[data-sluice-page]')?.textContent;
  try {
    return text ? (JSON.parse(text) as PageData) : {};
  } catch {
    // Half of it has arrived.
    return {};
  }
}
