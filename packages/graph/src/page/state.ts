/** State of a page's graph as a script of the document. It must not know models. */
import type { JsonGraph } from '../types.js';

/** Attribute by which the browser finds the script. */
export const STATE_ATTRIBUTE = 'data-sluice-graph';
/** Value of the attribute where the server wants to know what is asked for again. */
export const COUNTED = 'counted';

const BREAKING = /[<\u2028\u2029]/gu;

/**
 * Script with a graph for the browser. The text has no `<`, so that neither a comment nor an end tag can begin in it.
 *
 * @param nonce - Nonce of a content security policy, base64.
 * @param isCounted - Whether the browser is to say what it asks for again.
 * @throws TypeError for a nonce that is none, or a value that JSON does not know.
 */
export function stateScript(graph: JsonGraph, nonce?: string, isCounted = false): string {
  if (nonce !== undefined && !/^[\w+/=-]{8,}$/u.test(nonce))
    throw new TypeError('a nonce must be base64 of at least 8 characters');
  const marks = `${isCounted ? `="${COUNTED}"` : ''}${nonce === undefined ? '' : ` nonce="${nonce}"`}`;
  const attributes = `type="application/json" ${STATE_ATTRIBUTE}${marks}`;
  return `<script ${attributes}>${JSON.stringify(graph).replace(BREAKING, escaped)}</script>`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
