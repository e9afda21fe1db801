/** Calls of the client's functions: what the server tells the page about pieces that come after the shell. */
import { toText } from '../facts/escape.js';
import { attributeForClient } from '../facts/client-attributes.js';
import { clientScripts } from '../facts/client-scripts.js';
import { sanitizeUrl } from '../facts/attributes.js';
import { NEEDS_VIEW_TRANSITIONS } from '../facts/format.js';
import {
  SENT_CLIENT_RENDER,
  SENT_COMPLETE_BOUNDARY,
  SENT_COMPLETE_SEGMENT,
  SENT_STYLE_INSERTION,
  SENT_VIEW_TRANSITIONS,
  SHEET_LATE,
  SHEET_WRITTEN,
  type Hoistables,
  type Resources,
  type Stylesheet,
} from '../state/resources.js';
import type { Boundary, Sink } from '../state/render.js';

/** `script` when the client does not have it yet. */
function once(resources: Resources, bit: number, script: string): string {
  if (resources.instructions & bit || script === '') return '';
  resources.instructions |= bit;
  return script;
}

export function writeCompletedSegment(resources: Resources, sink: Sink, segmentId: number): void {
  const id = segmentId.toString(16);
  const { idPrefix, openScript } = resources;
  const define = once(resources, SENT_COMPLETE_SEGMENT, clientScripts().completeSegment);
  sink.text(`${openScript}>${define}$RS("${idPrefix}S:${id}","${idPrefix}P:${id}")</script>`);
}

export function writeCompletedBoundary(
  resources: Resources,
  sink: Sink,
  { id, rootSegmentId, content }: Boundary,
): void {
  const scripts = clientScripts();
  const { idPrefix, openScript, stylesToHoist } = resources;
  resources.stylesToHoist = false;
  let define = '';
  if (stylesToHoist) define += once(resources, SENT_CLIENT_RENDER, scripts.clientRender);
  define += once(resources, SENT_COMPLETE_BOUNDARY, scripts.completeBoundary);
  sink.text(`${openScript}>${define}`);
  define = '';
  if (resources.instructions & NEEDS_VIEW_TRANSITIONS) {
    // For which react-dom asks the reader whether it has had enough.
    sink.apart(once(resources, SENT_VIEW_TRANSITIONS, scripts.viewTransitions));
  }
  if (stylesToHoist) define += once(resources, SENT_STYLE_INSERTION, scripts.insertStyles);
  const ids = `"${idPrefix}B:${id.toString(16)}","${idPrefix}S:${rootSegmentId.toString(16)}"`;
  const call = stylesToHoist ? `$RR(${ids},${stylesForClient(content)})` : `$RC(${ids})`;
  sink.text(`${define}${call}</script>`);
}

export function writeClientRender(
  resources: Resources,
  sink: Sink,
  boundaryId: number,
  digest: string | undefined,
): void {
  const define = once(resources, SENT_CLIENT_RENDER, clientScripts().clientRenderBeforeCall);
  const id = `"${resources.idPrefix}B:${boundaryId.toString(16)}"`;
  const argument = digest === undefined ? '' : `,${stringForClient(digest)}`;
  sink.text(`${resources.openScript}>${define}$RX(${id}${argument})</script>`);
}

function escapeUnits(text: string, pattern: RegExp): string {
  return text.replace(pattern, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function stringForClient(text: string): string {
  return escapeUnits(JSON.stringify(text), /[<\u2028\u2029]/g);
}

function literalForClient(text: string): string {
  return escapeUnits(JSON.stringify(text), /[&><\u2028\u2029]/g);
}

// Stylesheets ------------------------------------------------------------------------------------------------------

/** `[["href","precedence","name","value",…],["href of one that was asked for before"]]` */
function stylesForClient(content: Hoistables): string {
  const sheets = [...content.stylesheets].filter(({ state }) => state !== SHEET_WRITTEN);
  return `[${sheets.map((sheet) => `[${sheetForClient(sheet)}]`).join(',')}]`;
}

function sheetForClient(sheet: Stylesheet): string {
  const { props } = sheet;
  const href = toText(props['href']);
  if (sheet.state === SHEET_LATE) return literalForClient(href);
  sheet.state = SHEET_LATE;
  const values = [sanitizeUrl(href), toText(props['data-precedence'])];
  for (const name in props) {
    if (!Object.hasOwn(props, name)) continue;
    const value = props[name];
    if (value === null || value === undefined) continue;
    const attribute = attributeForClient(name, value);
    if (attribute !== null) values.push(...attribute);
  }
  return values.map(literalForClient).join(',');
}
