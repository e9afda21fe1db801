/** Pages made of a library's components: most of their time is the library's own code, with any renderer. */

/** Files of `pages/libraries`. */
export const libraries = [
  'antd',
  'blueprint',
  'bootstrap',
  'chakra',
  'charts',
  'fluent',
  'mantine',
  'mui',
] as const;

const PREFIX = 'library ';

export const libraryPages: readonly string[] = libraries.map((name) => PREFIX + name);

/** The modules that hold a page, in `.build`: as it is, and compiled. */
export function modulesOf(page: string): readonly [plain: string, compiled: string] {
  const module = page.startsWith(PREFIX) ? libraryModule(page.slice(PREFIX.length)) : 'react';
  return [module, `${module}-compiled`];
}

export function libraryModule(name: string): string {
  return `library-${name}`;
}
