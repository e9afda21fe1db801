/**
 * Lets an app that was written for react-dom render by `@sluice/react`, where `sluice.toml` says `react = "fast"`. When a
 * server module of react-dom has been loaded, by `require` or by `import`, its exports are replaced by the same ones with the
 * renderer's in their place. The renderer itself gets react-dom's own: it leaves to it what it cannot do identically.
 * react-dom is CommonJS in every version, so that `after-require.ts` sees it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { afterRequire } from './after-require.js';

type Exports = Record<string, unknown>;
type Require = (id: string) => unknown;

/** The modules whose exports are replaced, by the end of their paths: `server.js` and the like load one of them. */
const SERVER_MODULE = /[\\/]node_modules[\\/]react-dom[\\/](server|static)\.(node|edge|browser)\.js$/;
const RENDERER = '@sluice/react/server';

export type Unavailable = (why: string) => void;

/** Catches react-dom from now on, until the process ends. `unavailable` is called at most once, with what is in the way. */
export function catchReactDOM(unavailable: Unavailable): void {
  const renderers = new Renderers(unavailable);
  afterRequire((module, filename) => {
    const found = SERVER_MODULE.exec(filename);
    if (found !== null) renderers.replace(module, filename, String(found[2]));
  });
}

/** A renderer for one copy and flavour of react-dom: it belongs to one React. */
interface Renderer {
  /** Undefined while it is being loaded, and where it cannot be. */
  exports: Exports | undefined;
  /** Exports of what it has loaded of react-dom itself meanwhile, which get its functions too. */
  readonly waiting: Exports[];
}

class Renderers {
  readonly #unavailable: Unavailable;
  readonly #renderers = new Map<string, Renderer>();
  /** react-dom's own exports, by those that apps get. */
  readonly #originals = new WeakMap<object, Exports>();
  #isTold = false;

  constructor(unavailable: Unavailable) {
    this.#unavailable = unavailable;
  }

  /** The module has other exports when this returns, perhaps without the renderer's functions as yet: Node remembers them now. */
  replace(module: NodeModule, filename: string, flavour: string): void {
    const original = module.exports as Exports;
    const exports = { ...original };
    this.#originals.set(exports, original);
    module.exports = exports;
    const place = join(dirname(filename), flavour);
    let renderer = this.#renderers.get(place);
    if (renderer === undefined) {
      renderer = { exports: undefined, waiting: [] };
      this.#renderers.set(place, renderer);
      renderer.exports = this.#load(filename, flavour, original);
    } else if (renderer.exports === undefined) {
      renderer.waiting.push(exports);
      return;
    }
    const functions = renderer.exports;
    if (functions !== undefined) {
      for (const one of [exports, ...renderer.waiting]) takeOver(one, functions);
    }
    renderer.waiting.length = 0;
  }

  #load(filename: string, flavour: string, original: Exports): Exports | undefined {
    const path = findRenderer();
    if (path === undefined) {
      this.#tell(`${RENDERER} was found neither from the app nor beside Sluice`);
      return undefined;
    }
    try {
      const require = this.#requireAround(filename, flavour, original);
      const module: { exports: Exports } = { exports: {} };
      const run = compileFunction(readFileSync(path, 'utf8'), ['exports', 'require', 'module'], {
        filename: path,
      }) as (exports: Exports, require: Require, module: { exports: Exports }) => void;
      run(module.exports, require, module);
      return module.exports;
    } catch (error) {
      this.#tell(`${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  /** The renderer's `require`: React as this copy of react-dom sees it, and react-dom's own server modules. */
  #requireAround(filename: string, flavour: string, original: Exports): Require {
    const require = createRequire(filename);
    return (id) => {
      const [name, part] = id.split('/');
      if (name !== 'react-dom' || part === undefined) return require(id) as unknown;
      const own = (which: string): Exports => {
        const path = join(dirname(filename), `${part}.${which}.js`);
        if (path === filename) return original;
        const exports = require(path) as Exports;
        return this.#originals.get(exports) ?? exports;
      };
      // The scripts that a page needs are read from what the streams of `.node` write.
      return flavour === 'node' ? own(flavour) : { ...own('node'), ...own(flavour) };
    };
  }

  #tell(why: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#unavailable(why);
  }
}

/** Only names that this version and flavour has: apps look which ones are there. */
function takeOver(exports: Exports, functions: Exports): void {
  for (const name of Object.keys(exports)) {
    if (typeof functions[name] === 'function') exports[name] = functions[name];
  }
}

/** The renderer's CommonJS file: the app's own, else the one that came with this preload. */
function findRenderer(): string | undefined {
  const own = fileURLToPath(new URL('../..', import.meta.url));
  const entry = process.argv[1];
  const places = [...(entry === undefined ? [] : [entry]), join(process.cwd(), 'index.js'), own];
  for (const place of places) {
    try {
      return createRequire(place).resolve(RENDERER);
    } catch {
      // The next place may have it.
    }
  }
  const beside = join(own, '..', 'react', 'dist', 'server.cjs');
  return existsSync(beside) ? beside : undefined;
}
