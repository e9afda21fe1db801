/** Components by name and version. */
import type { Adapter } from '../adapters/adapter.js';
import type { Component, Props, Settings } from '../component.js';

export interface RegistryOptions {
  /** Frameworks, the first that recognises a view renders it. Functions that return HTML need none. */
  readonly adapters?: readonly Adapter[];
}

export interface VersionOptions {
  /** As semantic versions are written: `2.1.0`. */
  readonly version?: string;
}

/** What a module of a component exports. */
export interface ComponentModule {
  readonly default: unknown;
  readonly settings?: Settings;
  readonly name?: string;
  readonly version?: string;
}

export interface Registry {
  /** Throws where this version of the name is there already. */
  register<P = Props>(name: string, view: unknown, settings?: Settings<P>, options?: VersionOptions): void;
  /** `load` is called on first use, once; where it fails, the next use calls it again. */
  lazy<P = Props>(
    name: string,
    load: () => Promise<ComponentModule> | ComponentModule,
    settings?: Settings<P>,
    options?: VersionOptions,
  ): void;
  /** The newest version, or that which is named. Undefined where there is none; rejects where it cannot be loaded. */
  find(name: string, version?: string): Promise<Component | undefined>;
  /** As `find`, where it is loaded already. */
  loaded(name: string, version?: string): Component | undefined;
  names(): readonly string[];
  /** Newest first. A component without versions has none. */
  versions(name: string): readonly string[];
}

export declare function createRegistry(options?: RegistryOptions): Registry;
