/**
 * `dist/`: tarballs of all packages whose parts are there, a bill of materials, and checksums. `--complete` refuses to do so
 * without the binary of every platform, as a release must. It must not publish anything.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { builtBinaries } from './binaries.ts';
import { shippedCrates } from './crates.ts';
import { embeddedPackages } from './embedded.ts';
import { pack } from './pack.ts';
import { PLATFORMS } from './platforms.ts';
import { billOfMaterials } from './sbom.ts';
import { stage } from './stage.ts';
import { distDir, releaseVersion, root } from './workspace.ts';

/** Names of tarballs in the order in which they have to be published. */
export const orderFile = path.join(distDir, 'packages.json');

const binaries = builtBinaries();
const missing = PLATFORMS.filter((platform) => !binaries.has(platform)).map(({ name }) => name);
if (binaries.size === 0 || (process.argv.includes('--complete') && missing.length > 0)) {
  console.error(
    `dist/binaries lacks ${missing.join(', ')}: run "make dist-binaries" on machines that build them.`,
  );
  process.exit(1);
}

for (const file of fs.readdirSync(distDir))
  if (/\.(tgz|json)$|^SHA256SUMS$/.test(file)) fs.rmSync(path.join(distDir, file));
const tarballs = pack(stage(path.join(distDir, 'stage'), binaries), distDir);
const bill = path.join(distDir, `sluice-${releaseVersion()}.cdx.json`);
const content = billOfMaterials(releaseVersion(), shippedCrates(), await embeddedPackages());
fs.writeFileSync(bill, `${JSON.stringify(content, null, 2)}\n`);
fs.writeFileSync(
  orderFile,
  `${JSON.stringify(
    tarballs.map(({ file }) => path.basename(file)),
    null,
    2,
  )}\n`,
);

const files = [...tarballs.map(({ file }) => file), bill];
fs.writeFileSync(
  path.join(distDir, 'SHA256SUMS'),
  files.map((file) => `${sha256(file)}  ${path.basename(file)}\n`).join(''),
);
for (const { file, bytes } of tarballs)
  console.log(`${path.relative(root, file)}  ${(bytes / 1e6).toFixed(2)} MB`);
if (missing.length > 0) console.log(`not built here: ${missing.join(', ')}`);

function sha256(file: string): string {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}
