/**
 * The Babel plugin for `@sluice/screens`. It works on JSX, so it comes before whatever turns JSX into calls, and behind React Compiler.
 * JSX that it cannot improve stays JSX.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { NodePath, PluginObj, PluginPass, types as t } from '@babel/core';
import { type Types, expressionOf, literalOf } from '../static-value.js';
import { jsxText } from '../text.js';
import { type Base, type Component, type Taken, componentsOf } from './components.js';
import { BLOCK, Blocks, CHILDREN, type Block } from './blocks.js';
import { keyOf } from './constants.js';
import { type Place, type Places, placeOf } from './place.js';
import { type FileReport, type Line, PASSES, type Pass, type Use, type Wrapping } from './report.js';
import { HOISTED, groupsOf, hoistStyles, updateOf } from './widgets.js';

export interface ScreensOptions {
  /** Passes to switch off with `false`; all are on by default. */
  readonly passes?: Readonly<Partial<Record<Pass, boolean>>>;
  /** Major version of React at run time; by default that of the `react` that the file would import. */
  readonly react?: 18 | 19;
  /**
   * Whether no component looks into elements that it is given, nor copies or changes them (`cloneElement`, `Children.map`): false by default.
   * With true, elements within components and in attributes are compiled like those that go straight to the renderer.
   */
  readonly opaqueElements?: boolean;
  /** Gets the report of each file. */
  readonly report?: (report: FileReport) => void;
}

/** Props up to which a comparison by name is written. */
const LONGEST_COMPARISON = 12;
const RUNTIME = '@sluice/screens/runtime';
const SCREENS = '@sluice/screens';
/** Components of React that hand their children to the renderer as they are. */
const TRANSPARENT = new Set(['Fragment', 'Suspense', 'StrictMode', 'Profiler']);

export default function sluiceScreens(
  { types }: { readonly types: Types },
  options: ScreensOptions = {},
): PluginObj {
  return {
    name: 'sluice-screens',
    visitor: {
      Program(program, pass) {
        if (isForeign(pass)) return;
        const react = options.react ?? majorOf(pass);
        new Module(types, program, react, options, pass.filename ?? '').compile();
      },
    },
  };
}

/** Whether a comment gives JSX another meaning than React's. */
function isForeign(pass: PluginPass): boolean {
  return (pass.file.ast.comments ?? []).some(({ value }) => {
    const source = /@jsxImportSource\s+(\S+)/.exec(value)?.[1];
    return (source !== undefined && source !== 'react') || /@jsx\s+(?!React\.createElement\b)\S/.test(value);
  });
}

const majors = new Map<string, 18 | 19>();

/** Throws an error that says what to set where no `react` is found. */
function majorOf({ filename, cwd }: PluginPass): 18 | 19 {
  const from = filename === undefined ? cwd : dirname(resolve(cwd, filename));
  const known = majors.get(from);
  if (known !== undefined) return known;
  let path: string;
  try {
    path = createRequire(import.meta.url).resolve('react/package.json', { paths: [from, cwd] });
  } catch {
    throw new Error(
      `@sluice/compiler/screens finds no react from ${from}: set its option "react" to 18 or 19.`,
    );
  }
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string };
  const major = Number.parseInt(version, 10);
  if (major !== 18 && major !== 19)
    throw new Error(`@sluice/compiler/screens knows React 18 and 19, not ${version}.`);
  majors.set(from, major);
  return major;
}

type Attribute =
  | { readonly kind: 'value'; readonly name: string; readonly value: t.Expression }
  | { readonly kind: 'spread'; readonly value: t.Expression };

interface Read {
  readonly type: t.Expression;
  readonly isHost: boolean;
  readonly attributes: readonly Attribute[];
  readonly children: readonly t.Expression[];
  readonly key: t.Expression | undefined;
  /** Whether `key` stands behind a spread: React's `createElement` is called there. */
  readonly isKeyLate: boolean;
  readonly ref: t.Expression | undefined;
}

class Module implements Places {
  readonly #types: Types;
  readonly #program: NodePath<t.Program>;
  readonly #react: 18 | 19;
  readonly #isOn: (pass: Pass) => boolean;
  readonly #isOpaque: boolean;
  readonly #lines: Line[] = [];
  readonly #wrappings: Wrapping[] = [];
  readonly #uses: Use[] = [];
  readonly #imports = new Map<string, t.Identifier>();
  readonly #constants = new Map<string, t.Identifier>();
  readonly #declarations: t.Statement[] = [];
  readonly #places = new Map<t.Node, Place>();
  /** Elements that are the same at each render. */
  readonly #constantElements = new WeakSet<t.Node>();
  /** Calls in place that copy the props, and why. */
  readonly #copying = new WeakMap<t.Node, string>();
  /** Second parameters by component. */
  readonly #owned = new Map<Component, t.Identifier>();
  readonly #seen = new WeakSet<t.Node>();
  readonly #sites = new Map<t.Node, t.Expression>();
  /** Prototypes of props by their groups. */
  readonly #groupNames = new Map<number, t.Identifier>();
  readonly #blocks: Blocks;
  readonly #file: string;
  readonly #report: ScreensOptions['report'];
  #element: t.Identifier | undefined;
  #widget: t.Identifier | undefined;
  components: ReadonlyMap<t.Node, Component> = new Map();

