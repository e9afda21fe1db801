/** Files of a build whose names have hashes of their contents. It takes the bundler's word, no guess by names. It must not know servers. */

interface Chunk {
  readonly type: 'chunk';
  readonly fileName: string;
  /** The name with a mark in the place of each hash. */
  readonly preliminaryFileName: string;
}

interface Asset {
  readonly type: 'asset';
  readonly fileName: string;
  /** Names that it was emitted with; none for a plugin's file with a name of its own. */
  readonly names?: readonly string[];
}

type Output = Chunk | Asset;
type Pattern = string | ((asset: never) => string);

/** Names of those files. `known`: names that are sure to have a hash. `pattern`: `output.assetFileNames` of the build. */
export function immutableFiles(
  bundle: Readonly<Record<string, Output>>,
  known: ReadonlySet<string>,
  pattern: Pattern,
): readonly string[] {
  const hasHash = (fileName: string): boolean => {
    const file = bundle[fileName];
    if (known.has(fileName)) return true;
    if (file?.type === 'chunk') return file.preliminaryFileName !== fileName;
    // A source map goes with its file.
    if (fileName.endsWith('.map')) return hasHash(fileName.slice(0, -'.map'.length));
    return file !== undefined && isOfPattern(file, pattern);
  };
  return Object.keys(bundle).filter(hasHash);
}

/** Whether the asset has the name that the pattern makes of one of its names and a hash. */
function isOfPattern(asset: Asset, pattern: Pattern): boolean {
  const { fileName, names = [] } = asset;
  if (names.length === 0) return false;
  const text = typeof pattern === 'string' ? pattern : pattern(asset as never);
  if (!text.includes('[hash')) return false;
  return names.some((name) => {
    const [, stem = '', extension = ''] = /([^/\\]*?)(?:\.([^./\\]*))?$/.exec(name) ?? [];
    const parts = text.split(/(\[[^\]]*\])/).map((part) => {
      const [, placeholder, length = '8'] = /^\[(\w+)(?::(\d+))?\]$/.exec(part) ?? [];
      switch (placeholder) {
        case 'hash':
          return `[\\w-]{${length}}`;
        case 'name':
          return loosely(stem);
        case 'ext':
          return loosely(extension);
        case 'extname':
          return extension === '' ? '' : `\\.${loosely(extension)}`;
        default:
          return part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      }
    });
    return new RegExp(`^${parts.join('')}$`).test(fileName);
  });
}

/** Pattern of a name in which a bundler may have replaced characters that are not for file names. */
function loosely(name: string): string {
  return name.replace(/[^\w]/g, '.');
}
