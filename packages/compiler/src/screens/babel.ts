/**
 * The Babel plugin for `@sluice/screens`. It works on JSX, so it comes before whatever turns JSX into calls, and behind React Compiler.
 * JSX that it cannot improve stays JSX.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { PluginObj, PluginPass } from '@babel/core';
import type { Types } from '../static-value.js';
import { compileModule } from './module.js';
import type { ScreensOptions } from './options.js';

export type { ScreensOptions } from './options.js';

export default function sluiceScreens(
  { types }: { readonly types: Types },
  options: ScreensOptions = {},
): PluginObj {
  return {
    name: 'sluice-screens',
    visitor: {
      Program(program, pass) {
        if (isForeign(pass)) return;
        const react = options.react ?? majorOf(pass);
        compileModule(types, program, react, options, pass.filename ?? '');
      },
    },
  };
}

/** Whether a comment gives JSX another meaning than React's. */
function isForeign(pass: PluginPass): boolean {
  return (pass.file.ast.comments ?? []).some(({ value }) => {
    const source = /@jsxImportSource\s+(\S+)/.exec(value)?.[1];
    return (source !== undefined && source !== 'react') || /@jsx\s+(?!React\.createElement\b)\S/.test(value);
  });
}

const majors = new Map<string, 18 | 19>();

/** Throws an error that says what to set where no `react` is found. */
function majorOf({ filename, cwd }: PluginPass): 18 | 19 {
  const from = filename === undefined ? cwd : dirname(resolve(cwd, filename));
  const known = majors.get(from);
  if (known !== undefined) return known;
  let path: string;
  try {
    path = createRequire(import.meta.url).resolve('react/package.json', { paths: [from, cwd] });
  } catch {
    throw new Error(
      `@sluice/compiler/screens finds no react package from ${from}: set its option "react" to 18 or 19.`,
    );
  }
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string };
  const major = Number.parseInt(version, 10);
  if (major !== 18 && major !== 19)
    throw new Error(`@sluice/compiler/screens supports React 18 and 19, not ${version}.`);
  majors.set(from, major);
  return major;
}
