/**
 * Crates that are part of the gateway's binary on any platform that has a package, by `cargo metadata` and the lock file.
 * It must not know what is told of them.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { PLATFORMS } from './platforms.ts';
import { root } from './workspace.ts';

export interface Crate {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  readonly repository: string | undefined;
  /** Folder of its sources on this machine. */
  readonly folder: string;
  /** SHA-256 of its archive. */
  readonly checksum: string | undefined;
}

interface Metadata {
  readonly packages: readonly {
    readonly id: string;
    readonly name: string;
    readonly version: string;
    readonly license: string | null;
    readonly repository: string | null;
    readonly source: string | null;
    readonly manifest_path: string;
    readonly targets: readonly { readonly kind: readonly string[] }[];
  }[];
  readonly resolve: {
    readonly nodes: readonly {
      readonly id: string;
      readonly deps: readonly {
        readonly pkg: string;
        readonly dep_kinds: readonly { kind: string | null }[];
      }[];
    }[];
  };
}

const MANIFEST = path.join(root, 'gateway/Cargo.toml');
const METADATA_BYTES_MAX = 64 * 1024 * 1024;

export class NoLicenseError extends Error {
  override readonly name = 'NoLicenseError';
  constructor(crate: string) {
    super(
      `${crate} names no licence in its manifest; gateway/deny.toml has to clarify it before it can be shipped.`,
    );
  }
}

/** Crates from outside this repository, in order of their names. */
export function shippedCrates(): readonly Crate[] {
  const metadata = readMetadata();
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const gateway = metadata.packages.find(({ name, source }) => name === 'sluice' && source === null);
  const macros = new Set(
    metadata.packages
      .filter(({ targets }) => targets.some(({ kind }) => kind.includes('proc-macro')))
      .map(({ id }) => id),
  );
  const reached = new Set<string>();
  const next = gateway === undefined ? [] : [gateway.id];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    for (const { pkg, dep_kinds: kinds } of nodes.get(id)?.deps ?? [])
      // Crates that only builds, tests and macros need are not in the binary.
      if (kinds.some(({ kind }) => kind === null) && !macros.has(pkg)) next.push(pkg);
  }
  const checksums = readChecksums();
  return metadata.packages
    .filter(({ id, source }) => reached.has(id) && source !== null)
    .map(({ name, version, license, repository, manifest_path: file }) => {
      if (license === null) throw new NoLicenseError(`${name} ${version}`);
      return {
        name,
        version,
        // Old manifests separate choices by a slash.
        license: license.replaceAll(/\s*\/\s*/g, ' OR '),
        repository: repository ?? undefined,
        folder: path.dirname(file),
        checksum: checksums.get(`${name} ${version}`),
      };
    })
    .toSorted((one, other) => compare(`${one.name} ${one.version}`, `${other.name} ${other.version}`));
}

/** By code units, so that the order is the same on every machine. */
export function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function readMetadata(): Metadata {
  const targets = PLATFORMS.flatMap(({ target }) => ['--filter-platform', target]);
  const args = ['metadata', '--format-version', '1', '--locked', '--manifest-path', MANIFEST, ...targets];
  return JSON.parse(
    execFileSync('cargo', args, { encoding: 'utf8', maxBuffer: METADATA_BYTES_MAX }),
  ) as Metadata;
}

function readChecksums(): ReadonlyMap<string, string> {
  const lock = fs.readFileSync(path.join(root, 'gateway/Cargo.lock'), 'utf8');
  const found = lock.matchAll(/name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "(\w+)"/g);
  return new Map([...found].map(([, name, version, checksum]) => [`${name} ${version}`, checksum ?? '']));
}
