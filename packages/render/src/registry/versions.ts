/** Order of versions, as semver.org says (§11). It must not know components. */

/** A semantic version, with or without build metadata, which has no say in the order. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/** Negative where `a` is older; both are versions. */
export function compareVersions(a: string, b: string): number {
  const [, majorA, minorA, patchA, previewA] = VERSION.exec(a) ?? [];
  const [, majorB, minorB, patchB, previewB] = VERSION.exec(b) ?? [];
  return (
    Number(majorA) - Number(majorB) ||
    Number(minorA) - Number(minorB) ||
    Number(patchA) - Number(patchB) ||
    comparePreviews(previewA, previewB)
  );
}

/** A release is newer than each of its previews. */
function comparePreviews(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0);
  const partsA = a.split('.');
  const partsB = b.split('.');
  for (const [index, part] of partsA.entries()) {
    const order = compareParts(part, partsB[index]);
    if (order !== 0) return order;
  }
  return partsA.length - partsB.length;
}

/** Numbers come before words. */
function compareParts(a: string, b: string | undefined): number {
  if (b === undefined) return 1;
  const isNumberA = /^\d+$/.test(a);
  const isNumberB = /^\d+$/.test(b);
  if (isNumberA && isNumberB) return Number(a) - Number(b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
