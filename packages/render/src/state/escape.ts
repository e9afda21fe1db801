/** Text made safe for the places of an HTML document. It must not know components or state. */

const IN_ATTRIBUTE = /[&"'<>\0]/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
  // Parsers replace NUL by U+FFFD and report an error; the replacement alone says the same.
  '\0': '\uFFFD',
};

/** For the value of an attribute in quotes, and for text between tags. */
export function escapeAttribute(text: string): string {
  return text.replace(IN_ATTRIBUTE, (character) => ENTITIES[character] ?? '');
}
