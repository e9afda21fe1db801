/**
 * From places in the code that ran to places in the code that was written (ECMA-426, source maps). The gateway runs this file in
 * a process of its own when a worker is stuck, with a bound on time and memory: maps are input, and may be large. JSON comes on
 * stdin, JSON goes to stdout. A map that cannot be read leaves its places as they are.
 */
import { readFileSync, statSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, join, normalize } from 'node:path';

/** What V8 knows of a script. `map` is what the script says of its map last, in the text that V8 compiled. */
interface Script {
  readonly url: string;
  readonly map: string;
}

interface Asked {
  readonly scripts: readonly Script[];
  /** Index of the script; line and column in it, from 0. */
  readonly places: readonly (readonly [script: number, line: number, column: number])[];
}

/** Line and column from 0. */
type Original = readonly [file: string, line: number, column: number];

/** A map whose sources are named in full; some bundlers write maps of parts. */
interface Payload extends Omit<SourceMapPayload, 'sources'> {
  sources?: (string | null)[];
  readonly sections?: readonly { readonly map: Payload }[];
}

/** The largest source map that is read. */
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
function textOf({
  url,
  map,
}: Script): { readonly text: string | undefined; readonly base: string } | undefined {
  const script = pathOf(url);
  if (script === undefined) return undefined;
  if (map.startsWith('data:')) {
    const comma = map.indexOf(',');
    const content = map.slice(comma + 1);
    const isBase64 = map.slice(0, comma).endsWith(';base64');
    return { text: isBase64 ? Buffer.from(content, 'base64').toString() : decoded(content), base: script };
  }
  if (map.includes('://') && !map.startsWith('file:')) return undefined;
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

function mapOf(script: Script): SourceMap | undefined {
  try {
    const { text, base } = textOf(script) ?? {};
    if (text === undefined || base === undefined) return undefined;
    // The first line of a map may keep it from being run as a script.
    const map = JSON.parse(text.replace(/^\)\]\}.*/, '')) as Payload;
    nameSources(map, base);
    return new SourceMap(map as SourceMapPayload);
  } catch {
    return undefined;
  }
}

function originalOf(map: SourceMap | undefined, line: number, column: number): Original | null {
  const entry = map?.findEntry(line, column);
  // What stands on an earlier line says nothing of this one, and code without a source was made up by a tool.
  if (entry === undefined || !('originalSource' in entry) || entry.generatedLine !== line) return null;
  const { originalSource, originalLine, originalColumn } = entry;
  const isPlace = [originalLine, originalColumn].every((number) => Number.isInteger(number) && number >= 0);
  return typeof originalSource === 'string' && isPlace
    ? [originalSource, originalLine, originalColumn]
    : null;
}

const { scripts, places } = JSON.parse(readFileSync(0, 'utf8')) as Asked;
const maps = scripts.map(mapOf);
const originals = places.map(([script, line, column]) => originalOf(maps[script], line, column));
process.stdout.write(JSON.stringify(originals));
