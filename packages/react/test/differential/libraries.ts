/** React and both renderers, from the folder whose `node_modules` has them. */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Renderer } from './observe.ts';
import type { Libraries, React, ReactDOM } from './world.ts';

export interface Pair extends Libraries {
  readonly version: string;
  readonly stock: Renderer;
}

/** What @sluice/react/server exports besides the renderers. */
export interface Sluice extends Renderer {
  onFallback(listener: (about: { reason: string; component?: string; api: string }) => void): () => void;
}

/** `folder`: where the app lies; its React is found as the app finds it. */
export function loadReact(folder: string): Pair {
  const require = createRequire(join(folder, 'package.json'));
  const React = require('react') as React;
  const static_ = has(require, 'react-dom/static') ? (require('react-dom/static') as object) : {};
  return {
    React,
    ReactDOM: require('react-dom') as ReactDOM,
    version: React.version,
    stock: { ...static_, ...(require('react-dom/server') as Renderer) },
  };
}

export async function loadSluice(folder: string): Promise<Sluice> {
  return (await import(moduleOf(folder, 'server'))) as Sluice;
}

/** One of Sluice's ES modules; `require.resolve` would find its CommonJS bundle. */
export function moduleOf(folder: string, name: 'server' | 'template'): string {
  const require = createRequire(join(folder, 'package.json'));
  const own = dirname(require.resolve('@sluice/react/package.json'));
  return pathToFileURL(join(own, 'dist', `${name}.js`)).href;
}

function has(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}
