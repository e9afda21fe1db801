/** View of a graph: where its paths start, and how it reads. */
import { limitPaths, toPathSet } from '../paths/index.js';
import type { Path, PathInput, PathSet } from '../types.js';
import { BRANCH, type Node, pathOf } from './node.js';
import { Read } from './read.js';
import type { Pace, Requests } from './requests.js';
import type { Root } from './root.js';

/** Settings of a view. */
export interface Settings {
  readonly isBoxed: boolean;
  readonly takesErrors: boolean;
  readonly hasSource: boolean;
  readonly pace: Pace;
  /** Branch at which paths start. */
  readonly base: Node;
}

/** Settings, and the state that all views of a model share. */
export class View {
  readonly root: Root;
  readonly settings: Settings;

  constructor(root: Root, settings: Settings) {
    this.root = root;
    this.settings = settings;
  }

  /** Path at which paths start. */
  path(): Path {
    return pathOf(this.settings.base);
  }

  /**
   * Path sets of arguments.
   *
   * @throws PathError for what is no path set; PathLimitError for too many paths.
   */
  pathSets(paths: readonly PathInput[]): PathSet[] {
    const pathSets = paths.map(toPathSet);
    limitPaths(pathSets, this.root.maxPaths);
    return pathSets;
  }

  /** Reads what the cache holds. */
  read(pathSets: readonly PathSet[]): Read {
    const { isBoxed, takesErrors } = this.settings;
    const read = new Read(this.root.cache, isBoxed, takesErrors);
    const start = this.#findBase();
    if (start !== undefined) return read.run(pathSets, start);
    for (const pathSet of pathSets) read.missing.push([...this.path(), ...pathSet]);
    return read;
  }

  /** Requests for what the cache does not hold, of a view that has a data source. */
  get requests(): Requests | undefined {
    return this.settings.hasSource ? this.root.requests : undefined;
  }

  /** Branch at which writes start, made where it is not there. */
  startOfWrite(): Node {
    const { cache } = this.root;
    return this.#findBase() ?? this.path().reduce((node, key) => cache.enter(node, key), cache.root);
  }

  /** Branch at which paths start, found by its path if its node has left the cache. */
  #findBase(): Node | undefined {
    const { base } = this.settings;
    if (base.isLive) return base;
    const [found] = this.root.cache.find([...this.path(), null]);
    return found?.kind === BRANCH ? found : undefined;
  }
}
