/**
 * The props of one box or job: what was given, as the component's schema makes it. Whatever is rendered, is in the page for the browser or is
 * asked for later is made of these, and no other box has a part of them. It must not know queues, pages or fragments.
 */
import type { Component, Props } from '../component.js';
import { copyOf } from './copy.js';
import { checkProps } from './props.js';

export interface OwnPropsOptions {
  /** A component that changes its props throws: for development. Default: false. */
  readonly isFrozen?: boolean;
  /** Somebody needs them after the render, which may have changed its own. Default: true. */
  readonly isKept?: boolean;
}

type State =
  | { readonly is: 'given' | 'refused' }
  | { readonly is: 'asked'; readonly promise: Promise<Props> }
  | { readonly is: 'made'; readonly props: Props };

export class OwnProps {
  readonly #component: Component;
  readonly #given: Props;
  readonly #isFrozen: boolean;
  readonly #isKept: boolean;
  #state: State = { is: 'given' };
  #reason: unknown;

  constructor(component: Component, given: Props, { isFrozen = false, isKept = true }: OwnPropsOptions = {}) {
    this.#component = component;
    this.#given = given;
    this.#isFrozen = isFrozen;
    this.#isKept = isKept;
  }

  /** The same each time; not to be changed. The schema is asked once. Throws, or rejects, where it refuses them. */
  made(): Props | Promise<Props> {
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

  /** As `made`, but undefined where they are not known yet, or somebody has been told that they are refused. */
  known(): Props | undefined {
    if (this.#state.is === 'asked' || this.#state.is === 'refused') return undefined;
    const made = this.made();
    if (!(made instanceof Promise)) return made;
    made.catch(() => undefined);
    return undefined;
  }

  /** For the component, which may change them: a copy of what `made` gave. */
  forRender(made: Props): Props {
    return this.#isFrozen || !this.#isKept ? made : copyOf(made);
  }

  #make(): Props | Promise<Props> {
    if (this.#component.settings.props === undefined) return copyOf(this.#given, this.#isFrozen);
    // Schemas may change what they check, and their defaults are the same objects each time.
    const checked = checkProps(this.#component, copyOf(this.#given));
    return checked instanceof Promise
      ? checked.then((props) => copyOf(props, this.#isFrozen))
      : copyOf(checked, this.#isFrozen);
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
