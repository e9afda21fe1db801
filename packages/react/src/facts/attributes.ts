/**
 * Attributes of ordinary elements. The treatment of a name (its spelling, whether it takes booleans, numbers or URLs) is not
 * kept in a table here. When a name is met again, the app's own react-dom is asked with a set of telling values. The rule whose
 * answers all equal react-dom's is remembered. If there is none, react-dom is asked every time.
 */
import { escapeHtml, escapeText, toText } from './escape.js';
import { ELEMENT, ReactDOMServer, type Props } from './react.js';
import { profile } from './profile.js';

type Rule = (open: string, value: unknown) => string;

/**
 * Values of the same attribute repeat (class names, types, roles) or do not (links, ids). Attributes whose values repeat remember what they
 * were written as; one whose values turn out not to, forgets them for good. The memo is bounded in number and length. Long values are
 * mostly put together anew for each render, as the lists of class names of component libraries are, and looking one up would hash all of it
 * first.
 */
const MEMO_VALUES_MAX = 128;
const MEMO_LENGTH_MAX = 24;

export class Attribute {
  /** Strings are written as they are (escaped): by far the most frequent case, so it has a flag of its own. */
  readonly plain: boolean;
  readonly rule: Rule;
  /** ` name="`, with react-dom's spelling of the name. */
  readonly open: string;
  memo: Map<string, string> | null = new Map();
  #misses = 0;

  constructor(plain: boolean, rule: Rule, open: string) {
    this.plain = plain;
    this.rule = rule;
    this.open = open;
  }

