/** Makes files of several components from a bundle's chunks, and says where each component is. It must not know the manifest. */
import path from 'node:path';
import { GROUP } from './modules.js';
import { literalSettings } from './settings.js';
import { type GroupedBundle, type GroupedChunk, type GroupMember, planGroups } from './groups.js';
import {
  type Bundler,
  type MergeChunk,
  type MergedFile,
  type Moved,
  type OutputSettings,
  chunkId,
  mergeChunks,
} from './merge.js';

export interface GroupingOptions {
  /** Upper bound of a group's code, in bytes as minified. */
  readonly bytesMax: number;
  readonly bundler: Bundler;
  /** Syntax tree of code, as ESTree has it. */
  readonly parse: (code: string) => unknown;
  readonly output: OutputSettings;
}

export interface Grouping {
  /** Chunks whose code is in the new files. */
  readonly replaced: readonly string[];
  readonly files: readonly MergedFile[];
  /** New files by the chunks of components. Without those of components that stay as they are. */
  readonly fileOf: ReadonlyMap<string, string>;
}

/** Files of several components. `components` are their chunks by their names. The bundle stays as it is. */
export async function groupComponents(
  bundle: GroupedBundle,
  components: ReadonlyMap<string, string>,
  { bytesMax, parse, bundler, output }: GroupingOptions,
): Promise<Grouping> {
  const all = [...components].map(([key, fileName]) => ({
    key,
    fileName,
    kind: kindOf(literalSettings(parse(chunkOf(bundle, fileName).code))),
  }));
  const plan = planGroups(bundle, all, bytesMax);
  const moved = new Map<string, Moved>();
  const files: MergedFile[] = [];
  const merge = async (name: string, fileNames: readonly string[], entry: string): Promise<MergedFile> => {
    const chunks = new Map(fileNames.map((fileName) => [fileName, chunkOf(bundle, fileName)]));
    const folder = path.posix.dirname(all[0]?.fileName ?? '');
    const merged = await mergeChunks(bundler, { name, folder, entry, chunks, moved, output });
    files.push(merged);
    return merged;
  };

  for (const fileNames of plan.shared) {
    const exported = fileNames.map((fileName, index) => ({
      fileName,
      names: new Map(chunkOf(bundle, fileName).exports.map((name, at) => [name, `s${index}_${at}`])),
    }));
    const entry = exported.map(
      ({ fileName, names }) =>
        `export { ${[...names].map(([name, now]) => `${name} as ${now}`).join(', ')} } from ${JSON.stringify(chunkId(fileName))};\n`,
    );
    const merged = await merge('shared', fileNames, entry.join(''));
    for (const { fileName, names } of exported) moved.set(fileName, { fileName: merged.fileName, names });
  }

  const fileOf = new Map<string, string>();
  for (const { members, chunks } of plan.groups) {
    const merged = await merge('components', chunks, groupEntry(bundle, members));
    for (const { fileName } of members) fileOf.set(fileName, merged.fileName);
  }
  const replaced = [...plan.shared.flat(), ...plan.groups.flatMap(({ chunks }) => chunks)];
  return { replaced, files, fileOf };
}

/** Adapter and time of hydration, where a component's own settings name them literally. */
function kindOf(settings: ReadonlyMap<string, string>): string {
  const hydration = settings.get('hydration') ?? 'load';
  const isSeldom =
    settings.get('rendering') === 'static' || hydration === 'interaction' || hydration.startsWith('media ');
  const moment = isSeldom ? 'seldom' : hydration === 'load' ? 'load' : 'later';
  return `${settings.get('adapter') ?? ''} ${moment}`;
}

/** Module with the exports of each member, by the member's name. Rollup leaves its spaces as they are. */
function groupEntry(bundle: GroupedBundle, members: readonly GroupMember[]): string {
  const imports: string[] = [];
  const entries = members.map(({ key, fileName }, index) => {
    const names = chunkOf(bundle, fileName).exports.map((name, at) => [name, `c${index}_${at}`] as const);
    const imported = names.map(([name, own]) => `${name} as ${own}`).join();
    imports.push(`import{${imported}}from${JSON.stringify(chunkId(fileName))};`);
    return `${JSON.stringify(key)}:{${names.map(([name, own]) => `${name}:${own}`).join()}}`;
  });
  return `${imports.join('')}export const ${GROUP}={${entries.join()}};`;
}

function chunkOf(bundle: GroupedBundle, fileName: string): GroupedChunk & MergeChunk {
  const chunk = bundle[fileName];
  if (chunk?.type !== 'chunk') throw new Error(`the build has no chunk ${fileName}`);
  return chunk;
}
