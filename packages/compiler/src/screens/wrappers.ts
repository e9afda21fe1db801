/** Components around others: props that are passed on, elements that are called in place, and props that are a component's own. */
import type { NodePath, types as t } from '@babel/core';
import { literalOf } from '../static-value.js';
import type { Base, Component, Taken } from './components.js';
import { keyOf } from './constants.js';
import type { Literals } from './literals.js';
import type { Output } from './output.js';
import type { Place } from './place.js';
import type { Attribute, Read } from './read.js';
import type { Use, Wrapping } from './report.js';

export class Wrappers {
  readonly #out: Output;
  readonly #literals: Literals;
  readonly #components: ReadonlyMap<t.Node, Component>;
  readonly wrappings: Wrapping[] = [];
  readonly uses: Use[] = [];
  /** Calls in place that copy the props, and why. */
  readonly copying = new WeakMap<t.Node, string>();
  /** Second parameters by component. */
  readonly #owned = new Map<Component, t.Identifier>();

  constructor(out: Output, literals: Literals, components: ReadonlyMap<t.Node, Component>) {
    this.#out = out;
    this.#literals = literals;
    this.#components = components;
  }

  /** `<Inner {...props} />`, or why it is a copy. */
  makeWhole(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression | string {
    const types = this.#out.types;
    const [{ value }] = read.attributes as [Attribute];
    const base = this.#baseOf(path, value);
    if (base === undefined)
      return 'the spread object is not the props of a component, so it may change later';
    if (base.isWritten) return 'the component writes into the object';
    const on = this.callee(path, read, place, label);
    if (on === undefined)
      return types.callExpression(this.#out.runtime('passed'), [read.type, value, ...keyOfRead(read)]);
    const isOwn = base.reason === undefined && this.#isOnlySpread(path, value);
    const owned = isOwn ? this.#ownership(base.component) : this.#out.undefined();
    const name = isOwn && base.isRest ? on.on : on.passed;
    return types.callExpression(this.#out.runtime(name), [read.type, value, owned]);
  }

  /** `<Inner {...props} a={1} />`, or why it is a copy. */
  makeMerge(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression | string {
    const types = this.#out.types;
    const [first, ...own] = read.attributes as [Attribute, ...Attribute[]];
    if (read.isHost) return 'a host element gets a copy';
    if (first.kind !== 'spread') return 'attributes precede the spread';
    if (own.some(({ kind }) => kind === 'spread')) return 'there are several spreads';
    const base = this.#baseOf(path, first.value);
    if (base === undefined) return 'the spread object is not the props of a component';
    const names = own.map((one) => (one.kind === 'value' ? one.name : ''));
    // Engines disagree on the order of a name that an object has twice.
    if (new Set(names).size < names.length) return 'an attribute is given twice';
    if (place.onlyRootOf !== base.component)
      return `the element is not all that ${base.component.name} returns`;
    const on = this.callee(path, read, place, label);
    if (on === undefined) return `${label} is not called in place`;
    const owned = this.#ownership(base.component);
    // Its own code alone reads the props, and has done so when the attributes are written.
    const mayWrite = base.reason === undefined && this.#isOnlySpread(path, first.value);
    if (!mayWrite || (!base.isRest && owned.type !== 'Identifier')) {
      const copy = types.callExpression(this.#out.runtime(on.on), [
        read.type,
        this.#literals.props(read),
        owned,
      ]);
      const { name, hooks, reason } = base.component;
      const why =
        base.reason ??
        (mayWrite
          ? `${name} is never called in place: ${reason ?? `it has ${hooks} hooks`}`
          : 'it is spread more than once');
      this.copying.set(copy, why);
      return copy;
    }
    const scope = base.component.path.scope;
    const target = base.isRest
      ? types.cloneNode(first.value as t.Identifier)
      : scope.generateUidIdentifier('props');
    const steps: t.Expression[] = [];
    const declare = (name: t.Identifier): void => {
      scope.push({ id: types.cloneNode(name), kind: 'let' });
    };
    const writes: t.Expression[] = [];
    const all = [...own, ...this.#childrenAttribute(read)];
    for (const { name, value } of all as { name: string; value: t.Expression }[]) {
      let given = value;
      // All values are read before the first one is written.
      if (all.length > 1 && literalOf(value) === undefined) {
        const kept = scope.generateUidIdentifier(/^\w+$/.test(name) ? name : 'value');
        declare(kept);
        steps.push(types.assignmentExpression('=', types.cloneNode(kept), value));
        given = types.cloneNode(kept);
      }
      const key = keyOf(types, name);
      const place = types.memberExpression(types.cloneNode(target), key, key.type === 'StringLiteral');
      writes.push(types.assignmentExpression('=', place, given));
    }
    if (!base.isRest) {
      declare(target);
      const isOwn = types.binaryExpression('===', types.cloneNode(owned), this.#out.runtime('OWNED'));
      const copy = types.objectExpression([types.spreadElement(types.cloneNode(first.value))]);
      const choice = types.conditionalExpression(isOwn, types.cloneNode(first.value), copy);
      writes.unshift(types.assignmentExpression('=', types.cloneNode(target), choice));
    }
    const call = types.callExpression(this.#out.runtime(on.on), [read.type, types.cloneNode(target), owned]);
    return types.sequenceExpression([...steps, ...writes, call]);
  }

  /** Functions of the runtime for an element that may be called in place; undefined if it is rendered. */
  callee(
    path: NodePath,
    read: Read,
    place: Place,
    label: string,
  ): { readonly on: string; readonly passed: string } | undefined {
    const outer = place.onlyRootOf;
    if (!this.#out.isOn('inline') || outer === undefined || read.isHost) return undefined;
    const refused = (reason: string): undefined => {
      this.#out.note('inline', path.node, label, false, reason);
    };
    if (read.type.type !== 'Identifier') return refused('its type is not a plain name');
    const binding = path.scope.getBinding(read.type.name);
    if (binding?.constant !== true || binding.scope.path.type !== 'Program')
      return refused('its type may change between renders');
    if (read.key !== undefined) return refused('it has a key');
    if (this.#out.react === 18 && read.ref !== undefined) return refused('it has a ref');
    const inner = this.localOf(read.type);
    if (inner?.reason !== undefined) return refused(inner.reason);
    // A function that has hooks is called as a component only, so it may have another one's.
    const isStateful = outer.hooks === 'stateful';
    if (inner?.hooks === 'stateful' && !isStateful)
      return refused(
        outer.hooks === 'plain'
          ? `it has hooks, and ${outer.name} has none and may be called as a function`
          : `it has state, and ${outer.name} has effects`,
      );
    this.#out.note(
      'inline',
      path.node,
      label,
      true,
      inner === undefined ? 'if it is marked, seen at run time' : '',
    );
    return isStateful ? { on: 'onStateful', passed: 'passedOnStateful' } : { on: 'on', passed: 'passedOn' };
  }

  noteUse(path: NodePath<t.JSXElement>, { isHost, attributes }: Read, label: string): void {
    if (isHost) return;
    const own = attributes.filter((one) => one.kind === 'value').map(({ name }) => name);
    if (attributes.some(({ kind, value }) => kind === 'spread' && this.#baseOf(path, value) !== undefined))
      return;
    this.uses.push({ to: label, props: own });
  }

  noteWrapping(path: NodePath<t.JSXElement>, read: Read, label: string, copies: boolean): void {
    if (read.isHost) return;
    const component = read.attributes
      .filter(({ kind }) => kind === 'spread')
      .map(({ value }) => this.#baseOf(path, value)?.component)
      .find((one) => one !== undefined);
    if (component === undefined) return;
    const own = read.attributes.filter((one) => one.kind === 'value').map(({ name }) => name);
    const line = path.node.loc?.start.line ?? 0;
    this.wrappings.push({ from: component.name, to: label, line, own, copies });
  }

  /** The function of this module that is the type of an element. */
  localOf(type: t.Expression): Component | undefined {
    if (type.type !== 'Identifier') return undefined;
    const { name } = type;
    return [...this.#components.values()].find((one) => one.statement !== undefined && one.name === name);
  }

  /** `Card.$plain = Card`: with the component itself as the value, a copy of the mark on another one is none. */
  finishComponent(component: Component): void {
    const types = this.#out.types;
    const { name, path, statement, hooks, reason } = component;
    const owned = this.#owned.get(component);
    if (owned !== undefined) {
      for (const { taken } of component.bases.values())
        if (taken !== undefined) this.#take(path.node, taken, owned);
      // With a default, the parameter does not count in the function's length.
      const [first = types.identifier('_')] = path.node.params;
      path.node.params = [first, types.assignmentPattern(types.cloneNode(owned), this.#out.undefined())];
    }
    if (!this.#out.isOn('inline') || statement === undefined || reason !== undefined || hooks === 'other')
      return;
    const mark = types.memberExpression(
      types.identifier(name),
      types.identifier(hooks === 'plain' ? '$plain' : '$stateful'),
    );
    const marked = types.expressionStatement(types.assignmentExpression('=', mark, types.identifier(name)));
    // A mark has to be there before the first render, which may be further up in the module.
    if (path.isFunctionDeclaration()) this.#out.declarations.push(marked);
    else statement.insertAfter(marked);
  }

  /** The component whose props, or whose rest of them, the expression is. */
  #baseOf(path: NodePath, value: t.Expression): (Base & { readonly component: Component }) | undefined {
    if (value.type !== 'Identifier') return undefined;
    const binding = path.scope.getBinding(value.name);
    if (binding === undefined) return undefined;
    for (const component of this.#components.values()) {
      const base = component.bases.get(binding);
      if (base !== undefined) return { ...base, component };
    }
    return undefined;
  }

  #childrenAttribute({ children }: Read): Attribute[] {
    const [only] = children;
    if (only === undefined) return [];
    return [
      {
        kind: 'value',
        name: 'children',
        value: children.length === 1 ? only : this.#out.types.arrayExpression([...children]),
      },
    ];
  }

  /** Whether the object is spread into this element alone: another one would have it, or share it. */
  #isOnlySpread(path: NodePath, value: t.Expression): boolean {
    if (value.type !== 'Identifier') return false;
    const references = path.scope.getBinding(value.name)?.referencePaths ?? [];
    return references.filter(({ parent }) => parent.type === 'JSXSpreadAttribute').length <= 1;
  }

  /** The second parameter of a component, which says whether its props are its own. */
  #ownership(component: Component): t.Expression {
    if (component.reason !== undefined || component.hooks === 'other') return this.#out.undefined();
    let owned = this.#owned.get(component);
    if (owned === undefined) {
      owned = component.path.scope.generateUidIdentifier('owned');
      this.#owned.set(component, owned);
    }
    return this.#out.types.cloneNode(owned);
  }

  /** Makes a rest of props that are the component's own by taking the other names out of them, without a copy. */
  #take(node: Component['path']['node'], { pattern, names, statement }: Taken, owned: t.Identifier): void {
    const types = this.#out.types;
    let props: t.Expression;
    if (statement === undefined) {
      const parameter = this.#out.program.scope.generateUidIdentifier('props');
      props = types.cloneNode(parameter);
      if (pattern.typeAnnotation) parameter.typeAnnotation = pattern.typeAnnotation;
      node.params[0] = parameter;
    } else props = statement.declarations[0]?.init as t.Identifier;
    delete pattern.typeAnnotation;
    const assigned = (to: t.Identifier | t.ObjectPattern, value: t.Expression): t.Statement =>
      types.expressionStatement(types.assignmentExpression('=', to, value));
    const rest = pattern.properties.at(-1) as t.RestElement;
    const others = pattern.properties.slice(0, -1).map((one) => types.cloneNode(one, true));
    const taken = types.callExpression(this.#out.runtime('taken'), [
      types.cloneNode(props),
      types.arrayExpression(names.map((one) => types.stringLiteral(one))),
    ]);
    const declaration = types.variableDeclaration(
      'let',
      Object.keys(types.getBindingIdentifiers(pattern)).map((one) =>
        types.variableDeclarator(types.identifier(one)),
      ),
    );
    const choice = types.ifStatement(
      types.binaryExpression('===', types.cloneNode(owned), this.#out.runtime('OWNED')),
      types.blockStatement([
        ...(others.length > 0 ? [assigned(types.objectPattern(others), types.cloneNode(props))] : []),
        assigned(types.cloneNode(rest.argument as t.Identifier), taken),
      ]),
      types.blockStatement([assigned(pattern, types.cloneNode(props))]),
    );
    if (node.body.type !== 'BlockStatement')
      node.body = types.blockStatement([types.returnStatement(node.body)]);
    const at = statement === undefined ? 0 : node.body.body.indexOf(statement);
    node.body.body.splice(at, statement === undefined ? 0 : 1, declaration, choice);
  }
}

const keyOfRead = ({ key }: Read): t.Expression[] => (key === undefined ? [] : [key]);
