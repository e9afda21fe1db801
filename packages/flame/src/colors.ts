// Colours of boxes: one for each package, the collector's and native code's and the kernel's apart from all of them.

const FIXED: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  app: ['#e8903a', '#b8651b'],
  node: ['#8fb98a', '#4d7a4a'],
  native: ['#b9b4c7', '#67627a'],
  kernel: ['#a9b7c9', '#4f6079'],
  '(garbage collector)': ['#d9534f', '#a8312d'],
  '(program)': ['#c9c9c9', '#5c5c5c'],
  '(root)': ['#d8d8d8', '#4a4a4a'],
};

/** Packages keep away from the reds of the collector. */
export function colorOf(owner: string, isDark: boolean): string {
  const fixed = FIXED[owner];
  if (fixed !== undefined) return fixed[isDark ? 1 : 0];
  let hash = 7;
  for (const character of owner) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return `hsl(${160 + (hash % 150)} 45% ${isDark ? 36 : 68}%)`;
}

/** Whether colours there are the dark ones: a page may choose otherwise than the system. */
export function isDark(element: Element): boolean {
  const scheme = getComputedStyle(element).colorScheme;
  if (scheme === 'dark' || scheme === 'light') return scheme === 'dark';
  return matchMedia('(prefers-color-scheme: dark)').matches;
}
