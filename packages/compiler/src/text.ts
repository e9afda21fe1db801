/** Text in JSX and in HTML. */

const ENTITIES: Readonly<Record<string, string>> = {
  '"': '&quot;',
  '&': '&amp;',
  "'": '&#x27;',
  '<': '&lt;',
  '>': '&gt;',
};

/** Escapes text and attributes as react-dom does. */
export const escapeHtml = (text: string): string => text.replace(/["&'<>]/g, (c) => ENTITIES[c] ?? c);

/** An entity, in the source, for a character that is trimmed or turned into a space by some JSX transforms. */
const SPACE_ENTITY = /&(?:#0*(?:9|10|13|32|8232|8233)|#x0*(?:9|a|d|20|2028|2029)|Tab|NewLine);/i;

/** Spaces of Unicode, by the widest definition in use. */
const UNCOMMON_SPACE = /[^\S \t\r\n]|[\u0085\u180e\u200b]/;

/**
 * The text that JSX means: lines trimmed where they meet a line's end, blank ones dropped, the others joined by a space.
 * Undefined where JSX transforms disagree: Babel makes a space of a tab, TypeScript trims all of Unicode's spaces, and
 * both differ in whether entities are trimmed. `raw` is the source, `value` has its entities decoded.
 */
export function jsxText(raw: string, value: string): string | undefined {
  if (SPACE_ENTITY.test(raw)) return undefined;
  const lines = value.split(/\r\n|\n|\r/);
  const kept: string[] = [];
  for (const [index, line] of lines.entries()) {
    let text = line;
    if (index > 0) text = text.replace(/^[ \t]+/, '');
    if (index < lines.length - 1) text = text.replace(/[ \t]+$/, '');
    if (text !== '') kept.push(text);
  }
  const text = kept.join(' ');
  const isAmbiguous = text.includes('\t') || UNCOMMON_SPACE.test(raw);
  return isAmbiguous ? undefined : text;
}
