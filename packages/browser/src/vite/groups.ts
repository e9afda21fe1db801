/**
 * Plans which chunks of components become one file. A component's code goes into one group; a helper that several groups need goes
 * into a shared file. It must not know how chunks are merged, or what pages there are.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';

/** The part of Rollup's and Rolldown's chunks that grouping looks at. */
export interface GroupedChunk {
  readonly type: 'chunk';
  readonly fileName: string;
  readonly code: string;
  readonly isEntry: boolean;
  readonly imports: readonly string[];
  readonly dynamicImports: readonly string[];
  readonly moduleIds: readonly string[];
  readonly exports: readonly string[];
}

export type GroupedBundle = Readonly<Record<string, GroupedChunk | { readonly type: 'asset' }>>;

export interface GroupMember {
  /** Name of the component, with `@version` if it has one. */
  readonly key: string;
  /** File name of the chunk that has the component. */
  readonly fileName: string;
  /** Components of different kinds share no group. */
  readonly kind: string;
}

export interface GroupPlan {
  /** Chunks of each shared file, dependencies first. A file imports earlier ones alone. */
  readonly shared: readonly (readonly string[])[];
  /** Members of each group, and the chunks that become its file. */
  readonly groups: readonly {
    readonly members: readonly GroupMember[];
    readonly chunks: readonly string[];
  }[];
}

/** Packages of frameworks. Components that import different ones share no group, and a page of one gets no helpers that only the other has. */
const FRAMEWORK = /\/node_modules\/@?(react|preact|vue)(?:-dom)?\//;
/** Other code that a group imports is fetched with it. Components share a group if they need the same, apart from files of at most these bytes. */
const SMALL_BYTES = 4096;

/**
 * Plan for a build's components. `bytesMax` bounds the code of a group, in bytes as minified: only a component that is larger makes a larger one. Equal
 * input gives an equal plan, and a component that changes leaves other groups as they are, unless its group has to be split.
 */
export function planGroups(
  bundle: GroupedBundle,
  components: readonly GroupMember[],
  bytesMax: number,
): GroupPlan {
  const chunks = new Map(
    Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? [[chunk.fileName, chunk]] : [])),
  );
  const entries = new Set(components.map(({ fileName }) => fileName));
  const staying = chunksThatStay(chunks, entries, bytesMax);
  const members = components.filter(({ fileName }) => !staying.has(fileName));

  const ofKind = new Map<string, GroupMember[]>();
  for (const member of members) {
    const kind = JSON.stringify([
      member.kind,
      frameworksOf(member.fileName, chunks),
      largeNeedsOf(member.fileName, chunks, staying),
    ]);
    ofKind.set(kind, [...(ofKind.get(kind) ?? []), member]);
  }
  const bytesOf = (fileName: string): number => Buffer.byteLength(chunks.get(fileName)?.code ?? '');
  const groups = [...ofKind.values()].flatMap((same) => split(same, bytesOf, bytesMax, 0));

  const groupsOf = new Map<string, Set<number>>();
  groups.forEach((group, index) => {
    const entries = group.map(({ fileName }) => fileName);
    for (const fileName of reachable(entries, chunks, staying))
      groupsOf.set(fileName, (groupsOf.get(fileName) ?? new Set()).add(index));
  });
  const order = reachable(
    members.toSorted((left, right) => compare(left.key, right.key)).map(({ fileName }) => fileName),
    chunks,
    staying,
  );
  const isIn = (fileName: string, index: number): boolean => groupsOf.get(fileName)?.has(index) === true;
  const frameworks = groups.map(([member]) => frameworksOf(member?.fileName ?? '', chunks));
  const usersOf = (fileName: string): string =>
    JSON.stringify([...new Set(frameworks.filter((_, index) => isIn(fileName, index)))].toSorted());
  const shared = order.filter((fileName) => (groupsOf.get(fileName)?.size ?? 0) > 1);
  return {
    // Imports of a chunk have the chunk's users and perhaps more: files with most users come first.
    shared: [...new Set(shared.map(usersOf))]
      .toSorted((left, right) => usersIn(right) - usersIn(left) || compare(left, right))
      .flatMap((users) =>
        fill(
          shared.filter((fileName) => usersOf(fileName) === users),
          bytesOf,
          bytesMax,
        ),
      ),
    groups: groups.map((group, index) => ({
      members: group,
      chunks: order.filter((fileName) => groupsOf.get(fileName)?.size === 1 && isIn(fileName, index)),
    })),
  };
}

const usersIn = (users: string): number => (JSON.parse(users) as unknown[]).length;

