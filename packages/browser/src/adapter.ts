/**
 * Duties of a framework that takes over a component's HTML in the browser. It must not know when, or how the code came.
 * The server's half is `Adapter` of `@sluice/render`.
 */

export type Props = Readonly<Record<string, unknown>>;

/** Exports of a component's module: the view, and for plain functions `hydrate`. */
export type ComponentModule = Readonly<Record<string, unknown>>;

/** Contents that the page has for a component's slots. They belong to other boxes, so a framework may move but not make them. */
export interface SlotContents {
  readonly names: readonly string[];
  /** Takes a `<sluice-slot>` that the framework has made or taken over; to be called once it is in the document. */
  adopt(name: string, element: Element): void;
}

export interface MountRequest {
  readonly view: unknown;
  readonly module: ComponentModule;
  readonly props: Props;
  readonly box: HTMLElement;
  /** Unique in the document; prefixes ids that the framework makes up, as on the server. */
  readonly id: string;
  readonly slots: SlotContents;
  /** Whether the box holds the component's HTML. Otherwise it holds a placeholder, to be replaced. */
  readonly hydrate: boolean;
  /** Called for each difference between the server's HTML and the browser's. */
  readonly onMismatch: (error: unknown) => void;
  /** Called for an error that takes the component away after it was mounted. */
  readonly onError: (error: unknown) => void;
}

export interface Mounted {
  /** Shows another view with the same props: a changed module, in development. */
  update(module: ComponentModule, view: unknown): void;
  /** Ends the component, whose box has left the document: its effects and listeners go. Default: nothing is done. */
  unmount?(): void;
}

export interface BrowserAdapter {
  /** Resolves when events reach the component. Rejects with what it threw; the caller then puts the box's content back. */
  mount(request: MountRequest): Promise<Mounted> | Mounted;
}
