/** The server's bundles among those of a build, by what Vite says of each. */

/** The part of the context of Vite's and Rollup's `transform` in use here. */
export interface BundleContext {
  readonly environment?: { readonly config: { readonly consumer: string } };
}

export class ServerBundle {
  /** Undefined under Rollup, which has one bundle and is given the plugin for that one. */
  #isSsr: boolean | undefined;

  /** Called with Vite's configuration: before Vite 6 a build has one bundle. */
  configure({ build }: { readonly build: { readonly ssr?: boolean | string } }): void {
    this.#isSsr = Boolean(build.ssr);
  }

  /** `ssr`: what Vite tells `transform`. */
  has({ environment }: BundleContext, ssr: boolean | undefined): boolean {
    const consumer = environment?.config.consumer;
    return consumer === undefined ? (ssr ?? this.#isSsr ?? true) : consumer === 'server';
  }
}