  constructor(
    types: Types,
    program: NodePath<t.Program>,
    react: 18 | 19,
    { passes = {}, opaqueElements = false, report }: ScreensOptions,
    file: string,
  ) {
    this.#types = types;
    this.#program = program;
    this.#react = react;
    this.#isOn = (pass) => passes[pass] !== false;
    this.#isOpaque = opaqueElements;
    this.#blocks = new Blocks(types, (name) => this.#isWidget(name));
    this.#file = file;
    this.#report = report;
  }

  compile(): void {
    if (PASSES.every((pass) => !this.#isOn(pass))) return;
    // React Compiler, in the same pass, leaves names behind that no scope knows.
    this.#program.scope.crawl();
    this.components = componentsOf(this.#program);
    // Places are found before anything moves.
    this.#program.traverse({
      JSXElement: {
        enter: (path) => {
          this.#places.set(path.node, placeOf(path, this));
        },
        exit: (path) => this.#blocks.look(path),
      },
    });
    if (['elements', 'styles', 'updates', 'blocks'].every((pass) => this.#isOn(pass as Pass)))
      this.#program.traverse({ JSXElement: (path) => this.#beginBlock(path) });
    this.#program.traverse({
      JSXElement: {
        exit: (path) => this.#compileElement(path),
      },
      JSXFragment: {
        exit: (path) => this.#compileFragment(path),
      },
    });
    for (const component of this.components.values()) this.#finishComponent(component);
    this.#finish();
    this.#report?.({ file: this.#file, lines: this.#lines, wrappings: this.#wrappings, uses: this.#uses });
  }

  // Places

  isTransparent(element: t.JSXElement | t.JSXFragment): boolean {
    if (element.type === 'JSXFragment' || this.#isOpaque) return true;
    return this.#isHost(element.openingElement.name) || this.#isReacts(element.openingElement.name);
  }

  nameOf(element: t.JSXElement | t.JSXFragment): string {
    return element.type === 'JSXFragment' ? '' : nameOf(element.openingElement.name);
  }

  #imported(
    name: t.JSXOpeningElement['name'],
  ): { readonly source: string; readonly name: string } | undefined {
    if (name.type === 'JSXMemberExpression' && name.object.type === 'JSXIdentifier') {
      const binding = this.#program.scope.getBinding(name.object.name);
      const { node, parent } = binding?.path ?? {};
      if (parent?.type !== 'ImportDeclaration' || node === null) return undefined;
      return node?.type === 'ImportNamespaceSpecifier' || node?.type === 'ImportDefaultSpecifier'
        ? { source: parent.source.value, name: name.property.name }
        : undefined;
    }
    if (name.type !== 'JSXIdentifier') return undefined;
    const binding = this.#program.scope.getBinding(name.name);
    const { node, parent } = binding?.path ?? {};
    if (node?.type !== 'ImportSpecifier' || parent?.type !== 'ImportDeclaration') return undefined;
    const imported = node.imported.type === 'Identifier' ? node.imported.name : node.imported.value;
    return { source: parent.source.value, name: imported };
  }

  #isWidget(name: t.JSXOpeningElement['name']): boolean {
    const imported = this.#imported(name);
    return imported?.source === SCREENS && imported.name === 'Widget';
  }

