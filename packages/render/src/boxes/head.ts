/** Code and style that a document with boxes has in its head: the runtime, and what is needed at once. It must not know documents. */
import type { Component } from '../component.js';
import { referenceOf } from '../css/order.js';
import { escapeHtml } from '../state/escape.js';
import { assetsOf, type Assets } from './assets.js';

/** A component whose code the browser needs for this page. */
export interface BrowserCode {
  readonly component: Component;
  /** A box of it is hydrated as soon as the page loads, so its code is fetched beside the runtime. */
  readonly isAtOnce: boolean;
}

export interface CodeParts {
  readonly assets: Assets | undefined;
  /** Components that the browser needs code for. */
  readonly code: readonly BrowserCode[];
  /** Boxes come later than their place, so the runtime is needed whatever they are. */
  readonly isFilledLater: boolean;
}

const NONCE = /^[A-Za-z0-9+/_-]{8,256}={0,2}$/;
export const BOX_STYLE = 'sluice-box,sluice-slot{display:contents}';

export function isNonce(text: string): boolean {
  return NONCE.test(text);
}

/** Addresses of the code that boxes need at once, each one time: the runtime first. */
export function preloadsOf(assets: Assets, code: readonly BrowserCode[]): ReadonlySet<string> {
  const preloads = new Set<string>([assets.runtime]);
  for (const { component, isAtOnce } of code) {
    if (!isAtOnce) continue;
    for (const address of assetsOf(assets, referenceOf(component))?.js ?? []) preloads.add(address);
    for (const address of assets.adapters?.[component.adapter.name]?.js ?? []) preloads.add(address);
  }
  return preloads;
}

/** The runtime, and code that is needed at once. Nothing for a page that the browser has nothing to do for. */
export function codeTags({ assets, code, isFilledLater }: CodeParts, nonceAttribute: string): string {
  if (assets === undefined) return '';
  if (code.length === 0 && !isFilledLater) return '';
  const preloads = preloadsOf(assets, code);
  const early = assets.early === undefined ? '' : `<script${nonceAttribute}>${assets.early.code}</script>`;
  const links = [...preloads].map(
    (address) => `<link rel="modulepreload" href="${escapeHtml(address)}"${nonceAttribute}>`,
  );
  const runtime = `<script type="module" async src="${escapeHtml(assets.runtime)}"${nonceAttribute}></script>`;
  return `${early}${links.join('')}${runtime}`;
}
