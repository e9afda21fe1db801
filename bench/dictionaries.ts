// Bytes on the wire that a compression dictionary (RFC 9842) would save on the pages of the storefront: brotli and zstd as the gateway sets them, against
// zstd with another page of the app as its raw dictionary, which is `dcz` with its header of 40 bytes.
//
//   npx tsx bench/dictionaries.ts [--workers N]
//
// A visitor has the first listing when asking for the other pages, or the same page of an earlier visit, to whose cart something came since. Needs
// the command `zstd`. Decision 0181 has the figures.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { startSluiceServer } from './lib/servers.ts';
import { readOptions } from './lib/options.ts';
import { conclude, describe, median, printTable } from './lib/report.ts';
import { storefrontEntry, storefrontIsBuilt, storefrontRoutes } from './lib/storefront.ts';

/** Settings of `gateway/compression/src/coder.rs` for a body that is sent once. */
const [BROTLI_QUALITY, ZSTD_LEVEL, WINDOW_BITS] = [5, 3, 18];
/** A window has to reach back over the page to all of the dictionary; RFC 9842 allows 8 MiB. */
const DCZ_WINDOW_BITS = 20;
const DCZ_HEADER_BYTES = 40;
const PAGES_PER_CLASS = 12;

type Column = 'raw' | 'brotli' | 'zstd' | 'listing' | 'sibling' | 'visited' | 'later';

const options = readOptions({ runs: 1, runsQuick: 1, workers: 1 });
if (!storefrontIsBuilt()) throw new Error('the storefront is not built: run `make build`');
if (spawnSync('zstd', ['--version']).error !== undefined)
  throw new Error('the command zstd is missing: install the package zstd');
const about = describe('Compression dictionaries', options);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-dictionaries-'));

function brotliBytes(page: string): number {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_LGWIN]: WINDOW_BITS };
  return brotliCompressSync(page, { params }).length;
}

function zstdBytes(page: string, dictionary?: string): number {
  const file = path.join(folder, 'dictionary');
  if (dictionary !== undefined) fs.writeFileSync(file, dictionary);
  const known = dictionary === undefined ? [] : ['-D', file];
  const flags = [
    '-q',
    '-c',
    '--no-check',
    `-${ZSTD_LEVEL}`,
    `--zstd=wlog=${dictionary === undefined ? WINDOW_BITS : DCZ_WINDOW_BITS}`,
    ...known,
  ];
  const { status, stdout, stderr } = spawnSync('zstd', flags, { input: page });
  if (status !== 0) throw new Error(`zstd ${flags.join(' ')}: ${String(stderr)}`);
  return stdout.length + (dictionary === undefined ? 0 : DCZ_HEADER_BYTES);
}

const server = await startSluiceServer({ entry: storefrontEntry, workers: options.workers });
const [target = ''] = server.targets;
try {
  const text = async (page: string, cookie = ''): Promise<string> => {
    const answer = await fetch(`http://${target}${page}`, { headers: { cookie } });
    if (answer.status !== 200) throw new Error(`the storefront answered ${page} with ${answer.status}`);
    return answer.text();
  };
  const listing = await text('/products');
  const sku = /<option value="([A-Z]+-[^"]+)" selected=""/.exec(listing)?.[1];
  if (sku === undefined) throw new Error('the listing names no sku');
  const added = await fetch(`http://${target}/cart`, {
    method: 'POST',
    body: new URLSearchParams({ sku }),
    redirect: 'manual',
  });
  const cookie = added.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const routes = await storefrontRoutes(target);
  const rows: (string | number)[][] = [];
  for (const name of new Set(routes.map(({ class: each = '' }) => each))) {
    if (name === 'suggest') continue;
    const figures: Record<Column, number>[] = [];
    // A visitor of the class comes from another page of it, where there is one.
    let before = listing;
    const paths = routes.flatMap((route) => (route.class === name ? [route.path] : []));
    for (const each of paths.slice(0, PAGES_PER_CLASS)) {
      const page = await text(each);
      const later = await text(each, cookie);
      figures.push({
        raw: Buffer.byteLength(page),
        brotli: brotliBytes(page),
        zstd: zstdBytes(page),
        listing: zstdBytes(page, listing),
        sibling: zstdBytes(page, before),
        visited: zstdBytes(later, page),
        later: brotliBytes(later),
      });
      before = page;
    }
    const of = (key: Column): number => Math.round(median(figures.map((each) => each[key])));
    const saved = (key: Column, plain: Column = 'brotli'): string =>
      `${Math.round(100 * (1 - of(key) / of(plain)))} %`;
    rows.push([
      name,
      of('raw'),
      of('brotli'),
      of('zstd'),
      of('listing'),
      saved('listing'),
      of('sibling'),
      saved('sibling'),
      of('visited'),
      saved('visited', 'later'),
    ]);
  }
  printTable(
    [
      'page',
      'bytes',
      'brotli',
      'zstd',
      'dcz by the first listing',
      'saved',
      'dcz by one of its kind',
      'saved',
      'dcz by the page itself',
      'saved',
    ],
    rows,
  );
  conclude('dictionaries', options, about, [], { rows });
} finally {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
}
