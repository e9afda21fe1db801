// Whether an engine can run an app's bundle. Where it cannot, the server renders each screen.

/** JavaScript engine of a device. */
export interface Engine {
  /** Name, such as `quickjs`, `javascriptcore` or `v8`. */
  readonly name: string;
  /** Numbers with dots or dashes between them: `2024-01-13`, `14.1`. */
  readonly version: string;
}

/**
 * Whether an engine is one of those named and at least as new: `supports(engine, { quickjs: '2023-12-09', v8: '90' })`. An engine that is not
 * named is not supported.
 */
export function supports({ name, version }: Engine, least: Readonly<Record<string, string>>): boolean {
  const wanted = Object.hasOwn(least, name) ? least[name] : undefined;
  return wanted !== undefined && isAtLeast(numbersOf(version), numbersOf(wanted));
}

/**
 * Whether this engine parses all of these texts, each a piece of syntax that the bundle has: `understands('a?.b', 'class A { #b }')`. False where a
 * policy forbids code from texts.
 */
export function understands(...sources: readonly string[]): boolean {
  try {
    // oxlint-disable-next-line eslint/no-new, typescript/no-implied-eval, typescript/no-unsafe-call -- parses the app's own texts, runs nothing
    for (const source of sources) new Function(source);
    return true;
  } catch {
    return false;
  }
}

function numbersOf(version: string): readonly number[] {
  return (version.match(/\d+/g) ?? []).map(Number);
}

function isAtLeast(version: readonly number[], wanted: readonly number[]): boolean {
  for (let at = 0; at < wanted.length; at += 1) {
    const [have, need] = [version[at] ?? 0, wanted[at] ?? 0];
    if (have !== need) return have > need;
  }
  return version.length > 0;
}
