/** The lines of React that are known: the one list of them, for the renderer, the compiler, the tests and the documentation. Oldest first. */
export const LINES = ['18.3', '19.0', '19.1', '19.2', '19.3'] as const;

export type Line = (typeof LINES)[number];

/** The line of a version; undefined for one that is not known, and for prereleases. */
export function lineOf(version: string): Line | undefined {
  return LINES.find((line) => /^\d+\.\d+\.\d+$/.test(version) && version.startsWith(`${line}.`));
}
