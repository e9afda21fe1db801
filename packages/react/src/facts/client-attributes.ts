/** Attributes of a stylesheet that the client makes itself: names and values for `setAttribute`. */
import { toText } from './escape.js';
import { refuseContent, sanitizeUrl } from './attributes.js';

const NOT_ATTRIBUTES = new Set([
  'href',
  'rel',
  'precedence',
  'data-precedence',
  'innerHTML',
  'suppressContentEditableWarning',
  'suppressHydrationWarning',
  'style',
  'ref',
]);

/** The characters that a name of an attribute may have in react-dom: those of XML names. */
const NAME_START =
  ':A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD';
const NAME = new RegExp(`^[${NAME_START}][${NAME_START}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040]*$`);

export function attributeForClient(name: string, value: unknown): [string, string] | null {
  refuseContent('link', name);
  if (NOT_ATTRIBUTES.has(name) || typeof value === 'function' || typeof value === 'symbol') return null;
  const text = toText(value);
  switch (name) {
    case 'className':
      return ['class', text];
    case 'hidden':
      return value === false ? null : ['hidden', ''];
    case 'src':
      return ['src', sanitizeUrl(text)];
    default: {
      const isHandler = name.length > 2 && /^on/i.test(name);
      return isHandler || !NAME.test(name) ? null : [name.toLowerCase(), text];
    }
  }
}
