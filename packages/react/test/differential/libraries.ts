/** React and both renderers, from the folder whose `node_modules` has them. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
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
  const require = createRequire(join(folder, 'package.json'));
  return (await import(pathToFileURL(require.resolve('@sluice/react/server')).href)) as Sluice;
}

function has(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}
