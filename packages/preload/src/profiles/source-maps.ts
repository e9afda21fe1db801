/**
 * Way from places in the code that ran to places in the code that was written (ECMA-426, source maps). The gateway runs this
 * file in a process of its own when a worker is stuck, with a bound on time and memory: maps are input, and may be large. JSON
 * comes on stdin, JSON goes to stdout. A map that cannot be read leaves its places as they are.
 */
import { readFileSync, statSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, join, normalize } from 'node:path';

/**
 * Facts of V8 about a script. `map` is what the script says of its map last, in the text that V8 compiled; without it, that
 * is looked for in the script's file.
 */
interface Script {
  readonly url: string;
  readonly map?: string;
}

interface Asked {
  readonly scripts: readonly Script[];
  /** Index of the script; line and column in it, from 0. Without a column, the first code on the line is meant. */
  readonly places: readonly (readonly [script: number, line: number, column: number | null])[];
}

/** Line and column from 0. */
type Original = readonly [file: string, line: number, column: number];

/** A map whose sources are named in full; some bundlers write maps of parts. */
interface Payload extends Omit<SourceMapPayload, 'sources'> {
  sources?: (string | null)[];
  readonly sections?: readonly { readonly map: Payload }[];
}

interface Source {
  readonly map: SourceMap;
  /** Lines of the script's file, where they were read. */
  readonly lines: readonly string[];
}

/** Maximum size of a source map or script, bytes. */
const MAP_BYTES_MAX = 32 * 1024 * 1024;

/** The path that a `file:` URL, or a path, names. */
function pathOf(url: string): string | undefined {
  if (url.startsWith('file:///')) return decoded(url.slice('file://'.length));
  return url.startsWith('/') ? url : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function read(file: string): string | undefined {
  // A pipe by that name would never end.
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAP_BYTES_MAX) return undefined;
  return readFileSync(file, 'utf8');
}

/** The text of a script's map, and the file that its sources are named relative to. */
function textOf(
  script: string,
  map: string,
): { readonly text: string | undefined; readonly base: string } | undefined {
  if (map.startsWith('data:')) {
    const comma = map.indexOf(',');
    const content = map.slice(comma + 1);
    const isBase64 = map.slice(0, comma).endsWith(';base64');
    return { text: isBase64 ? Buffer.from(content, 'base64').toString() : decoded(content), base: script };
  }
  if (map === '' || (map.includes('://') && !map.startsWith('file:'))) return undefined;
  const file = pathOf(map) ?? join(dirname(script), decoded(map));
  return { text: read(file), base: file };
}

/** Names the sources in full, as Node leaves them as they are written. */
function nameSources(map: Payload, base: string): void {
  const root = map.sourceRoot ? map.sourceRoot.replace(/\/?$/, '/') : '';
  map.sources = map.sources?.map((source) => (source === null ? null : nameOf(root + source, base))) ?? [];
  for (const section of map.sections ?? []) nameSources(section.map, base);
}

function nameOf(source: string, base: string): string {
  const path = pathOf(source);
  if (path !== undefined) return normalize(path);
  // webpack:// and the like name no file.
  return source.includes('://') ? source : join(dirname(base), decoded(source));
}

function sourceOf({ url, map: named }: Script): Source | undefined {
  try {
    const script = pathOf(url);
    if (script === undefined) return undefined;
    const code = named === undefined ? (read(script) ?? '') : '';
    const { text, base } = textOf(script, named ?? nameOfMap(code)) ?? {};
    if (text === undefined || base === undefined) return undefined;
    // The first line of a map may keep it from being run as a script.
    const map = JSON.parse(text.replace(/^\)\]\}.*/, '')) as Payload;
    nameSources(map, base);
    return { map: new SourceMap(map as SourceMapPayload), lines: code.split('\n') };
  } catch {
    return undefined;
  }
}

/** The last one counts, as bundles may have those of their parts. */
function nameOfMap(code: string): string {
  let name = '';
  for (const [, found = ''] of code.matchAll(/\/\/[#@]\s*sourceMappingURL=(\S+)/g)) name = found;
  return name;
}

function originalOf(source: Source | undefined, line: number, column: number | null): Original | null {
  const first = column ?? source?.lines[line]?.search(/\S/) ?? 0;
  const entry = source?.map.findEntry(line, Math.max(first, 0));
  // What stands on an earlier line says nothing of this one, and code without a source was made up by a tool.
  if (entry === undefined || !('originalSource' in entry) || entry.generatedLine !== line) return null;
  const { originalSource, originalLine, originalColumn } = entry;
  const isPlace = [originalLine, originalColumn].every((number) => Number.isInteger(number) && number >= 0);
  return typeof originalSource === 'string' && isPlace
    ? [originalSource, originalLine, originalColumn]
    : null;
}

const { scripts, places } = JSON.parse(readFileSync(0, 'utf8')) as Asked;
const originals: (Original | null)[] = places.map(() => null);
const placesOf: number[][] = scripts.map(() => []);
for (const [at, [script]] of places.entries()) placesOf[script]?.push(at);
// One map after the other, as all of them may be more than there is memory for.
for (const [index, script] of scripts.entries()) {
  const source = sourceOf(script);
  for (const at of placesOf[index] ?? []) {
    const [, line = 0, column = null] = places[at] ?? [];
    originals[at] = originalOf(source, line, column);
  }
}
process.stdout.write(JSON.stringify(originals));
