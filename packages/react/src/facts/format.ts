/**
 * Place of the renderer in a document: what react-dom calls the format context. It decides which tags become part of the document's
 * head, how a late piece is wrapped for transport, and which option is selected.
 */
import type { Props } from './react.js';
import { profile } from './profile.js';

/** The content of the document's head is a place of its own. */
export const holdsHead = profile.head === 'held' || profile.head === 'rendered-last';

export const ROOT = 0;
export const DOCUMENT = 1;
export const HTML = 2;
export const HEAD = 3;
export const SVG = 4;
export const MATHML = 5;
export const TABLE = 6;
export const TABLE_BODY = 7;
export const TABLE_ROW = 8;
export const COLUMN_GROUP = 9;

// Bits of `scope`.
export const IN_NOSCRIPT = 1;
export const IN_PICTURE = 2;
export const IN_FALLBACK = 4;
/** Directly in a Suspense fallback or content, no host element between. */
const MAY_EXIT = 8;
const MAY_ENTER = 16;
const ANIMATES_UPDATES = 32;
export const SHOWS_WITH_IMAGES = 64;

/** Set in `RenderState.instructions` when the client needs the script that animates late content. */
export const NEEDS_VIEW_TRANSITIONS = 128;

export interface ViewTransition {
  readonly update: string;
  readonly enter: string;
  readonly exit: string;
  readonly share: string;
  readonly name: string;
  readonly autoName: string;
  nameIndex: number;
}

export interface FormatContext {
  readonly mode: number;
  readonly selected: unknown;
  readonly scope: number;
  readonly transition: ViewTransition | null;
  /** Children of an ordinary element here have the same context: the way through almost every element. */
  readonly plain: boolean;
}

function create(
  mode: number,
  selected: unknown,
  scope: number,
  transition: ViewTransition | null,
): FormatContext {
  const keepsMode = mode === HTML || mode === SVG || mode === MATHML;
  const plain = keepsMode && transition === null && (scope & (MAY_EXIT | MAY_ENTER)) === 0;
  return { mode, selected, scope, transition, plain };
}

const UNSCOPED: readonly FormatContext[] = Array.from({ length: 10 }, (_, mode) =>
  create(mode, null, 0, null),
);

function inMode(mode: number, scope: number): FormatContext {
  return scope === 0 ? (UNSCOPED[mode] as FormatContext) : create(mode, null, scope, null);
}

export function rootFormat(namespaceURI?: unknown): FormatContext {
  if (namespaceURI === 'http://www.w3.org/2000/svg') return inMode(SVG, 0);
  if (namespaceURI === 'http://www.w3.org/1998/Math/MathML') return inMode(MATHML, 0);
  return inMode(ROOT, 0);
}

/** The tags whose children are elsewhere than the tag itself is. */
export const FORMATTING_TAGS = new Set([
  ...'select svg math foreignObject table thead tbody tfoot colgroup tr'.split(' '),
  // These matter for what is hoisted or preloaded.
  ...(profile.head === 'in-place' ? [] : ['noscript', 'picture', 'head', 'html']),
]);

export function childFormat(parent: FormatContext, tag: string, props: Props): FormatContext {
  const scope = parent.scope & ~(MAY_EXIT | MAY_ENTER);
  switch (FORMATTING_TAGS.has(tag) ? tag : '') {
    case 'noscript':
      return inMode(HTML, scope | IN_NOSCRIPT);
    case 'select':
      return create(HTML, props['value'] ?? props['defaultValue'], scope, null);
    case 'svg':
      return inMode(SVG, scope);
    case 'picture':
      return inMode(HTML, scope | IN_PICTURE);
    case 'math':
      return inMode(MATHML, scope);
    case 'foreignObject':
      return inMode(HTML, scope);
    case 'table':
      return inMode(TABLE, scope);
    case 'thead':
    case 'tbody':
    case 'tfoot':
      return inMode(TABLE_BODY, scope);
    case 'colgroup':
      return inMode(COLUMN_GROUP, scope);
    case 'tr':
      return inMode(TABLE_ROW, scope);
    case 'head':
      if (parent.mode < HTML && holdsHead) return inMode(HEAD, scope);
      break;
    case 'html':
      if (parent.mode === ROOT) return inMode(DOCUMENT, scope);
      break;
    default:
  }
  if (parent.mode >= TABLE || parent.mode < HTML) return inMode(HTML, scope);
  if (parent.transition !== null || parent.scope !== scope)
    return create(parent.mode, parent.selected, scope, null);
  return parent;
}

// Suspense and view transitions --------------------------------------------------------------------------------

/** Bits about the client's scripts. */
interface Instructions {
  instructions: number;
}

function suspendedTransition(parent: ViewTransition | null): ViewTransition | null {
  if (parent === null) return null;
  const { update, autoName } = parent;
  return { update, enter: 'none', exit: 'none', share: update, name: autoName, autoName, nameIndex: 0 };
}

export function fallbackFormat(state: Instructions, parent: FormatContext): FormatContext {
  if (parent.scope & ANIMATES_UPDATES) state.instructions |= NEEDS_VIEW_TRANSITIONS;
  const scope = parent.scope | IN_FALLBACK | MAY_EXIT;
  return create(parent.mode, parent.selected, scope, suspendedTransition(parent.transition));
}

export function contentFormat(parent: FormatContext): FormatContext {
  const transition = suspendedTransition(parent.transition);
  let scope = parent.scope | MAY_ENTER;
  if (transition !== null && transition.share !== 'none') scope |= SHOWS_WITH_IMAGES;
  return create(parent.mode, parent.selected, scope, transition);
}

function className(byDefault: unknown, byEvent: unknown): string | null | undefined {
  const plain = (value: unknown): string | null | undefined =>
    typeof value === 'object' && value !== null
      ? (value as { default?: string }).default
      : (value as string | null | undefined);
  const general = plain(byDefault);
  const special = plain(byEvent);
  if (special === null || special === undefined) return general === 'auto' ? null : general;
  return special === 'auto' ? null : special;
}

export function transitionFormat(
  state: Instructions,
  parent: FormatContext,
  props: Props,
  autoName: string,
): FormatContext {
  const update = className(props['default'], props['update']) ?? 'auto';
  let enter = className(props['default'], props['enter']) ?? 'auto';
  let exit = className(props['default'], props['exit']) ?? 'auto';
  let share: string | null | undefined = className(props['default'], props['share']);
  let name = props['name'] as string | null | undefined;
  if (name === null || name === undefined) {
    name = parent.transition === null ? 'auto' : parent.transition.name;
    share = parent.transition === null ? 'none' : parent.transition.share;
  } else {
    share ??= 'auto';
    if (parent.scope & IN_FALLBACK) state.instructions |= NEEDS_VIEW_TRANSITIONS;
  }
  if (parent.scope & MAY_EXIT) state.instructions |= NEEDS_VIEW_TRANSITIONS;
  else exit = 'none';
  if (parent.scope & MAY_ENTER) state.instructions |= NEEDS_VIEW_TRANSITIONS;
  else enter = 'none';
  let scope = parent.scope & ~(MAY_EXIT | MAY_ENTER);
  scope = update === 'none' ? scope & ~ANIMATES_UPDATES : scope | ANIMATES_UPDATES;
  if (enter !== 'none') scope |= SHOWS_WITH_IMAGES;
  return create(parent.mode, parent.selected, scope, {
    update,
    enter,
    exit,
    share,
    name,
    autoName,
    nameIndex: 0,
  });
}