  #isHost(name: t.JSXOpeningElement['name']): boolean {
    return (name.type === 'JSXIdentifier' && /^[a-z]/.test(name.name)) || this.#isWidget(name);
  }

  #isReacts(name: t.JSXOpeningElement['name']): boolean {
    const imported = this.#imported(name);
    return imported?.source === 'react' && TRANSPARENT.has(imported.name);
  }

  // Components

  /** `Card.$plain = Card`: with the component itself as the value, a copy of the mark on another one is none. */
  #finishComponent(component: Component): void {
    const types = this.#types;
    const { name, path, statement, hooks, reason } = component;
    const owned = this.#owned.get(component);
    if (owned !== undefined) {
      for (const { taken } of component.bases.values())
        if (taken !== undefined) this.#take(path.node, taken, owned);
      // With a default, the parameter does not count in the function's length.
      const [first = types.identifier('_')] = path.node.params;
      path.node.params = [first, types.assignmentPattern(types.cloneNode(owned), this.#undefined())];
    }
    if (!this.#isOn('inline') || statement === undefined || reason !== undefined || hooks === 'other') return;
    const mark = types.memberExpression(
      types.identifier(name),
      types.identifier(hooks === 'plain' ? '$plain' : '$stateful'),
    );
    const marked = types.expressionStatement(types.assignmentExpression('=', mark, types.identifier(name)));
    // A mark has to be there before the first render, which may be further up in the module.
    if (path.isFunctionDeclaration()) this.#declarations.push(marked);
    else statement.insertAfter(marked);
  }

  /** Makes a rest of props that are the component's own by taking the other names out of them, without a copy. */
  #take(node: Component['path']['node'], { pattern, names, statement }: Taken, owned: t.Identifier): void {
    const types = this.#types;
    let props: t.Expression;
    if (statement === undefined) {
      const parameter = this.#program.scope.generateUidIdentifier('props');
      props = types.cloneNode(parameter);
      if (pattern.typeAnnotation) parameter.typeAnnotation = pattern.typeAnnotation;
      node.params[0] = parameter;
    } else props = statement.declarations[0]?.init as t.Identifier;
    delete pattern.typeAnnotation;
    const assigned = (to: t.Identifier | t.ObjectPattern, value: t.Expression): t.Statement =>
      types.expressionStatement(types.assignmentExpression('=', to, value));
    const rest = pattern.properties.at(-1) as t.RestElement;
    const others = pattern.properties.slice(0, -1).map((one) => types.cloneNode(one, true));
    const taken = types.callExpression(this.#runtime('taken'), [
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
      types.binaryExpression('===', types.cloneNode(owned), this.#runtime('OWNED')),
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

  /** The second parameter of a component, which says whether its props are its own. */
  #ownership(component: Component): t.Expression {
    if (component.reason !== undefined || component.hooks === 'other') return this.#undefined();
    let owned = this.#owned.get(component);
    if (owned === undefined) {
      owned = component.path.scope.generateUidIdentifier('owned');
      this.#owned.set(component, owned);
    }
    return this.#types.cloneNode(owned);
  }

  // Elements

  #compileElement(path: NodePath<t.JSXElement>): void {
    const { node } = path;
    // JSX that stays is met again when what is around it moves.
    if (this.#seen.has(node)) return;
    this.#seen.add(node);
    const { name } = node.openingElement;
    const label = nameOf(name);
    const place = this.#places.get(node) ?? { isDirect: false, onlyRootOf: undefined, seenBy: 'other code' };
    if (this.#blocks.isInner(node)) return this.#compileStyles(path, place, label);
    const block = this.#blocks.isRoot(node) ? this.#blocks.make(node) : undefined;
    if (this.#isWidget(name)) this.#compileWidget(path, place, label, block);
    const read = this.#read(node, block);
    if (typeof read === 'string') {
      return this.#note('elements', node, label, false, read);
    }
    this.#noteUse(path, read, label);
    const made = this.#make(path, read, place, label);
    if (made !== undefined) this.#replace(path, made);
  }

  #replace(path: NodePath<t.JSXElement | t.JSXFragment>, made: t.Expression): void {
    const types = this.#types;
    made.loc = path.node.loc ?? null;
    const { parent } = path;
    const isInJsx = types.isJSXElement(parent) || types.isJSXFragment(parent) || types.isJSXAttribute(parent);
    let placed = made;
    // A constant within a constant moves with it.
    if (this.#constantElements.has(made) && !isInJsx && parent.type !== 'JSXExpressionContainer')
      placed = this.#hoisted(path, made);
    path.replaceWith(isInJsx ? types.jsxExpressionContainer(placed) : placed);
  }

  #hoisted(path: NodePath, element: t.Expression): t.Expression {
    if (path.getFunctionParent() === null) return element;
    const name = this.#declare('element', element);
    this.#constantElements.add(name);
    return name;
  }

  #beginBlock(path: NodePath<t.JSXElement>): void {
    const { node } = path;
    const name = nameOf(node.openingElement.name);
    const { isDirect = false } = this.#places.get(node) ?? {};
    const isFree = isDirect || (this.#isOpaque && path.getFunctionParent() !== null);
    const hasRef = node.openingElement.attributes.some(
      (one) => one.type === 'JSXAttribute' && one.name.name === 'ref',
    );
    // The element of React 18 may copy the props then.
    const reason = this.#react === 18 && hasRef ? 'it has a ref' : this.#blocks.begin(path, isFree);
    if (reason !== '') this.#note('blocks', node, name, reason === undefined, reason ?? '');
  }

  #compileStyles(path: NodePath<t.JSXElement>, place: Place, label: string): void {
    if (!this.#isOn('styles') || path.getFunctionParent() === null) return;
    const seenBy = this.#isOpaque ? undefined : place.seenBy;
    const outcome = hoistStyles(this.#types, path, (base, value) => this.#declare(base, value), seenBy);
    if (outcome !== undefined) this.#note('styles', path.node, label, outcome.done, outcome.reason);
  }

  #compileWidget(path: NodePath<t.JSXElement>, place: Place, label: string, block: Block | undefined): void {
    this.#compileStyles(path, place, label);
    let groups = groupsOf(path.node);
    if (block !== undefined && groups !== undefined) groups = (groups & ~CHILDREN) | BLOCK;
    if (!this.#isOn('updates')) return;
    const update = updateOf(this.#types, path, () => this.#runtime('updates'), groups ?? 0);
    const isMade = this.#isOn('elements');
    if (update !== undefined && 'reason' in update)
      this.#note('updates', path.node, label, false, update.reason);
    else if (!isMade) {
      if (update !== undefined)
        this.#note('updates', path.node, label, false, 'the pass "elements" is switched off');
    } else if (update !== undefined) {
      this.#note('updates', path.node, label, true, `${update.fields} fields`);
      const site = this.#withBlock(update.site, block);
      this.#sites.set(path.node, this.#declare('update', site));
      return;
    }
    if (groups === undefined || !isMade) return;
    const site =
      block === undefined
        ? this.#groups(groups)
        : this.#declare('block', this.#withBlock(this.#groupsSite(groups), block));
    this.#sites.set(path.node, site);
  }

  #withBlock(site: t.CallExpression, block: Block | undefined): t.CallExpression {
    if (block !== undefined) site.arguments.push(block.value);
    return site;
  }

  /** Prototype of props that have groups alone, and no generated update. */
  #groups(groups: number): t.Identifier {
    const types = this.#types;
    const known = this.#groupNames.get(groups);
    if (known !== undefined) return types.cloneNode(known);
    const name = this.#declare('groups', this.#groupsSite(groups));
    this.#groupNames.set(groups, name);
    return name;
  }

  #groupsSite(groups: number): t.CallExpression {
    return this.#types.callExpression(this.#runtime('updates'), [
      this.#undefined(),
      this.#undefined(),
      this.#types.numericLiteral(groups),
    ]);
  }

  /** Parts of an element, or the reason why it stays JSX. */
  #read(node: t.JSXElement, block: Block | undefined): Read | string {
    const types = this.#types;
    const { openingElement } = node;
    const type = this.#typeOf(openingElement.name);
    if (type === undefined) return 'its name has a namespace';
    const attributes: Attribute[] = [];
    let key: t.Expression | undefined;
    let ref: t.Expression | undefined;
    let isKeyLate = false;
    for (const attribute of openingElement.attributes) {
      if (attribute.type === 'JSXSpreadAttribute') {
        attributes.push({ kind: 'spread', value: attribute.argument });
        continue;
      }
      if (attribute.name.type !== 'JSXIdentifier') return 'an attribute has a namespace';
      const { name } = attribute.name;
      if (['__proto__', '__self', '__source', '$u', '$m'].includes(name))
        return `the attribute ${name} has a meaning of its own`;
      const value = attribute.value ? expressionOf(attribute.value) : types.booleanLiteral(true);
      if (value === undefined) return `the attribute ${name} is empty`;
      if (attribute.value?.type === 'StringLiteral' && /[\r\n]/.test(attribute.value.value))
        return `JSX transforms disagree on the line end in ${name}`;
      const plain = value.type === 'StringLiteral' ? types.stringLiteral(value.value) : value;
      if (name === 'key') {
        if (key !== undefined || !attribute.value) return 'its key is given twice, or without a value';
        key = plain;
        isKeyLate = attributes.some(({ kind }) => kind === 'spread');
      } else {
        if (name === 'ref') ref = plain;
        attributes.push({ kind: 'value', name, value: plain });
      }
    }
    for (const { name, value } of block?.fields ?? []) attributes.push({ kind: 'value', name, value });
    const children = this.#children(node.children);
    if (typeof children === 'string') return children;
    return { type, isHost: this.#isHost(openingElement.name), attributes, children, key, isKeyLate, ref };
  }

  #typeOf(name: t.JSXOpeningElement['name']): t.Expression | undefined {
    const types = this.#types;
    if (name.type === 'JSXIdentifier') {
      if (name.name === 'this') return types.thisExpression();
      const isTag = /^[a-z]/.test(name.name) || name.name.includes('-');
      return isTag ? types.stringLiteral(name.name) : at(name, types.identifier(name.name));
    }
    if (name.type !== 'JSXMemberExpression') return undefined;
    const { object } = name;
    const from =
      object.type === 'JSXIdentifier' && object.name !== 'this'
        ? at(object, types.identifier(object.name))
        : this.#typeOf(object);
    return from && at(name, types.memberExpression(from, types.identifier(name.property.name)));
  }

  #children(nodes: t.JSXElement['children']): t.Expression[] | string {
    const types = this.#types;
    const children: t.Expression[] = [];
    for (const node of nodes) {
      if (node.type === 'JSXSpreadChild') return 'a child is spread';
      if (node.type === 'JSXText') {
        const text = jsxText((node.extra?.['raw'] as string | undefined) ?? node.value, node.value);
        if (text === undefined) return 'JSX transforms disagree on the spaces in its text';
        if (text !== '') children.push(types.stringLiteral(text));
      } else if (node.type !== 'JSXExpressionContainer') children.push(node);
      else if (node.expression.type !== 'JSXEmptyExpression') children.push(node.expression);
    }
    return children;
  }

  #noteUse(path: NodePath<t.JSXElement>, { isHost, attributes }: Read, label: string): void {
    if (isHost) return;
    const own = attributes.filter((one) => one.kind === 'value').map(({ name }) => name);
    if (attributes.some(({ kind, value }) => kind === 'spread' && this.#baseOf(path, value) !== undefined))
      return;
    this.#uses.push({ to: label, props: own });
  }

  /** The component whose props, or whose rest of them, the expression is. */
  #baseOf(path: NodePath, value: t.Expression): (Base & { readonly component: Component }) | undefined {
    if (value.type !== 'Identifier') return undefined;
    const binding = path.scope.getBinding(value.name);
    if (binding === undefined) return undefined;
    for (const component of this.components.values()) {
      const base = component.bases.get(binding);
      if (base !== undefined) return { ...base, component };
    }
    return undefined;
  }

  /** Undefined if the element stays JSX. */
  #make(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression | undefined {
    const hasSpread = read.attributes.some(({ kind }) => kind === 'spread');
    if (!hasSpread) return this.#isOn('elements') ? this.#makeLiteral(path, read, place, label) : undefined;
    const whole = read.attributes.length === 1 && read.children.length === 0;
    const pass: Pass = whole ? 'spreads' : 'merges';
    const made = !this.#isOn(pass)
      ? 'the pass is switched off'
      : read.isKeyLate
        ? 'key stands behind the spread; put it in front'
        : whole
          ? this.#makeWhole(path, read, place, label)
          : this.#makeMerge(path, read, place, label);
    const copying = typeof made === 'string' ? made : this.#copying.get(made);
    this.#noteWrapping(path, read, label, copying !== undefined);
    if (typeof made !== 'string') {
      this.#note(pass, path.node, label, copying === undefined, copying ?? '');
      return made;
    }
    this.#note(pass, path.node, label, false, made);
    if (!this.#isOn('elements') || read.isKeyLate) return undefined;
    this.#note('elements', path.node, label, true, 'made by jsx');
    return this.#makeCopy(read);
  }

  /** `<Inner {...props} />`, or why it is a copy. */
  #makeWhole(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression | string {
    const types = this.#types;
    const [{ value }] = read.attributes as [Attribute];
    const base = this.#baseOf(path, value);
    if (base === undefined)
      return 'the spread object is not the props of a component, so it may change later';
    if (base.isWritten) return 'the component writes into the object';
    const on = this.#callee(path, read, place, label);
    if (on === undefined)
      return types.callExpression(this.#runtime('passed'), [read.type, value, ...keyOfRead(read)]);
    const isOwn = base.reason === undefined && this.#isOnlySpread(path, value);
    const owned = isOwn ? this.#ownership(base.component) : this.#undefined();
    const name = isOwn && base.isRest ? on.on : on.passed;
    return types.callExpression(this.#runtime(name), [read.type, value, owned]);
  }

  /** `<Inner {...props} a={1} />`, or why it is a copy. */
  #makeMerge(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression | string {
    const types = this.#types;
    const [first, ...own] = read.attributes as [Attribute, ...Attribute[]];
    if (read.isHost) return 'a host element gets a copy';
    if (first.kind !== 'spread') return 'attributes stand in front of the spread';
    if (own.some(({ kind }) => kind === 'spread')) return 'there are several spreads';
    const base = this.#baseOf(path, first.value);
    if (base === undefined) return 'the spread object is not the props of a component';
    const names = own.map((one) => (one.kind === 'value' ? one.name : ''));
    // Engines disagree on the order of a name that an object has twice.
    if (new Set(names).size < names.length) return 'an attribute is given twice';
    if (place.onlyRootOf !== base.component)
      return `the element is not all that ${base.component.name} returns`;
    const on = this.#callee(path, read, place, label);
    if (on === undefined) return `${label} is not called in place`;
    const owned = this.#ownership(base.component);
    // Its own code alone reads the props, and has done so when the attributes are written.
    const mayWrite = base.reason === undefined && this.#isOnlySpread(path, first.value);
    if (!mayWrite || (!base.isRest && owned.type !== 'Identifier')) {
      const copy = types.callExpression(this.#runtime(on.on), [read.type, this.#props(read), owned]);
      const { name, hooks, reason } = base.component;
      const why =
        base.reason ??
        (mayWrite
          ? `${name} is never called in place: ${reason ?? `it has ${hooks} hooks`}`
          : 'it is spread more than once');
      this.#copying.set(copy, why);
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
      const isOwn = types.binaryExpression('===', types.cloneNode(owned), this.#runtime('OWNED'));
      const copy = types.objectExpression([types.spreadElement(types.cloneNode(first.value))]);
      const choice = types.conditionalExpression(isOwn, types.cloneNode(first.value), copy);
      writes.unshift(types.assignmentExpression('=', types.cloneNode(target), choice));
    }
    const call = types.callExpression(this.#runtime(on.on), [read.type, types.cloneNode(target), owned]);
    return types.sequenceExpression([...steps, ...writes, call]);
  }

  #noteWrapping(path: NodePath<t.JSXElement>, read: Read, label: string, copies: boolean): void {
    if (read.isHost) return;
    const component = read.attributes
      .filter(({ kind }) => kind === 'spread')
      .map(({ value }) => this.#baseOf(path, value)?.component)
      .find((one) => one !== undefined);
    if (component === undefined) return;
    const own = read.attributes.filter((one) => one.kind === 'value').map(({ name }) => name);
    const line = path.node.loc?.start.line ?? 0;
    this.#wrappings.push({ from: component.name, to: label, line, own, copies });
  }

  #childrenAttribute({ children }: Read): Attribute[] {
    const [only] = children;
    if (only === undefined) return [];
    return [
      {
        kind: 'value',
        name: 'children',
        value: children.length === 1 ? only : this.#types.arrayExpression([...children]),
      },
    ];
  }

  /** Whether the object is spread into this element alone: another one would have it, or share it. */
  #isOnlySpread(path: NodePath, value: t.Expression): boolean {
    if (value.type !== 'Identifier') return false;
    const references = path.scope.getBinding(value.name)?.referencePaths ?? [];
    return references.filter(({ parent }) => parent.type === 'JSXSpreadAttribute').length <= 1;
  }

  /** Functions of the runtime for an element that may be called in place; undefined if it is rendered. */
  #callee(
    path: NodePath,
    read: Read,
    place: Place,
    label: string,
  ): { readonly on: string; readonly passed: string } | undefined {
    const outer = place.onlyRootOf;
    if (!this.#isOn('inline') || outer === undefined || read.isHost) return undefined;
    const refused = (reason: string): undefined => {
      this.#note('inline', path.node, label, false, reason);
    };
    if (read.type.type !== 'Identifier') return refused('its type is not a plain name');
    const binding = path.scope.getBinding(read.type.name);
    if (binding?.constant !== true || binding.scope.path.type !== 'Program')
      return refused('its type may change between renders');
    if (read.key !== undefined) return refused('it has a key');
    if (this.#react === 18 && read.ref !== undefined) return refused('it has a ref');
    const inner = this.#localOf(read.type);
    if (inner?.reason !== undefined) return refused(inner.reason);
    // A function that has hooks is called as a component only, so it may have another one's.
    const isStateful = outer.hooks === 'stateful';
    if (inner?.hooks === 'stateful' && !isStateful)
      return refused(
        outer.hooks === 'plain'
          ? `it has hooks, and ${outer.name} has none and may be called as a function`
          : `it has state, and ${outer.name} has effects`,
      );
    this.#note(
      'inline',
      path.node,
      label,
      true,
      inner === undefined ? 'if it is marked, seen at run time' : '',
    );
    return isStateful ? { on: 'onStateful', passed: 'passedOnStateful' } : { on: 'on', passed: 'passedOn' };
  }

  #makeCopy(read: Read): t.Expression {
    const types = this.#types;
    const key = read.key === undefined ? [] : [read.key];
    return types.callExpression(this.#runtime('copied'), [read.type, this.#props(read), ...key]);
  }

  #makeLiteral(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression {
    const types = this.#types;
    const { key, ref, isHost, type } = read;
    this.#note('elements', path.node, label, true, '');
    const on = isHost ? undefined : this.#callee(path, read, place, label);
    const comparison = this.#comparison(path, read, label);
    if (on !== undefined) {
      return types.callExpression(this.#runtime(on.on), [
        type,
        this.#props(read),
        this.#runtime('OWNED'),
        ...(comparison === undefined ? [] : [comparison]),
      ]);
    }
    const site = this.#sites.get(path.node);
    const props = this.#props(read, site);
    // In React 18, `jsx` resolves defaults of components, and knows of refs that are strings.
    const isKnown = ref === undefined && (this.#react === 19 || isHost);
    const literalKey = isKnown ? this.#literalKey(path, read) : undefined;
    if (literalKey === undefined) {
      const all = [
        key ?? this.#undefined(),
        this.#react === 18 && ref !== undefined ? ref : this.#undefined(),
        comparison ?? this.#undefined(),
      ];
      while (all.length > 0 && all.at(-1)?.type === 'UnaryExpression') all.pop();
      return types.callExpression(this.#runtime('made'), [type, props, ...all]);
    }
    const isWidget = this.#isWidget(path.node.openingElement.name);
    const literal =
      isWidget && (place.isDirect || this.#isOpaque)
        ? this.#widgetLiteral(literalKey, props)
        : this.#literal(type, literalKey, props, comparison);
    if (isHost && this.#isConstant(read)) this.#constantElements.add(literal);
    else this.#hoistConstants(path, props);
    return literal;
  }

  /** Name of a function that compares the props that an element of this place can have, for `memo`; undefined if it cannot be one. */
  #comparison(
    path: NodePath,
    { isHost, type, attributes, children }: Read,
    label: string,
  ): t.Identifier | undefined {
    if (isHost || !this.#isOn('comparisons') || !this.#isOn('elements')) return undefined;
    if (this.#localOf(type) !== undefined) return undefined;
    const refused = (reason: string): undefined => {
      this.#note('comparisons', path.node, label, false, reason);
    };
    const given: [string, boolean, boolean][] = attributes.map((one) =>
      one.kind === 'value'
        ? [one.name, literalOf(one.value) !== undefined || HOISTED.has(one.value), isNoNumber(one.value)]
        : ['', false, false],
    );
    if (children.length > 0)
      given.push([
        'children',
        children.length === 1 && literalOf(children[0] as t.Node) !== undefined,
        children.length > 1 || isNoNumber(children[0] as t.Node),
      ]);
    if (this.#react === 18) given.splice(0, given.length, ...given.filter(([name]) => name !== 'ref'));
    if (new Set(given.map(([name]) => name)).size < given.length)
      return refused('an attribute is given twice');
    if (given.length > LONGEST_COMPARISON) return refused(`it has more than ${LONGEST_COMPARISON} props`);
    const types = this.#types;
    const [before, now] = ['before', 'now'].map((name) => types.identifier(name)) as [
      t.Identifier,
      t.Identifier,
    ];
    const compared = given
      .filter(([, isConstant]) => !isConstant)
      .map(([name, , isNever]) => {
        const key = keyOf(types, name);
        const from = (object: t.Identifier): t.Expression =>
          types.memberExpression(types.cloneNode(object), types.cloneNode(key), key.type === 'StringLiteral');
        const equal = types.binaryExpression('===', from(before), from(now));
        if (isNever) return equal;
        // Object.is tells 0 from -0, and takes NaN for itself.
        const isNotZero = types.binaryExpression('!==', from(before), types.numericLiteral(0));
        const same = types.callExpression(this.#runtime('same'), [from(before), from(now)]);
        return types.logicalExpression('||', types.logicalExpression('&&', equal, isNotZero), same);
      });
    const [first = types.booleanLiteral(true), ...others] = compared;
    const all = others.reduce<t.Expression>(
      (left, right) => types.logicalExpression('&&', left, right),
      first,
    );
    this.#note('comparisons', path.node, label, true, `${given.length} props`);
    return this.#declare('equal', types.arrowFunctionExpression([before, now], all));
  }

  /** The function of this module that is the type of an element. */
  #localOf(type: t.Expression): Component | undefined {
    if (type.type !== 'Identifier') return undefined;
    const { name } = type;
    return [...this.components.values()].find((one) => one.statement !== undefined && one.name === name);
  }

  /** A widget's element that nobody but the renderer sees: what is the same in all of them is in their prototype. */
  #widgetLiteral(key: t.Expression, props: t.Expression): t.Expression {
    const types = this.#types;
    this.#widget ??= this.#constantOf('WIDGET', 'widgetElement');
    const entries: [string, t.Expression][] = [['__proto__', types.cloneNode(this.#widget)]];
    if (key.type !== 'NullLiteral') entries.push(['key', key]);
    entries.push(['props', props]);
    return types.objectExpression(
      entries.map(([name, value]) => types.objectProperty(types.identifier(name), value)),
    );
  }

  #literal(
    type: t.Expression,
    key: t.Expression,
    props: t.Expression,
    comparison?: t.Expression,
  ): t.Expression {
    const types = this.#types;
    const entries: [string, t.Expression][] = [
      ['$$typeof', this.#elementType()],
      ['type', type],
      ['key', key],
      ['ref', types.nullLiteral()],
      ['props', props],
    ];
    if (this.#react === 18) entries.push(['_owner', types.nullLiteral()]);
    if (comparison !== undefined) entries.push(['$e', comparison]);
    return types.objectExpression(
      entries.map(([name, value]) => types.objectProperty(types.identifier(name), value)),
    );
  }

  /** The key as React makes it, where evaluating it before the props changes nothing; else undefined. */
  #literalKey(path: NodePath, { key, attributes, children }: Read): t.Expression | undefined {
    const types = this.#types;
    if (key === undefined) return types.nullLiteral();
    const known = literalOf(key);
    if (known !== undefined) {
      return known.value === undefined ? types.nullLiteral() : types.stringLiteral(String(known.value));
    }
    if (key.type !== 'Identifier' || path.scope.getBinding(key.name)?.constant !== true) {
      const isQuiet = [...attributes.map(({ value }) => value), ...children].every(
        (one) => literalOf(one) !== undefined,
      );
      if (!isQuiet || key.type !== 'TemplateLiteral') return undefined;
      return key;
    }
    return types.conditionalExpression(
      types.binaryExpression('===', types.cloneNode(key), this.#undefined()),
      types.nullLiteral(),
      types.binaryExpression('+', types.stringLiteral(''), key),
    );
  }

  #props({ attributes, children }: Read, prototype?: t.Expression): t.ObjectExpression {
    const types = this.#types;
    const properties: t.ObjectExpression['properties'] = [];
    if (prototype !== undefined)
      properties.push(types.objectProperty(types.identifier('__proto__'), prototype));
    for (const attribute of attributes) {
      if (attribute.kind === 'spread') properties.push(types.spreadElement(attribute.value));
      else if (
        attribute.name === 'ref' &&
        this.#react === 18 &&
        !attributes.some(({ kind }) => kind === 'spread')
      )
        continue;
      else properties.push(types.objectProperty(keyOf(types, attribute.name), attribute.value));
    }
    const [only] = children;
    if (only !== undefined) {
      const value = children.length === 1 ? only : types.arrayExpression([...children]);
      properties.push(types.objectProperty(types.identifier('children'), value));
    }
    return types.objectExpression(properties);
  }

  #isConstant({ type, attributes, children }: Read): boolean {
    const isFixed = (node: t.Expression): boolean =>
      literalOf(node) !== undefined ||
      HOISTED.has(node) ||
      this.#constantElements.has(node) ||
      (node.type === 'ArrayExpression' &&
        node.elements.every((one) => one !== null && isFixed(one as t.Expression)));
    if (type.type !== 'Identifier' && type.type !== 'StringLiteral') return false;
    return (
      attributes.every(({ kind, value }) => kind === 'value' && isFixed(value)) && children.every(isFixed)
    );
  }

  /** Moves constant elements within the props of one that is not constant. */
  #hoistConstants(path: NodePath, props: t.ObjectExpression): void {
    const moved = (node: t.Expression): t.Expression =>
      this.#constantElements.has(node) && node.type === 'ObjectExpression' ? this.#hoisted(path, node) : node;
    for (const property of props.properties) {
      if (property.type !== 'ObjectProperty') continue;
      const value = property.value as t.Expression;
      if (value.type === 'ArrayExpression') {
        value.elements = value.elements.map((one) => one && moved(one as t.Expression));
      } else property.value = moved(value);
    }
  }

  #compileFragment(path: NodePath<t.JSXFragment>): void {
    if (!this.#isOn('elements')) return;
    const types = this.#types;
    const children = this.#children(path.node.children);
    if (typeof children === 'string') return this.#note('elements', path.node, '<>', false, children);
    const read: Read = {
      type: this.#runtime('Fragment'),
      isHost: true,
      attributes: [],
      children,
      key: undefined,
      isKeyLate: false,
      ref: undefined,
    };
    const props = this.#props(read);
    const literal = this.#literal(read.type, types.nullLiteral(), props);
    if (this.#isConstant(read)) this.#constantElements.add(literal);
    else this.#hoistConstants(path, props);
    this.#replace(path, literal);
  }

  // The module

  /** A constant at the top of the module; the same one for the same content. Returns a name for one use. */
  #declare(base: string, value: t.Expression): t.Identifier {
    const types = this.#types;
    const content = contentOf(value);
    let name = content === undefined ? undefined : this.#constants.get(content);
    if (name === undefined) {
      name = this.#program.scope.generateUidIdentifier(base);
      if (content !== undefined) this.#constants.set(content, name);
      this.#declarations.push(
        types.variableDeclaration('const', [types.variableDeclarator(types.cloneNode(name), value)]),
      );
    }
    const used = types.cloneNode(name);
    HOISTED.set(used, value);
    return used;
  }

  #elementType(): t.Identifier {
    this.#element ??= this.#constantOf('ELEMENT', 'elementType');
    return this.#types.cloneNode(this.#element);
  }

  /** Declares what a function of the runtime returns for the version of React, in front of all that uses it. */
  #constantOf(base: string, maker: string): t.Identifier {
    const types = this.#types;
    const name = this.#program.scope.generateUidIdentifier(base);
    const value = types.callExpression(this.#runtime(maker), [types.numericLiteral(this.#react)]);
    this.#declarations.unshift(
      types.variableDeclaration('const', [types.variableDeclarator(types.cloneNode(name), value)]),
    );
    return name;
  }

  #runtime(name: string): t.Identifier {
    let local = this.#imports.get(name);
    if (local === undefined) {
      local = this.#program.scope.generateUidIdentifier(name);
      this.#imports.set(name, local);
    }
    return this.#types.cloneNode(local);
  }

  #undefined(): t.Expression {
    return this.#types.unaryExpression('void', this.#types.numericLiteral(0));
  }

  #finish(): void {
    const types = this.#types;
    if (this.#imports.size === 0) {
      if (this.#declarations.length > 0) this.#program.unshiftContainer('body', this.#declarations);
      return;
    }
    const specifiers = [...this.#imports].map(([name, local]) => [local, types.identifier(name)] as const);
    const source = types.stringLiteral(RUNTIME);
    const isModule = this.#program.node.body.some((statement) =>
      types.isImportOrExportDeclaration(statement),
    );
    const isCommonJs = ['module', 'exports', 'require'].some((name) => this.#program.scope.hasGlobal(name));
    const imported =
      isModule || !isCommonJs
        ? types.importDeclaration(
            specifiers.map(([local, name]) => types.importSpecifier(types.cloneNode(local), name)),
            source,
          )
        : types.variableDeclaration('const', [
            types.variableDeclarator(
              types.objectPattern(
                specifiers.map(([local, name]) => types.objectProperty(name, types.cloneNode(local))),
              ),
              types.callExpression(types.identifier('require'), [source]),
            ),
          ]);
    this.#program.unshiftContainer('body', [imported, ...this.#declarations]);
    // Values moved; plugins that look at references, such as TypeScript's, need to find them.
    this.#program.scope.crawl();
  }

  #note(pass: Pass, node: t.Node, name: string, done: boolean, reason: string): void {
    const { line = 0, column = -1 } = node.loc?.start ?? {};
    this.#lines.push({ pass, line, column: column + 1, done, name, reason });
  }
}

