/** `onHeaders`: once, with what is known before the shell is sent. */
import { logRecoverable } from '../state/errors.js';
import { preloadHint, takeCapacity, type HeaderHints } from '../facts/headers.js';
import { pick } from '../facts/react.js';
import type { Resources } from '../state/resources.js';
import type { Render } from '../state/render.js';

export function emitEarlyPreloads(render: Render, shellIsComplete: boolean): void {
  const { resources } = render;
  const { hints, onHeaders } = resources;
  if (onHeaders === undefined || hints === null) return;
  try {
    resources.hints = null;
    const links = [hints.preconnects, hints.fontPreloads, hints.highImagePreloads].filter(
      (list) => list !== '',
    );
    // A complete shell has its stylesheets in it: they come no later than a header would.
    if (!shellIsComplete) links.push(...stylesheetHints(resources, hints));
    onHeaders(links.length === 0 ? {} : { Link: links.join(', ') });
  } catch (error) {
    logRecoverable(render, error, {});
  }
}

const HINTED = 'crossOrigin integrity nonce type fetchPriority referrerPolicy media';

function stylesheetHints(resources: Resources, hints: HeaderHints): string[] {
  const links: string[] = [];
  for (const queue of resources.styles.values()) {
    for (const { props } of queue.sheets.values()) {
      if (hints.remainingCapacity <= 0) return links;
      const link = preloadHint(props['href'], 'style', pick(props, HINTED));
      if (!takeCapacity(hints, link)) return links;
      links.push(link);
    }
  }
  return links;
}
