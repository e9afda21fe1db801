/** React and both renderers, from the folder whose `node_modules` has them. */

import { createRequire } from 'node:module';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  purge(tag?: string): number;
  cacheStatistics(): { hits: number; misses: number };
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
    ...(require('@sluice/react') as Pick<Libraries, 'Cached'>),
    stock: { ...static_, ...(require('react-dom/server') as Renderer) },
  };
}

/** Which of its two builds. */
export type Build = 'modules' | 'commonjs';

export async function loadSluice(folder: string, build: Build = 'modules'): Promise<Sluice> {
  return (await loadModule(folder, 'server', build)) as Sluice;
}

export async function loadModule(folder: string, name: 'server' | 'template', build: Build): Promise<object> {
  const require = createRequire(join(folder, 'package.json'));
  if (build === 'commonjs') return require(`@sluice/react/${name}`) as object;
  // `require.resolve` would find the CommonJS bundle.
  return (await import(pathToFileURL(join(distOf(folder), `${name}.js`)).href)) as object;
}

/** In a file of what was built last, a piece of its text and what stands in its place. */
export type Alteration = readonly [file: string, text: string, instead: string];

/** Sluice with a fault. */
export async function loadAltered(folder: string, [file, text, instead]: Alteration): Promise<Sluice> {
  const dist = distOf(folder);
  const modules = join(dist, '../node_modules');
  mkdirSync(modules, { recursive: true });
  const copy = mkdtempSync(join(modules, '.altered-'));
  try {
    cpSync(dist, copy, { recursive: true });
    writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
    const pieces = readFileSync(join(dist, file), 'utf8').split(text);
    if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times ${text}`);
    writeFileSync(join(copy, file), pieces.join(instead));
    // Copies share the cache of the one that was loaded first, in which nothing is altered.
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (key.description?.startsWith('sluice.react.caches.')) Reflect.deleteProperty(globalThis, key);
    }
    return (await import(pathToFileURL(join(copy, 'server.js')).href)) as Sluice;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function distOf(folder: string): string {
  const require = createRequire(join(folder, 'package.json'));
  return join(dirname(require.resolve('@sluice/react/package.json')), 'dist');
}

function has(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}
