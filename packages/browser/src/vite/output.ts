/** Puts files of several components in the place of their chunks, and says which files each component needs. It must not know the manifest. */
import path from 'node:path';
import { type Bundle, type ComponentAssets, codeFiles, styleFiles } from './assets.js';
import { groupComponents, type GroupingOptions } from './grouping.js';
import type { GroupedBundle } from './groups.js';

/** Output of a build, before it is written. `groupFiles` changes the bundle. */
export interface OutputFiles {
  readonly bundle: Record<string, { readonly type: string; code?: string }>;
  /** Chunks of components, by the components' names. */
  readonly components: ReadonlyMap<string, string>;
  /** The chunk that has the addresses of all components. */
  readonly registry: string;
  readonly emit: (fileName: string, source: string | Uint8Array) => void;
}

type Files = ReadonlyMap<string, ComponentAssets>;

/** Files of each component of a build that has a chunk for each, from the build's folder. */
export function filesOf(bundle: Bundle, components: ReadonlyMap<string, string>): Files {
  return new Map(
    [...components].map(([key, chunk]) => [
      key,
      { js: codeFiles(bundle, chunk), css: styleFiles(bundle, chunk) },
    ]),
  );
}

/** Files of each component as `filesOf` gives them, once the bundle has files of several components. */
export async function groupFiles(
  { bundle, components, registry, emit }: OutputFiles,
  options: GroupingOptions,
): Promise<Files> {
  const before = { ...bundle } as unknown as Bundle & GroupedBundle;
  const { replaced, files, fileOf } = await groupComponents(before, components, options);
  const list = bundle[registry];
  if (list?.code !== undefined) list.code = withNewNames(list.code, fileOf);
  for (const fileName of replaced) {
    delete bundle[fileName];
    delete bundle[`${fileName}.map`];
  }
  for (const { fileName, source } of files.flatMap((merged) => merged.files)) emit(fileName, source);

  const merged = files.map(({ fileName, imports }) => [fileName, { type: 'chunk', fileName, imports }]);
  const after = { ...before, ...(Object.fromEntries(merged) as Bundle) };
  // Styles stay with the component that imports them.
  return new Map(
    [...components].map(([key, chunk]) => [
      key,
      { js: codeFiles(after, fileOf.get(chunk) ?? chunk), css: styleFiles(before, chunk) },
    ]),
  );
}

/** Code with new files in place of others, which it names at the ends of addresses. */
function withNewNames(code: string, fileOf: ReadonlyMap<string, string>): string {
  const names = new Map(
    [...fileOf].map(([old, file]) => [path.posix.basename(old), path.posix.basename(file)]),
  );
  return code.replace(/(?<=[/"'`])[^/"'`]+(?=["'`])/g, (name) => names.get(name) ?? name);
}
