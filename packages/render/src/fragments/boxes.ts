/**
 * Fragments as boxes, which the browser's half of pages hydrates: `@sluice/browser` finds them in any host's page. It must not know the
 * protocol.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readAssets, type Assets } from '../boxes/assets.js';
import { BOX_STYLE, codeTags, isNonce } from '../boxes/head.js';
import { attribute, BOX_END, BOX_TAG, STATE_END, stateStart } from '../boxes/markup.js';
import type { Component, Props } from '../component.js';
import { serialize } from '../state/serialize.js';

/** An id is part of React's and of the document: no two fragments of a page have the same. */
export function newId(): string {
  return `f${randomUUID().replaceAll('-', '').slice(0, 16)}`;
}

/** Throws for props that cannot be sent to the browser. */
export function boxOf(
  { name, version, adapter, settings }: Component,
  html: string,
  props: Props,
  id: string,
): string {
  const { rendering = 'server', hydration = 'load' } = settings;
  if (rendering === 'static' || adapter.hasOwnMarkup === true) return html;
  const hole = rendering === 'client' ? attribute('hole', 'client') : '';
  const marks = [
    attribute('n', name),
    attribute('v', version),
    attribute('i', id),
    attribute('a', adapter.name),
    attribute('on', hydration),
    hole,
  ];
  return `<${BOX_TAG}${marks.join('')}>${html}${BOX_END}${stateStart(id)}${serialize(props)}${STATE_END}`;
}

/** Makes the HTML that a host puts into the head of its pages, once: styles of all components, and the runtime. Throws a `TypeError` for a nonce that is none. */
export function headOf(given: Assets | string): (nonce?: string) => string {
  const assets = typeof given === 'string' ? readAssets(given) : given;
  const files = new Set(Object.values(assets.components).flatMap(({ css }) => css));
  const styles = [BOX_STYLE, ...[...files].map((file) => readFileSync(file, 'utf8'))]
    .join('\n')
    .replaceAll(/<(?=\/style)/gi, '\\3c ');
  return (nonce) => {
    if (nonce !== undefined && !isNonce(nonce))
      throw new TypeError('a nonce must be base64 of at least 8 characters');
    const nonceAttribute = nonce === undefined ? '' : ` nonce="${nonce}"`;
    const code = codeTags({ assets, code: [], isFilledLater: true }, nonceAttribute);
    return `<style${nonceAttribute}>${styles}</style>${code}`;
  };
}
