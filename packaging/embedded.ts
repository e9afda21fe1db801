/**
 * Packages of npm whose code is inside the gateway's binary: those that esbuild finds in the dashboard and in the page of
 * flame graphs. It must not know what is told of them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { compare } from './crates.ts';
import { type Manifest, root } from './workspace.ts';

const PAGES = ['packages/dashboard/src/main.tsx', 'packages/flame/src/main.ts'];
const OF_PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

export interface Embedded {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly folder: string;
}

/** Packages from outside this repository, in order of their names. */
export async function embeddedPackages(): Promise<readonly Embedded[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: PAGES,
    outdir: 'dist',
    bundle: true,
    write: false,
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
  });
  const folders = new Set(Object.keys(metafile.inputs).flatMap((input) => OF_PACKAGE.exec(input)?.[1] ?? []));
  return [...folders]
    .map((folder) => {
      const file = path.join(root, folder, 'package.json');
      const { name, version, license } = JSON.parse(fs.readFileSync(file, 'utf8')) as Manifest;
      return { name, version, license, folder: path.join(root, folder) };
    })
    .toSorted((one, other) => compare(one.name, other.name));
}
