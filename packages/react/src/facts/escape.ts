/**
 * Escaping as react-dom does it: the five characters, wherever the string is put. Pure; the table of remembered results holds nothing
 * but a string and its escaped form, so that it may serve every request.
 */

const SPECIAL = /["'&<>]/;

/** Length up to which strings are escaped character by character; a regular expression is faster on longer ones. */
const LOOP_LENGTH_MAX = 8;

/** Turns a value into text as react-dom does: String() would accept a symbol, which has to throw. */
export function toText(value: unknown): string {
  return '' + (value as number);
}

export function escapeHtml(value: unknown): string {
  if (typeof value === 'string') return escapeText(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return escapeText(toText(value));
}

export function escapeText(text: string): string {
  const length = text.length;
  if (length > LOOP_LENGTH_MAX) {
    // Mostly there is none, and `test` is faster than what says where.
    return SPECIAL.test(text) ? escapeFrom(text, text.search(SPECIAL)) : text;
  }
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 62 && (code === 34 || code === 38 || code === 39 || code === 60 || code === 62)) {
      return escapeFrom(text, at);
    }
  }
  return text;
}

function escapeFrom(text: string, first: number): string {
  let html = '';
  let kept = 0;
  for (let at = first; at < text.length; at += 1) {
    const entity = entityOf(text.charCodeAt(at));
    if (entity === '') continue;
    html += text.slice(kept, at) + entity;
    kept = at + 1;
  }
  return kept < text.length ? html + text.slice(kept) : html;
}

function entityOf(code: number): string {
  switch (code) {
    case 34:
      return '&quot;';
    case 38:
      return '&amp;';
    case 39:
      return '&#x27;';
    case 60:
      return '&lt;';
    case 62:
      return '&gt;';
    default:
      return '';
  }
}
