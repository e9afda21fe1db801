/** Merges chunks of a finished build into one file, by the bundler that Vite itself builds with. It must not know which chunks, or why. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export interface MergeChunk {
  readonly fileName: string;
  readonly code: string;
  readonly exports: readonly string[];
  /** Source map, where the build has them. */
  readonly map?: unknown;
}

/** A chunk that a merged file has taken in: where each of its exports is now. */
export interface Moved {
  readonly fileName: string;
  /** Names in the merged file by those in the chunk. */
  readonly names: ReadonlyMap<string, string>;
}

export interface MergeRequest {
  /** Name of the file, without its hash and extension. */
  readonly name: string;
  /** Folder of the file, and of all chunks. */
  readonly folder: string;
  /** The file's own code, which imports chunks by their names. */
  readonly entry: string;
  /** Chunks by their names, which begin with `folder`. */
  readonly chunks: ReadonlyMap<string, MergeChunk>;
  readonly moved: ReadonlyMap<string, Moved>;
  readonly output: OutputSettings;
}

/** Settings of the build, so that merged files are like others. */
export interface OutputSettings {
  readonly sourcemap: boolean | 'inline' | 'hidden';
  readonly isMinified: boolean;
  /** Absolute path of the build's folder, so that source maps find their sources. */
  readonly dir: string;
  /** Browsers for which code is written, as `build.target` of Vite. */
  readonly target: string | readonly string[] | false | undefined;
}

export interface MergedFile {
  readonly fileName: string;
  /** Files that it imports. */
  readonly imports: readonly string[];
  /** Files to be written: itself, and its source map. */
  readonly files: readonly { readonly fileName: string; readonly source: string | Uint8Array }[];
}

/** The bundler of the app's Vite: Rolldown since Vite 8, Rollup before. */
export interface Bundler {
  readonly name: 'rolldown' | 'rollup';
  readonly open: Open;
}

/** The part of Rollup's and Rolldown's programming interface that is used. */
type Open = (options: object) => Promise<{
  generate(options: object): Promise<{ readonly output: readonly Output[] }>;
  close(): Promise<void>;
}>;

type Output =
  | {
      readonly type: 'chunk';
      readonly fileName: string;
      readonly code: string;
      readonly imports: readonly string[];
    }
  | { readonly type: 'asset'; readonly fileName: string; readonly source: string | Uint8Array };

export async function loadBundler(name: Bundler['name']): Promise<Bundler> {
  // A dependency of Vite's, which the app may not be able to import itself.
  const require = createRequire(createRequire(import.meta.url).resolve('vite'));
  const module = (await import(pathToFileURL(require.resolve(name)).href)) as Readonly<Record<string, Open>>;
  const open = module[name];
  if (open === undefined) throw new Error(`${name} has no function \`${name}\``);
  return { name, open };
}

const ENTRY = '\0sluice:merged';
const CHUNK = 'sluice:chunk:';
const SOURCE_MAP_COMMENT = /\n?\/\/# sourceMappingURL=\S+\s*$/;

/** Import specifier of a chunk, for `entry`. */
export const chunkId = (fileName: string): string => CHUNK + fileName;

/** A file of the chunks that `entry` needs. Imports of chunks that are neither among `chunks` nor moved stay as they are. */
export async function mergeChunks(bundler: Bundler, request: MergeRequest): Promise<MergedFile> {
  const { name, folder, entry, chunks, moved, output: settings } = request;
  const isKnown = (fileName: string): boolean => chunks.has(fileName) || moved.has(fileName);
  // Chunks have the paths that their files would have.
  const pathOf = (fileName: string): string => path.posix.join(settings.dir, fileName);
  const isRolldown = bundler.name === 'rolldown';
  const bundle = await bundler.open({
    input: ENTRY,
    // For its minifier, which writes code for the newest browsers otherwise.
    ...(isRolldown && settings.target && { transform: { target: settings.target } }),
    // Every chunk that is there is used: the first build has removed the rest.
    treeshake: false,
    preserveEntrySignatures: 'strict',
    plugins: [
      {
        name: 'sluice:merge',
        resolveId(id: string) {
          if (id === ENTRY) return id;
          const fileName = id.startsWith(CHUNK) ? id.slice(CHUNK.length) : path.posix.join(folder, id);
          const isChunk = /^\.|^sluice:/.test(id);
          return isChunk && isKnown(fileName) ? pathOf(fileName) : { id, external: true };
        },
        load(id: string) {
          if (id === ENTRY) return entry;
          const fileName = path.posix.relative(settings.dir, id);
          const elsewhere = moved.get(fileName);
          if (elsewhere) return forward(elsewhere);
          const chunk = chunks.get(fileName);
          return (
            chunk && {
              code: chunk.code.replace(SOURCE_MAP_COMMENT, ''),
              ...(settings.sourcemap && { map: chunk.map }),
            }
          );
        },
      },
    ],
  });
  try {
    const { output } = await bundle.generate({
      format: 'es',
      dir: settings.dir,
      entryFileNames: path.posix.join(folder, `${name}-[hash].js`),
      sourcemap: settings.sourcemap,
      ...(settings.isMinified && (isRolldown ? { minify: true } : { compact: true })),
    });
    const merged = output.find((file) => file.type === 'chunk');
    if (!merged) throw new Error(`the bundler made no file of ${[...chunks.keys()].join(', ')}`);
    return {
      fileName: merged.fileName,
      imports: merged.imports.map((file) => path.posix.join(folder, file)),
      files: output.map((file) => ({
        fileName: file.fileName,
        source: file.type === 'chunk' ? file.code : file.source,
      })),
    };
  } finally {
    await bundle.close();
  }
}

/** Module that has a chunk's exports from the file which they have moved to. */
function forward({ fileName, names }: Moved): string {
  const exported = [...names].map(([name, now]) => `${now} as ${name}`);
  return `export { ${exported.join(', ')} } from ${JSON.stringify(`./${path.posix.basename(fileName)}`)};\n`;
}
