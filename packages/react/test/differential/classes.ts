/** Class components with the parts that a description lists. */

import type { ComponentClass, ReactNode } from 'react';
import type { LegacyContext, Node } from './description.ts';
import { contextOf, shown } from './build.ts';
import type { World } from './world.ts';

type Described = Node & { k: 'class' };
type State = Record<string, unknown>;

export function classOf(
  node: Described,
  world: World,
  body: (nodes: readonly Node[]) => ReactNode,
): ComponentClass {
  const { React } = world;
  const has = new Set(node.parts);
  const Base = has.has('pure') ? React.PureComponent : React.Component;

  class Made extends Base<Record<string, unknown>, State> {
    constructor(props: Record<string, unknown>, context: unknown) {
      super(props);
      if (has.has('state')) this.state = { count: 1 };
      if (has.has('constructor-reads-context')) this.state = { ...this.state, first: shown(context) };
    }

    override render(): ReactNode {
      world.activity += 1;
      return [
        Object.entries(this.state ?? {})
          .map(([name, value]) => `${name}=${shown(value)}`)
          .join(' '),
        Object.entries(this.props)
          .map(([name, value]) => ` ${name}:${shown(value)}`)
          .join(''),
        node.context === null ? null : shown(this.context),
        body(node.of),
      ];
    }
  }

  const prototype = Made.prototype as Made & Record<string, unknown>;
  const updates = (count: number) =>
    function willMount(this: Made) {
      for (let index = 0; index < count; index += 1) this.setState({ [`set${index}`]: index });
      if (has.has('function-update'))
        // React 18 has a third for contexts of before 16.3.
        this.setState((before, props, ...rest: unknown[]) => ({
          seen: `${Object.keys(before ?? {}).length} ${shown(props['given'])} ${rest.map(shown).join(' ')}`,
        }));
      if (has.has('replace-state')) this.state = { replaced: true };
    };
  if (has.has('will-mount')) prototype['componentWillMount'] = updates(1);
  if (has.has('unsafe-will-mount')) prototype['UNSAFE_componentWillMount'] = updates(2);
  if (has.has('snapshot')) prototype['getSnapshotBeforeUpdate'] = () => null;

  const statics = Made as unknown as Record<string, unknown>;
  Object.defineProperty(Made, 'name', { value: node.name });
  if (node.context !== null) statics['contextType'] = contextOf(world, node.context);
  if (has.has('derived-state'))
    statics['getDerivedStateFromProps'] = (props: Record<string, unknown>, state: State | null) => ({
      derived: `${shown(props['given'])} of ${shown(state?.['count'])}`,
    });
  if (has.has('default-props')) statics['defaultProps'] = { maybe: 'by default', other: 'default' };
  if (has.has('error-boundary')) statics['getDerivedStateFromError'] = () => ({ failed: true });
  return Made;
}

/** The contexts of React before 16.3, which React 18 still hands down and React 19 ignores. */
export function legacyContextOf(world: World, as: LegacyContext, body: () => ReactNode): ComponentClass {
  const { React } = world;
  const types = { colour: () => null };
  const showsColour = (context: unknown): ReactNode => {
    const { colour } = (context ?? {}) as { colour?: string };
    return [`colour ${shown(colour)}`, body()];
  };

  class Giver extends React.Component {
    static contextTypes = types;
    static childContextTypes = as === 'undeclared' ? {} : types;
    override render(): ReactNode {
      world.activity += 1;
      return React.createElement(Taker as never);
    }
  }
  if (as !== 'not given') {
    (Giver.prototype as { getChildContext?: unknown }).getChildContext = function gives(this: Giver): object {
      const { colour = '' } = (this.context ?? {}) as { colour?: string };
      return { colour: `${colour} red` };
    };
  }
  class ClassTaker extends React.Component {
    static contextTypes = types;
    override render(): ReactNode {
      world.activity += 1;
      return showsColour(this.context);
    }
  }
  const functionTaker = Object.assign((_props: object, context: unknown) => showsColour(context), {
    contextTypes: types,
  });
  const Taker = as === 'function' ? functionTaker : ClassTaker;
  return Giver;
}
