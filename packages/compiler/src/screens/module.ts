/** One module: its elements from the innermost to the outermost, each by the passes that apply to it. */
import type { NodePath, types as t } from '@babel/core';
import type { Types } from '../static-value.js';
import { BLOCK, type Block, Blocks, CHILDREN } from './blocks.js';
import { type Component, componentsOf } from './components.js';
import { comparisonOf } from './comparisons.js';
import { Literals } from './literals.js';
import type { ScreensOptions } from './options.js';
import { Output } from './output.js';
import { type Place, type Places, placeOf } from './place.js';
import { type Read, Reader, nameOf } from './read.js';
import { PASSES, type Pass } from './report.js';
import { groupsOf, hoistStyles, updateOf } from './widgets.js';
import { Wrappers } from './wrappers.js';

/** Passes that a block takes: it is made of what they find. */
const BLOCK_PASSES: readonly Pass[] = ['elements', 'styles', 'updates', 'blocks'];

function withBlock(site: t.CallExpression, block: Block | undefined): t.CallExpression {
  if (block !== undefined) site.arguments.push(block.value);
  return site;
}

/** Compiles the JSX of a module in place. */
export function compileModule(
  types: Types,
  program: NodePath<t.Program>,
  react: 18 | 19,
  options: ScreensOptions,
  file: string,
): void {
  const { passes = {}, opaqueElements = false } = options;
  const isOn = (pass: Pass): boolean => passes[pass] !== false;
  if (!PASSES.some(isOn)) return;
  // React Compiler, in the same pass, leaves names behind that no scope knows.
  program.scope.crawl();
  const out = new Output(types, program, react, isOn, opaqueElements);
  new Module(out, componentsOf(program), options.report, file).compile();
}

class Module implements Places {
  readonly #out: Output;
  readonly #reader: Reader;
  readonly #literals: Literals;
  readonly #wrappers: Wrappers;
  readonly #blocks: Blocks;
  readonly #places = new Map<t.Node, Place>();
  readonly #seen = new WeakSet<t.Node>();
  readonly #sites = new Map<t.Node, t.Expression>();
  /** Prototypes of props by their groups. */
  readonly #groupNames = new Map<number, t.Identifier>();
  readonly #report: ScreensOptions['report'];
  readonly #file: string;
  readonly components: ReadonlyMap<t.Node, Component>;

  constructor(
    out: Output,
    components: ReadonlyMap<t.Node, Component>,
    report: ScreensOptions['report'],
    file: string,
  ) {
    this.#out = out;
    this.#reader = new Reader(out.types, out.program);
    this.#literals = new Literals(out);
    this.#wrappers = new Wrappers(out, this.#literals, components);
    this.#blocks = new Blocks(out.types, (name) => this.#reader.isWidget(name));
    this.components = components;
    this.#report = report;
    this.#file = file;
  }

