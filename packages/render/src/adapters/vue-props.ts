/**
 * Props for Vue components, without those that would become attributes by surprise. Vue puts props that a component does not
 * declare on its root element, where `innerHTML` or `onclick` of some data would run script. Runs anywhere, without Vue.
 */
import type { Props } from '../component.js';

/** Attributes that may fall through to the root element: none of them runs script or loads anything. */
const HARMLESS = /^(?:class|id|title|role|lang|dir|data-[\w-]+|aria-[\w-]+)$/;
/**
 * Names that are harmful in components whose declarations are not known yet. Vue sets properties by a leading `.`, and
 * attributes by `^`.
 */
const HARMFUL = /^(?:on|[.^])|^(?:innerHTML|outerHTML|textContent|srcdoc)$/i;

interface Declares {
  readonly props?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly mixins?: readonly unknown[];
  readonly extends?: unknown;
  readonly inheritAttrs?: boolean;
  readonly __asyncLoader?: unknown;
  readonly __asyncResolved?: unknown;
}

/** The props that `view` declares, and harmless attributes. All of them, where the component says `inheritAttrs: false`. */
export function declaredProps(view: unknown, props: Props): Props {
  const { __asyncLoader: isAsync, __asyncResolved: resolved = view } = view as Declares;
  const component = resolved as Declares;
  if (component.inheritAttrs === false) return props;
  // A function without declarations has all props, and puts none of them anywhere.
  if (typeof resolved === 'function' && component.props === undefined) return props;
  if (isAsync !== undefined && resolved === view) return filtered(props, (name) => !HARMFUL.test(name));
  const declared = new Set<string>();
  declare(component, declared);
  return filtered(props, (name) => declared.has(camelCase(name)) || HARMLESS.test(name));
}

function filtered(props: Props, isKept: (name: string) => boolean): Props {
  return Object.fromEntries(Object.entries(props).filter(([name]) => isKept(name)));
}

/** Collects the declared props, with those that the component has from others. */
function declare({ props = [], mixins = [], extends: base }: Declares, declared: Set<string>): void {
  for (const name of Array.isArray(props) ? (props as readonly string[]) : Object.keys(props))
    declared.add(camelCase(name));
  for (const other of base === undefined ? mixins : [...mixins, base]) declare(other as Declares, declared);
}

function camelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
