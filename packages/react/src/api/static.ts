/** `react-dom/static`, which React 18 does not have, so that it cannot be imported as the rest is. */
import { profile } from '../facts/profile.js';
import { version } from '../facts/react.js';

export type StaticModule = typeof import('react-dom/static');

let staticModule: StaticModule | null = null;

async function loadStatic(): Promise<StaticModule> {
  // An empty one has none of the functions, which `functionOf` then says.
  staticModule = profile.api === 'streams' ? ({} as StaticModule) : await import('react-dom/static');
  return staticModule;
}

export function withStatic<Result>(use: (module: StaticModule) => Promise<Result>): Promise<Result> {
  return staticModule === null ? loadStatic().then(use) : use(staticModule);
}

/** react-dom's function, or an error that says since which React it is there. */
export function functionOf<Module extends object, Name extends keyof Module & string>(
  module: Module,
  name: Name,
  since: string,
): Module[Name] {
  if (typeof module[name] === 'function') return module[name];
  throw new Error(
    `@sluice/react: react-dom ${version} has no \`${name}\`. It is available since React ${since}.`,
  );
}

// Its code is that of `react-dom/server`, which is loaded: this costs nothing, and saves a turn later.
if (profile.api !== 'streams') loadStatic().catch(() => undefined);
