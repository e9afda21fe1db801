/**
 * The props of one box or job: what was given, as the component's schema makes it. Whatever is rendered, is in the page for the browser or is
 * asked for later is made of these, and no other box has a part of them. It must not know queues, pages or fragments.
 */
import type { Component, Props } from '../component.js';
import { exactTextOf } from '../state/exact.js';
import { serialize, serializeJson } from '../state/serialize.js';
import { Copier, copyOf } from './copy.js';
import { checkProps } from './props.js';

type State =
  | { readonly is: 'given' | 'refused' }
  | { readonly is: 'asked'; readonly promise: Promise<Props> }
  | { readonly is: 'made'; readonly props: Props };

/** One for all: most props are never checked. */
const GIVEN: State = { is: 'given' };

export class OwnProps {
  readonly #component: Component;
  readonly #given: Props;
  readonly #isFrozen: boolean;
  #state = GIVEN;
  #reason: unknown;
  /** Whether the copy has seen that they are JSON. */
  #isJson = false;
  #text: string | undefined = undefined;

  /** `isFrozen`: a component that changes its props throws, for development. */
  constructor(component: Component, given: Props, isFrozen = false) {
    this.#component = component;
    this.#given = given;
    this.#isFrozen = isFrozen;
  }

  /** The same each time; not to be changed. The schema is asked once. Throws, or rejects, where it refuses them. */
  made(): Props | Promise<Props> {
    if (this.#component.settings.props === undefined && !this.#isFrozen) return this.#given;
    const state = this.#state;
    if (state.is === 'made') return state.props;
    if (state.is === 'asked') return state.promise;
    if (state.is === 'refused') throw this.#reason;
    try {
      const made = this.#make();
      if (!(made instanceof Promise)) return this.#keep(made);
      const promise = made.then(
        (props) => this.#keep(props),
        (error: unknown) => this.#refuse(error),
      );
      this.#state = { is: 'asked', promise };
      return promise;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  /**
   * Returns the same as `made`, but undefined if they are not known yet, or somebody has been told that they are
   * refused.
   */
  known(): Props | undefined {
    if (this.#state.is === 'asked' || this.#state.is === 'refused') return undefined;
    const made = this.made();
    if (!(made instanceof Promise)) return made;
    made.catch(() => undefined);
    return undefined;
  }

  /** Makes props for the component, which may change them: a copy of what `made` gave. */
  forRender(made: Props): Props {
    if (this.#isFrozen) return made;
    const copier = new Copier();
    const copy = copier.copy(made);
    this.#isJson = copier.isJson;
    return copy;
  }

  /** State of the props as text, where they are known. Throws a `TypeError` where they cannot be sent to the browser. */
  text(): string | undefined {
    if (this.#text !== undefined) return this.#text;
    const known = this.known();
    if (known === undefined) return undefined;
    this.#text = this.#isJson ? serializeJson(known) : serialize(known);
    return this.#text;
  }

  /** Key that no other props have. Undefined where they are not known, or a text does not tell them from all others. */
  key(): string | undefined {
    const known = this.known();
    const exact = known && exactTextOf(known);
    // A page has it for the browser as well.
    this.#text ??= exact?.text;
    return exact?.key;
  }

  #make(): Props | Promise<Props> {
    if (this.#component.settings.props === undefined) return this.#frozen(this.#given);
    // Some schemas change what they check.
    const checked = checkProps(this.#component, copyOf(this.#given));
    return checked instanceof Promise ? checked.then((props) => this.#frozen(props)) : this.#frozen(checked);
  }

  /** A copy, because what was given, or a default of the schema, may be the app's own. */
  #frozen(props: Props): Props {
    return this.#isFrozen ? copyOf(props, true) : props;
  }

  #keep(props: Props): Props {
    this.#state = { is: 'made', props };
    return props;
  }

  #refuse(error: unknown): never {
    this.#reason = error;
    this.#state = { is: 'refused' };
    throw error;
  }
}

/** The props that a component is rendered with: they may be somebody's own, or be checked for this once. */
export function madeProps(component: Component, props: Props | OwnProps): Props | Promise<Props> {
  return props instanceof OwnProps ? props.made() : checkProps(component, props);
}
