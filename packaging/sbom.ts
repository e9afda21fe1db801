/**
 * Bill of materials of the binaries as CycloneDX 1.6: crates and packages of npm that they hold. Packages of npm have their
 * own dependencies, which the user's lock file records. It must not know where the bill goes.
 */
import { createHash } from 'node:crypto';
import type { Crate } from './crates.ts';
import type { Embedded } from './embedded.ts';

interface Component {
  readonly type: 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: 'SHA-256'; readonly content: string }[];
  readonly externalReferences?: readonly { readonly type: 'vcs'; readonly url: string }[];
}

export function billOfMaterials(
  version: string,
  crates: readonly Crate[],
  embedded: readonly Embedded[],
): Readonly<Record<string, unknown>> {
  const components = [...crates.map(ofCrate), ...embedded.map(ofPackage)];
  const subject = `pkg:npm/sluice@${version}`;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([subject, components]))}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': subject,
        name: 'sluice',
        version,
        purl: subject,
        licenses: [{ expression: 'MIT' }],
      },
    },
    components,
    dependencies: [{ ref: subject, dependsOn: components.map((component) => component['bom-ref']) }],
  };
}

function ofCrate({ name, version, license, repository, checksum }: Crate): Component {
  const purl = `pkg:cargo/${name}@${encodeURIComponent(version)}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [{ expression: license }],
    ...(checksum === undefined ? {} : { hashes: [{ alg: 'SHA-256', content: checksum }] as const }),
    ...(repository === undefined ? {} : { externalReferences: [{ type: 'vcs', url: repository }] as const }),
  };
}

function ofPackage({ name, version, license }: Embedded): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }] };
}

/** An id that depends on the content alone, so that the same release has the same bill. */
function uuidOf(content: string): string {
  const hash = createHash('sha256').update(content).digest('hex');
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}
