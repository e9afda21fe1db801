// How much code a page needs.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import type { Built } from './build.ts';

export const KILOBYTE = 1024;

export function gzipped({ folder }: Built, address: string): number {
  return zlib.gzipSync(fs.readFileSync(path.join(folder, 'client', address)), { level: 9 }).length;
}

/** Chunks and everything that they import, by their own text. */
export function withImports({ folder }: Built, addresses: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const next = [...addresses];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (found.has(at)) continue;
    found.add(at);
    const code = fs.readFileSync(path.join(folder, 'client', at), 'utf8');
    for (const [, file = ''] of code.matchAll(/(?:from|import)\s*["'](\.\/[^"']+)["']/g))
      next.push(path.posix.join(path.posix.dirname(at), file));
  }
  return [...found].toSorted();
}

export interface PageBytes {
  readonly all: number;
  /** Without the framework. */
  readonly own: number;
}

/** Bytes of a page with these React components, compressed by gzip: the runtime, the script that keeps events, React, and theirs. */
export function bytesOf(built: Built, components: readonly string[]): PageBytes {
  const { runtime, adapters, early } = built.assets;
  const sum = (files: readonly string[]): number =>
    files.reduce((bytes, file) => bytes + gzipped(built, file), 0);
  const adapter = withImports(built, adapters['react']?.js.slice(0, 1) ?? []);
  const all = withImports(built, [
    runtime,
    ...adapter,
    ...components.flatMap((name) => built.assets.components[name]?.js.slice(0, 1) ?? []),
  ]);
  const early_bytes = zlib.gzipSync(early.code, { level: 9 }).length;
  const framework = new Set(adapter);
  return { all: sum(all) + early_bytes, own: sum(all.filter((file) => !framework.has(file))) + early_bytes };
}
