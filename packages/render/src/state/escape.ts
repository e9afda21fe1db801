/** Text made safe for the places of an HTML document. It must not know components or state. */

const IN_ATTRIBUTE = /[&"'<>\0]/g;
/** The same without a memory: most texts have none, and a search that finds nothing costs less than a replacement. */
const ANY_IN_ATTRIBUTE = new RegExp(IN_ATTRIBUTE.source);
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
  // Parsers replace NUL by U+FFFD and report an error; the replacement alone says the same.
  '\0': '\uFFFD',
};

/** Escapes the value of an attribute in quotes, and text between tags. */
export function escapeHtml(text: string): string {
  if (!ANY_IN_ATTRIBUTE.test(text)) return text;
  return text.replace(IN_ATTRIBUTE, (character) => ENTITIES[character] ?? '');
}