  compile(): void {
    // Places are found before anything moves.
    this.#out.program.traverse({
      JSXElement: {
        enter: (path) => {
          this.#places.set(path.node, placeOf(path, this));
        },
        exit: (path) => this.#blocks.look(path),
      },
    });
    if (BLOCK_PASSES.every((pass) => this.#out.isOn(pass)))
      this.#out.program.traverse({ JSXElement: (path) => this.#beginBlock(path) });
    this.#out.program.traverse({
      JSXElement: {
        exit: (path) => this.#compileElement(path),
      },
      JSXFragment: {
        exit: (path) => this.#compileFragment(path),
      },
    });
    for (const component of this.components.values()) this.#wrappers.finishComponent(component);
    this.#out.finish(this.#file);
    this.#report?.({
      file: this.#file,
      lines: this.#out.lines,
      wrappings: this.#wrappers.wrappings,
      uses: this.#wrappers.uses,
    });
  }

  isTransparent(element: t.JSXElement | t.JSXFragment): boolean {
    if (element.type === 'JSXFragment' || this.#out.isOpaque) return true;
    return (
      this.#reader.isHost(element.openingElement.name) || this.#reader.isReacts(element.openingElement.name)
    );
  }

  nameOf(element: t.JSXElement | t.JSXFragment): string {
    return element.type === 'JSXFragment' ? '' : nameOf(element.openingElement.name);
  }

  #compileElement(path: NodePath<t.JSXElement>): void {
    const { node } = path;
    // JSX that stays is met again when what is around it moves.
    if (this.#seen.has(node)) return;
    this.#seen.add(node);
    const { name } = node.openingElement;
    const label = nameOf(name);
    const place = this.#places.get(node) ?? { isDirect: false, onlyRootOf: undefined, seenBy: 'other code' };
    if (this.#blocks.isInner(node)) return this.#compileStyles(path, place, label);
    const read = this.#reader.read(node);
    const block = typeof read !== 'string' && this.#blocks.isRoot(node) ? this.#blocks.make(node) : undefined;
    if (this.#reader.isWidget(name)) this.#compileWidget(path, place, label, block);
    const given = this.#reader.read(node, block?.fields);
    if (typeof given === 'string') {
      return this.#out.note('elements', node, label, false, given);
    }
    this.#wrappers.noteUse(path, given, label);
    const made = this.#make(path, given, place, label);
    if (made !== undefined) this.#replace(path, made);
  }

  #replace(path: NodePath<t.JSXElement | t.JSXFragment>, made: t.Expression): void {
    const types = this.#out.types;
    made.loc = path.node.loc ?? null;
    const { parent } = path;
    const isInJsx = types.isJSXElement(parent) || types.isJSXFragment(parent) || types.isJSXAttribute(parent);
    let placed = made;
    // A constant within a constant moves with it.
    if (this.#literals.constantElements.has(made) && !isInJsx && parent.type !== 'JSXExpressionContainer')
      placed = this.#literals.hoisted(path, made);
    path.replaceWith(isInJsx ? types.jsxExpressionContainer(placed) : placed);
  }

  #beginBlock(path: NodePath<t.JSXElement>): void {
    const { node } = path;
    const label = nameOf(node.openingElement.name);
    const { isDirect = false } = this.#places.get(node) ?? {};
    const isFree = (isDirect || this.#out.isOpaque) && path.getFunctionParent() !== null;
    const reason = this.#blocks.begin(path, isFree, this.#out.react);
    if (reason !== '') this.#out.note('blocks', node, label, reason === undefined, reason ?? '');
  }

  #compileStyles(path: NodePath<t.JSXElement>, place: Place, label: string): void {
    if (!this.#out.isOn('styles') || path.getFunctionParent() === null) return;
    const seenBy = this.#out.isOpaque ? undefined : place.seenBy;
    const outcome = hoistStyles(
      this.#out.types,
      path,
      (base, value) => this.#out.declare(base, value),
      seenBy,
    );
    if (outcome !== undefined) this.#out.note('styles', path.node, label, outcome.done, outcome.reason);
  }

  #compileWidget(path: NodePath<t.JSXElement>, place: Place, label: string, block: Block | undefined): void {
    this.#compileStyles(path, place, label);
    let groups = groupsOf(path.node);
    if (block !== undefined && groups !== undefined) groups = (groups & ~CHILDREN) | BLOCK;
    if (!this.#out.isOn('updates')) return;
    const update = updateOf(this.#out.types, path, () => this.#runtime(block), groups ?? 0);
    const isMade = this.#out.isOn('elements');
    if (update !== undefined && 'reason' in update)
      this.#out.note('updates', path.node, label, false, update.reason);
    else if (!isMade) {
      if (update !== undefined)
        this.#out.note('updates', path.node, label, false, 'the pass "elements" is disabled');
    } else if (update !== undefined) {
      this.#out.note('updates', path.node, label, true, `${update.fields} fields`);
      this.#sites.set(path.node, this.#out.declare('update', withBlock(update.site, block)));
      return;
    }
    if (groups === undefined || !isMade) return;
    const site =
      block === undefined
        ? this.#groups(groups)
        : this.#out.declare('block', withBlock(this.#groupsSite(groups, block), block));
    this.#sites.set(path.node, site);
  }

  /** Prototype of props that have groups alone, and no generated update. */
  #groups(groups: number): t.Identifier {
    const types = this.#out.types;
    const known = this.#groupNames.get(groups);
    if (known !== undefined) return types.cloneNode(known);
    const name = this.#out.declare('groups', this.#groupsSite(groups));
    this.#groupNames.set(groups, name);
    return name;
  }

  /** Function of the runtime that makes a place's prototype. Runtimes before blocks have no `block`. */
  #runtime(block?: Block): t.Identifier {
    return this.#out.runtime(block === undefined ? 'updates' : 'block');
  }

  #groupsSite(groups: number, block?: Block): t.CallExpression {
    return this.#out.types.callExpression(this.#runtime(block), [
      this.#out.undefined(),
      this.#out.undefined(),
      this.#out.types.numericLiteral(groups),
    ]);
  }

  /** Undefined if the element stays JSX. */
  #make(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression | undefined {
    const hasSpread = read.attributes.some(({ kind }) => kind === 'spread');
    if (!hasSpread)
      return this.#out.isOn('elements') ? this.#makeLiteral(path, read, place, label) : undefined;
    const whole = read.attributes.length === 1 && read.children.length === 0;
    const pass: Pass = whole ? 'spreads' : 'merges';
    const made = !this.#out.isOn(pass)
      ? 'the pass is disabled'
      : read.isKeyLate
        ? 'key is after the spread; move it before the spread'
        : whole
          ? this.#wrappers.makeWhole(path, read, place, label)
          : this.#wrappers.makeMerge(path, read, place, label);
    const copying = typeof made === 'string' ? made : this.#wrappers.copying.get(made);
    this.#wrappers.noteWrapping(path, read, label, copying !== undefined);
    if (typeof made !== 'string') {
      this.#out.note(pass, path.node, label, copying === undefined, copying ?? '');
      return made;
    }
    this.#out.note(pass, path.node, label, false, made);
    if (!this.#out.isOn('elements') || read.isKeyLate) return undefined;
    this.#out.note('elements', path.node, label, true, 'made by jsx');
    return this.#literals.copy(read);
  }

  #makeLiteral(path: NodePath<t.JSXElement>, read: Read, place: Place, label: string): t.Expression {
    const types = this.#out.types;
    const { key, ref, isHost, type } = read;
    this.#out.note('elements', path.node, label, true, '');
    const on = isHost ? undefined : this.#wrappers.callee(path, read, place, label);
    const comparison =
      this.#wrappers.localOf(type) === undefined ? comparisonOf(this.#out, path, read, label) : undefined;
    if (on !== undefined) {
      return types.callExpression(this.#out.runtime(on.on), [
        type,
        this.#literals.props(read),
        this.#out.runtime('OWNED'),
        ...(comparison === undefined ? [] : [comparison]),
      ]);
    }
    const site = this.#sites.get(path.node);
    const props = this.#literals.props(read, site);
    // In React 18, `jsx` resolves defaults of components, and knows of refs that are strings.
    const isKnown = ref === undefined && (this.#out.react === 19 || isHost);
    const literalKey = isKnown ? this.#literals.literalKey(path, read) : undefined;
    if (literalKey === undefined) {
      const all = [
        key ?? this.#out.undefined(),
        this.#out.react === 18 && ref !== undefined ? ref : this.#out.undefined(),
        comparison ?? this.#out.undefined(),
      ];
      while (all.length > 0 && all.at(-1)?.type === 'UnaryExpression') all.pop();
      return types.callExpression(this.#out.runtime('made'), [type, props, ...all]);
    }
    const isWidget = this.#reader.isWidget(path.node.openingElement.name);
    const literal =
      isWidget && (place.isDirect || this.#out.isOpaque)
        ? this.#literals.widgetLiteral(literalKey, props)
        : this.#literals.literal(type, literalKey, props, comparison);
    if (isHost && this.#literals.isConstant(read)) this.#literals.constantElements.add(literal);
    else this.#literals.hoistConstants(path, props);
    return literal;
  }

  #compileFragment(path: NodePath<t.JSXFragment>): void {
    if (!this.#out.isOn('elements')) return;
    const types = this.#out.types;
    const children = this.#reader.children(path.node.children);
    if (typeof children === 'string') return this.#out.note('elements', path.node, '<>', false, children);
    const read: Read = {
      type: this.#out.runtime('Fragment'),
      isHost: true,
      attributes: [],
      children,
      key: undefined,
      isKeyLate: false,
      ref: undefined,
    };
    const props = this.#literals.props(read);
    const literal = this.#literals.literal(read.type, types.nullLiteral(), props);
    if (this.#literals.isConstant(read)) this.#literals.constantElements.add(literal);
    else this.#literals.hoistConstants(path, props);
    this.#replace(path, literal);
  }
}
