/** The marks of a box, which `@sluice/browser` reads: `docs/guide/browser.md`. It must not know what a box is part of. */
import { escapeHtml } from '../state/escape.js';

export const BOX_TAG = 'sluice-box';
export const BOX_END = `</${BOX_TAG}>`;
export const STATE_END = '</script>';

/** An attribute with its leading space. Nothing for a value that is not there. */
export function attribute(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${name}="${escapeHtml(value)}"`;
}

/** Start of the script with the props of a box: directly behind it. */
export function stateStart(id: string): string {
  return `<script type="application/json" data-sluice="${escapeHtml(id)}">`;
}