/** Whether the value can be neither 0 nor NaN, by how it is written. */
const isNoNumber = ({ type }: t.Node): boolean =>
  [
    'StringLiteral',
    'TemplateLiteral',
    'BooleanLiteral',
    'ArrowFunctionExpression',
    'FunctionExpression',
    'ObjectExpression',
    'ArrayExpression',
    'JSXElement',
    'JSXFragment',
  ].includes(type);

const keyOfRead = ({ key }: Read): t.Expression[] => (key === undefined ? [] : [key]);

const nameOf = (name: t.JSXOpeningElement['name'] | t.JSXMemberExpression['object']): string =>
  name.type === 'JSXIdentifier'
    ? name.name
    : name.type === 'JSXMemberExpression'
      ? `${nameOf(name.object)}.${name.property.name}`
      : `${name.namespace.name}:${name.name.name}`;

/** The content of a frozen object of literals; undefined for all else. */
function contentOf(value: t.Expression): string | undefined {
  if (value.type !== 'CallExpression' || value.callee.type !== 'MemberExpression') return undefined;
  const seen = (node: t.Node): unknown => {
    if (node.type === 'ObjectExpression')
      return node.properties.map((one) =>
        one.type === 'ObjectProperty' ? [seen(one.key), seen(one.value)] : one.type,
      );
    if (node.type === 'ArrayExpression') return ['[]', ...node.elements.map((one) => one && seen(one))];
    if (node.type === 'Identifier') return `'${node.name}`;
    const literal = literalOf(node);
    if (literal === undefined) return node.type;
    return Object.is(literal.value, -0) ? '-0' : [typeof literal.value, String(literal.value)];
  };
  return JSON.stringify(value.arguments.map(seen));
}

function at<Node extends t.Node>(original: t.Node, copy: Node): Node {
  copy.loc = original.loc ?? null;
  return copy;
}
