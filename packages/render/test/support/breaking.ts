/** Texts that break out of places where they are put carelessly. */
import * as fc from 'fast-check';

const PARTS = [
  '</script>',
  '</script ',
  '</SCRIPT/x',
  '<script>',
  '<!--',
  '-->',
  '--!>',
  '<!-- <script>',
  ']]>',
  '<![CDATA[',
  '\u2028',
  '\u2029',
  '\uD800',
  '\uDC00x',
  '\0',
  '&lt;',
  '&amp;',
  '&gt;',
  '"',
  "'",
  '`',
  '${',
  '\\',
  '\\u003c',
  '</div>',
  '<img src=x onerror=alert(1)>',
  '__proto__',
  '$sluice',
  '\r\n',
  '\uFEFF',
];

export const breaking: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...PARTS), fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 6 })
  .map((parts) => parts.join(''));