type Chunks = ReadonlyMap<string, GroupedChunk>;

/**
 * Chunks that keep their files: those that something other than components imports by name, large ones that several import, and those that
 * cannot be merged.
 */
function chunksThatStay(chunks: Chunks, components: ReadonlySet<string>, bytesMax: number): Set<string> {
  const all = [...chunks.values()];
  const imported = new Set(all.flatMap(({ imports }) => imports));
  const dynamic = new Set(all.flatMap(({ dynamicImports }) => dynamicImports));
  const [first = ''] = components;
  const stays = ({ fileName, isEntry, code, exports, imports }: GroupedChunk): boolean =>
    (isEntry && !components.has(fileName)) ||
    dynamic.has(fileName) ||
    // Relative addresses in its code have to stay right.
    path.posix.dirname(fileName) !== path.posix.dirname(first) ||
    exports.some((name) => !/^[\w$]+$/.test(name)) ||
    (imported.has(fileName) &&
      (Buffer.byteLength(code) > bytesMax || reachable(imports, chunks, new Set()).includes(fileName)));
  const kept = all.filter((chunk) => stays(chunk)).map(({ fileName }) => fileName);
  return new Set(reachable(kept, chunks, new Set()));
}

/** Chunks and all that they import, dependencies first, without those of `except`. */
function reachable(from: readonly string[], chunks: Chunks, except: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<string>(except);
  const visit = (fileName: string): void => {
    const chunk = chunks.get(fileName);
    if (seen.has(fileName) || !chunk) return;
    seen.add(fileName);
    chunk.imports.forEach(visit);
    found.add(fileName);
  };
  from.forEach(visit);
  return [...found];
}

/** Frameworks that a component imports, by name and with commas. */
function frameworksOf(fileName: string, chunks: Chunks): string {
  const found = new Set<string>();
  for (const needed of reachable([fileName], chunks, new Set())) {
    for (const id of chunks.get(needed)?.moduleIds ?? []) {
      const framework = FRAMEWORK.exec(id.replaceAll('\\', '/'))?.[1];
      if (framework !== undefined) found.add(framework);
    }
  }
  return [...found].toSorted().join();
}

/** Larger files that are fetched with a component. */
function largeNeedsOf(fileName: string, chunks: Chunks, staying: ReadonlySet<string>): readonly string[] {
  const isLarge = (needed: string): boolean =>
    staying.has(needed) && Buffer.byteLength(chunks.get(needed)?.code ?? '') > SMALL_BYTES;
  return reachable([fileName], chunks, new Set()).filter(isLarge).toSorted();
}

/**
 * Halves components by the bits of their places until each part is small enough. A place depends on nothing but a component's name, so that
 * a new or changed component moves others only where its own part is split. Components of a folder have places beside each other.
 */
function split(
  members: readonly GroupMember[],
  bytesOf: (fileName: string) => number,
  bytesMax: number,
  bit: number,
): readonly (readonly GroupMember[])[] {
  if (members.length === 0) return [];
  const large = members.length > 1 ? members.filter(({ fileName }) => bytesOf(fileName) > bytesMax / 2) : [];
  if (large.length > 0)
    return [
      ...large.map((member) => [member]),
      ...split(
        members.filter((member) => !large.includes(member)),
        bytesOf,
        bytesMax,
        bit,
      ),
    ];
  const bytes = members.reduce((sum, { fileName }) => sum + bytesOf(fileName), 0);
  if (members.length === 1 || bytes <= bytesMax || bit >= PLACE_BITS) return [members];
  const isUpper = ({ key }: GroupMember): boolean =>
    (((placeOf(key)[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
  return [
    ...split(
      members.filter((member) => !isUpper(member)),
      bytesOf,
      bytesMax,
      bit + 1,
    ),
    ...split(members.filter(isUpper), bytesOf, bytesMax, bit + 1),
  ];
}

const PLACE_BITS = 96;

/** 32 bits of the folder's name, then 64 of the component's. */
function placeOf(key: string): Buffer {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return Buffer.concat([digest(path.posix.dirname(key)).subarray(0, 4), digest(key).subarray(0, 8)]);
}

/** Parts of at most these bytes, in the order given. */
function fill(
  fileNames: readonly string[],
  bytesOf: (fileName: string) => number,
  bytesMax: number,
): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const fileName of fileNames) {
    bytes += bytesOf(fileName);
    if (bytes > bytesMax) {
      parts.push([]);
      bytes = bytesOf(fileName);
    }
    parts.at(-1)?.push(fileName);
  }
  return parts;
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
