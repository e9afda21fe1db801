/** `react-dom/static`, which React 18 does not have, so that it cannot be imported as the rest is. */
import { profile } from '../facts/profile.js';

export type StaticModule = typeof import('react-dom/static');

let staticModule: StaticModule | null = null;

async function loadStatic(): Promise<StaticModule> {
  staticModule = await import('react-dom/static');
  return staticModule;
}

export function withStatic<Result>(use: (module: StaticModule) => Promise<Result>): Promise<Result> {
  return staticModule === null ? loadStatic().then(use) : use(staticModule);
}

// Its code is that of `react-dom/server`, which is loaded: this costs nothing, and saves a turn later.
if (profile.api !== 'streams') loadStatic().catch(() => undefined);
