/** The head's resources, in react-dom's order, and those that come after the head was sent. */
import { pick } from '../facts/react.js';
import {
  SHEET_PENDING,
  SHEET_PRELOADED,
  SHEET_WRITTEN,
  linkTag,
  type Hoistables,
  type Resource,
  type Resources,
  type StyleQueue,
} from '../state/resources.js';
import type { Sink } from '../state/render.js';

function writeAll(sink: Sink, resources: Set<Resource>): void {
  for (const resource of resources) {
    sink.text(resource.html);
    resource.html = '';
  }
}

/** Writes and empties. */
export function writeOnce(sink: Sink, resource: Resource): void {
  sink.text(resource.html);
  resource.html = '';
}

function drain(sink: Sink, resources: Set<Resource>): void {
  // Also an empty set makes a new table when it is cleared.
  if (resources.size === 0) return;
  writeAll(sink, resources);
  resources.clear();
}

/** All but what was hoisted, which the caller writes last. */
export function writeHeadResources(resources: Resources, sink: Sink): void {
  writeOnce(sink, resources.charset);
  if (resources.hasNoLists) {
    writeOnce(sink, resources.viewport);
    writeImportMap(resources, sink);
    return;
  }
  drain(sink, resources.preconnects);
  writeOnce(sink, resources.viewport);
  drain(sink, resources.fontPreloads);
  drain(sink, resources.highImagePreloads);
  for (const queue of resources.styles.values()) writeStyles(resources, sink, queue);
  writeImportMap(resources, sink);
  writeAll(sink, resources.bootstrapPreloads);
  drain(sink, resources.scripts);
  drain(sink, resources.bulkPreloads);
}

function writeImportMap(resources: Resources, sink: Sink): void {
  sink.text(resources.importMap);
  resources.importMap = '';
}

function writeStyles(resources: Resources, sink: Sink, queue: StyleQueue): void {
  const hadSheets = queue.sheets.size > 0;
  for (const sheet of queue.sheets.values()) {
    sink.text(linkTag(sheet.props));
    sheet.state = SHEET_WRITTEN;
  }
  queue.sheets.clear();
  const { hrefs } = queue;
  // A precedence without any sheet is written too: it keeps its place among the others.
  if (hadSheets && hrefs.length === 0) return;
  const names = hrefs.length === 0 ? '' : `" data-href="${hrefs.join(' ')}`;
  writeRules(sink, `${resources.openStyle} data-precedence="${queue.precedence}${names}">`, queue);
}

function writeRules(sink: Sink, open: string, queue: StyleQueue): void {
  sink.text(open);
  for (const { html } of queue.rules) sink.text(html);
  sink.text('</style>');
  queue.rules = [];
  queue.hrefs = [];
}

const PRELOADED = 'href crossOrigin fetchPriority integrity media hrefLang referrerPolicy';

export function writeLateResources(resources: Resources, sink: Sink): void {
  writeOnce(sink, resources.viewport);
  if (resources.hasNoLists) {
    writeOnce(sink, resources.hoisted);
    return;
  }
  drain(sink, resources.preconnects);
  drain(sink, resources.fontPreloads);
  drain(sink, resources.highImagePreloads);
  for (const queue of resources.styles.values()) {
    for (const sheet of queue.sheets.values()) {
      if (sheet.state !== SHEET_PENDING) continue;
      sheet.state = SHEET_PRELOADED;
      sink.text(linkTag({ rel: 'preload', as: 'style', ...pick(sheet.props, PRELOADED) }));
    }
    queue.sheets.clear();
  }
  drain(sink, resources.scripts);
  drain(sink, resources.bulkPreloads);
  writeOnce(sink, resources.hoisted);
}

/** Inline styles of a late boundary, kept from applying until it is shown; notes when anything has to be put into the head. */
export function writeStylesForBoundary(resources: Resources, sink: Sink, hoistables: Hoistables): void {
  let hasStyles = false;
  for (const queue of hoistables.styles) {
    const { hrefs } = queue;
    if (hrefs.length === 0) continue;
    hasStyles = true;
    const names = hrefs.join(' ');
    const open = `${resources.openStyle} media="not all" data-precedence="${queue.precedence}" data-href="${names}">`;
    writeRules(sink, open, queue);
  }
  for (const sheet of hoistables.stylesheets) if (sheet.state !== SHEET_WRITTEN) hasStyles = true;
  if (hasStyles) resources.stylesToHoist = true;
}