  write(value: string): string {
    const html = this.open + escapeText(value) + '"';
    const { memo } = this;
    if (memo === null) return html;
    this.#misses += 1;
    if (memo.size < MEMO_VALUES_MAX) memo.set(value, html);
    else if (this.#misses > 4 * MEMO_VALUES_MAX) this.memo = null;
    return html;
  }
}

const JAVASCRIPT_URL =
  // oxlint-disable-next-line no-control-regex -- these are the characters that browsers skip before a scheme
  /^[\u0000-\u001F ]*j[\r\n\t]*a[\r\n\t]*v[\r\n\t]*a[\r\n\t]*s[\r\n\t]*c[\r\n\t]*r[\r\n\t]*i[\r\n\t]*p[\r\n\t]*t[\r\n\t]*:/i;
const BLOCKED_URL =
  "javascript:throw new Error('React has blocked a javascript: URL as a security precaution.')";

export function sanitizeUrl(url: string): string {
  const first = url.charCodeAt(0);
  // Neither skipped by browsers nor a j, as in almost every URL: cheaper to see than to match.
  if (first > 32 && first !== 74 && first !== 106) return url;
  return JAVASCRIPT_URL.test(url) ? BLOCKED_URL : url;
}

const unprintable = (value: unknown): boolean => typeof value === 'function' || typeof value === 'symbol';
const empty = (open: string): string => `${open}"`;

const never: Rule = () => '';
const string: Rule = (open, value) =>
  unprintable(value) || typeof value === 'boolean' ? '' : open + escapeHtml(value) + '"';
const stringOrBoolean: Rule = (open, value) => (unprintable(value) ? '' : open + escapeHtml(value) + '"');
const boolean: Rule = (open, value) => (!unprintable(value) && Boolean(value) ? empty(open) : '');
const overloaded: Rule = (open, value) => {
  if (value === true) return empty(open);
  return value === false || unprintable(value) ? '' : open + escapeHtml(value) + '"';
};
/** The global function, not that of Number: it converts, and throws for what cannot be converted. */
const isNumeric = (value: unknown): boolean => !unprintable(value) && !globalThis.isNaN(value as number);
const numeric: Rule = (open, value) => (isNumeric(value) ? open + escapeHtml(value) + '"' : '');
const positive: Rule = (open, value) =>
  isNumeric(value) && (value as number) >= 1 ? open + escapeHtml(value) + '"' : '';
const unlessBoolean =
  (rule: Rule): Rule =>
  (open, value) =>
    typeof value === 'boolean' ? '' : rule(open, value);
const url: Rule = (open, value) =>
  unprintable(value) || typeof value === 'boolean' ? '' : open + escapeText(sanitizeUrl(toText(value))) + '"';
const urlUnlessEmpty: Rule = (open, value) => (value === '' ? '' : url(open, value));
const style: Rule = (_open, value) => styleAttribute(value);

/** Ordered so that, of rules which agree on all questions, the most general one is taken. */
const RULES: readonly Rule[] = [
  never,
  string,
  stringOrBoolean,
  boolean,
  overloaded,
  positive,
  numeric,
  unlessBoolean(positive),
  unlessBoolean(numeric),
  url,
  urlUnlessEmpty,
];

const QUESTIONS: readonly unknown[] = [
  'x',
  '',
  '5',
  '0.5',
  'javascript:x',
  true,
  false,
  0,
  1,
  -3,
  Number.NaN,
  () => 0,
  Symbol('x'),
  ['a'],
];

/** Names come from the app's source, rarely from its data; a page that makes up names must not fill the memory. */
const REMEMBERED_MAX = 4096;
const attributes = new Map<string, Attribute>([['style', new Attribute(false, style, '')]]);

/** Met once. Names that a page has made up do not come again, and a rule takes as long to find as many questions. */
const met = new Set<string>();

/** The attribute with its leading space, or ''. `value` is neither null nor undefined. */
export function attribute(name: string, value: unknown): string {
  const known = attributes.get(name);
  return known === undefined ? meet(name, value) : writeAttribute(known, value);
}

function meet(name: string, value: unknown): string {
  if (met.delete(name)) return writeAttribute(learnAttribute(name), value);
  if (met.size >= REMEMBERED_MAX) met.clear();
  met.add(name);
  return askReactDOM('div', { [name]: value });
}

/** Returns the attribute, for callers that write it many times. */
export function attributeOf(name: string): Attribute {
  return attributes.get(name) ?? learnAttribute(name);
}

export function writeAttribute(known: Attribute, value: unknown): string {
  if (known.plain && typeof value === 'string') {
    if (value.length > MEMO_LENGTH_MAX) return known.open + escapeText(value) + '"';
    return known.memo?.get(value) ?? known.write(value);
  }
  return known.rule(known.open, value);
}

/** The attribute under exactly this name, for the few that react-dom spells itself. */
export function namedAttribute(name: string, value: unknown): string {
  return string(` ${name}="`, value);
}

export function booleanAttribute(name: string, value: unknown): string {
  return boolean(` ${name}="`, value);
}

function learnAttribute(name: string): Attribute {
  const answers = QUESTIONS.map((question) => askReactDOM('div', { [name]: question }));
  const spelled = answers.find((answer) => answer !== '');
  const open = spelled === undefined ? '' : spelled.slice(0, spelled.indexOf('"') + 1);
  const rule = RULES.find((candidate) =>
    QUESTIONS.every((question, at) => candidate(open, question) === answers[at]),
  );
  const learned = new Attribute(
    rule === string || rule === stringOrBoolean,
    rule ?? ((_open, value) => askReactDOM('div', { [name]: value })),
    open,
  );
  if (attributes.size >= REMEMBERED_MAX) attributes.clear();
  attributes.set('style', new Attribute(false, style, ''));
  attributes.set(name, learned);
  return learned;
}

/** Returns what react-dom puts between the tag's name and its end. */
function askReactDOM(tag: string, props: Props): string {
  const element = { $$typeof: ELEMENT, type: tag, key: null, ref: null, props, _owner: null };
  const html = ReactDOMServer.renderToStaticMarkup(element as never);
  return html.slice(tag.length + 1, html.indexOf(`></${tag}>`));
}

// Custom elements ------------------------------------------------------------------------------------------------

const customNames = new Map<string, string>();

/** Writes a property of a custom element as react-dom does; '' when the name or the value cannot be written. */
export function customAttribute(name: string, value: unknown): string {
  if (name === 'style') return styleAttribute(value);
  let open = customNames.get(name);
  if (open === undefined) {
    const answer = askReactDOM('x-x', { [name]: 'x' });
    open = answer.slice(0, answer.indexOf('"') + 1);
    if (customNames.size >= REMEMBERED_MAX) customNames.clear();
    customNames.set(name, open);
  }
  if (open === '' || unprintable(value)) return '';
  if (profile.customElements === 'by-name') {
    if (value === true) return empty(open);
    if (value === false || typeof value === 'object') return '';
  }
  return open + escapeHtml(value) + '"';
}

// Styles ---------------------------------------------------------------------------------------------------------

interface StyleProperty {
  /** `line-height:` */
  readonly open: string;
  readonly unitless: boolean;
}

const styleProperties = new Map<string, StyleProperty>();
const hasOwn = Object.prototype.hasOwnProperty;

export function styleAttribute(value: unknown): string {
  const to = { html: '' };
  addStyle(to, value);
  return to.html;
}

/** Target that HTML is added to. */
interface Target {
  html: string;
}

/**
 * Attributes by ordinary rules; `special` takes a name for itself by returning true. Piece by piece: when a property throws, react-dom has
 * written what comes before it.
 */
export function addAttributes(
  to: Target,
  props: Props,
  special: (name: string, value: unknown) => boolean,
): void {
  for (const name in props) {
    if (!hasOwn.call(props, name)) continue;
    const value = props[name];
    if (value === null || value === undefined || special(name, value)) continue;
    if (name === 'style') addStyle(to, value);
    else to.html += attribute(name, value);
  }
}

/** Refuses content of tags that have neither children nor an end. */
export function refuseContent(tag: string, name: string): false {
  if (name !== 'children' && name !== 'dangerouslySetInnerHTML') return false;
  throw new Error(
    `${tag} is a self-closing tag and must neither have \`children\` nor use \`dangerouslySetInnerHTML\`.`,
  );
}

function addStyle(to: Target, value: unknown): void {
  if (typeof value !== 'object') {
    throw new Error(
      "The `style` prop expects a mapping from style properties to values, not a string. For example, style={{marginRight: spacing + 'em'}} when using JSX.",
    );
  }
  const styles = value as Props;
  let isFirst = true;
  for (const name in styles) {
    if (!hasOwn.call(styles, name)) continue;
    const part = styles[name];
    if (part === null || part === undefined || typeof part === 'boolean' || part === '') continue;
    to.html += (isFirst ? ' style="' : ';') + styleDeclaration(name, part);
    isFirst = false;
  }
  if (!isFirst) to.html += '"';
}

function styleDeclaration(name: string, value: unknown): string {
  if (name.startsWith('--')) return `${escapeText(name)}:${escapeText(toText(value).trim())}`;
  const property = styleProperties.get(name) ?? learnStyleProperty(name);
  if (typeof value === 'number')
    return property.open + value + (value === 0 || property.unitless ? '' : 'px');
  return property.open + escapeText(toText(value).trim());
}

function learnStyleProperty(name: string): StyleProperty {
  const answer = askReactDOM('div', { style: { [name]: 1 } });
  const learned = {
    open: answer.slice(' style="'.length, answer.lastIndexOf(':') + 1),
    unitless: answer.endsWith(':1"'),
  };
  if (styleProperties.size >= REMEMBERED_MAX) styleProperties.clear();
  styleProperties.set(name, learned);
  return learned;
}
