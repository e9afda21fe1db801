/** Names of components, with the types of their props. It must not know registries. */
import type { Props } from '../component.js';

declare const propsOf: unique symbol;

/** A component by its name, for trees that are built in code. */
export interface Named<P> {
  readonly name: string;
  /** Undefined: the newest. */
  readonly version: string | undefined;
  /** Type of the props, which the compiler alone sees. */
  readonly [propsOf]?: (props: P) => void;
}

/** Props that a view takes: of React and Preact, of Vue, and of functions that return HTML. `Props` where nothing is known. */
export type PropsOf<View> = View extends (props: infer P, ...others: never) => unknown
  ? unknown extends P
    ? Props
    : P
  : View extends abstract new (...args: never) => { readonly $props: infer P }
    ? P
    : View extends abstract new (props: infer P, ...others: never) => unknown
      ? P
      : Props;

/** Props that a component is given: what its schema takes where it has one that says so, else what its view takes. */
export type GivenProps<View, Given> = Given extends {
  readonly props: { readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined } };
}
  ? unknown extends Input
    ? PropsOf<View>
    : Input
  : PropsOf<View>;

/** Names a component that is registered elsewhere, by the type of its view: `named<typeof Card>('Card')`. */
export function named<View>(name: string, version?: string): Named<PropsOf<View>> {
  return { name, version };
}
