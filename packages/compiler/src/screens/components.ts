/** Components of a module: whether one may be called in place of being rendered, and whether it may write into props that are its own. */
import type { NodePath, types as t } from '@babel/core';

export type FunctionPath = NodePath<t.FunctionDeclaration | t.FunctionExpression | t.ArrowFunctionExpression>;

/** Hooks that a component has: `plain` none, `stateful` such as change nothing outside, `other` effects and all that are not known. */
export type Hooks = 'plain' | 'stateful' | 'other';

export interface Component {
  readonly name: string;
  readonly path: FunctionPath;
  /** Statement after which the component may be marked; undefined where it cannot be: a nested one, or one within `memo`. */
  readonly statement: NodePath | undefined;
  readonly hooks: Hooks;
  /** Reason why it cannot be called in place of being rendered; undefined if it can. */
  readonly reason: string | undefined;
  /** Whether the module uses the component as a value, so that other code may call it and look into what it returns. */
  readonly isLoose: boolean;
  /** The props, and what is left of them after some were taken. */
  readonly bases: ReadonlyMap<Binding, Base>;
}

export interface Base {
  /** Whether the object is a rest, which the component has made. */
  readonly isRest: boolean;
  /** Place where the rest is made, if nothing else reads the props: they can become the rest. */
  readonly taken: Taken | undefined;
  /** Reason why attributes cannot be written into the object; undefined if only reads by name in the component's own code come before the spread. */
  readonly reason: string | undefined;
  /** Whether the component writes into it. */
  readonly isWritten: boolean;
}

export interface Taken {
  readonly pattern: t.ObjectPattern;
  readonly names: readonly string[];
  /** `const { a, ...rest } = props;` as a statement of its own; undefined where the pattern is the parameter. */
  readonly statement: t.VariableDeclaration | undefined;
}

export type Binding = NonNullable<ReturnType<NodePath['scope']['getBinding']>>;

export function componentsOf(program: NodePath<t.Program>): Map<t.Node, Component> {
  const found = new Map<t.Node, Component>();
  program.traverse({
    Function(path) {
      if (path.isObjectMethod() || path.isClassMethod() || path.isClassPrivateMethod()) return;
      const component = componentOf(path as FunctionPath);
      if (component !== undefined) found.set(path.node, component);
    },
  });
  return found;
}

function componentOf(path: FunctionPath): Component | undefined {
  if (path.node.async || path.node.generator) return undefined;
  const { parentPath } = path;
  let name: string | undefined;
  let statement: NodePath | undefined;
  if (path.isFunctionDeclaration()) {
    name = path.node.id?.name;
    statement = parentPath.isExportDeclaration() ? parentPath : path;
  } else if (parentPath?.isVariableDeclarator()) {
    const { id } = parentPath.node;
    const declaration = parentPath.parentPath;
    if (
      id.type === 'Identifier' &&
      declaration?.isVariableDeclaration() &&
      declaration.node.kind === 'const'
    ) {
      name = id.name;
      statement = declaration.parentPath.isExportDeclaration() ? declaration.parentPath : declaration;
    }
  } else if (parentPath?.isCallExpression() && path.listKey === 'arguments' && isWrapper(parentPath.node)) {
    name = (path.isFunctionExpression() ? path.node.id?.name : undefined) ?? nameAround(parentPath);
    if (name === undefined) return undefined;
    const { hooks } = hooksOf(path);
    return {
      name,
      path,
      statement: undefined,
      hooks,
      reason: 'it is within memo or forwardRef',
      isLoose: false,
      bases: basesOf(path),
    };
  }
  if (name === undefined || !/^[A-Z]/.test(name)) return undefined;
  const binding = parentPath?.scope.getBinding(name);
  const isConstant = binding?.constant === true;
  const isTop = statement?.parentPath?.isProgram() === true;
  const { hooks, reason } = hooksOf(path);
  return {
    name,
    path,
    statement: isConstant && isTop ? statement : undefined,
    hooks,
    reason: isConstant && isTop ? reason : 'it is made within another function, or assigned to',
    isLoose: !isConstant || !binding.referencePaths.every(isUseAsComponent),
    bases: basesOf(path),
  };
}

function isUseAsComponent({ node, parent, parentPath, listKey }: NodePath): boolean {
  // Babel counts `export const Card = …` as a reference.
  if (node.type === 'ExportNamedDeclaration' || node.type === 'ExportDefaultDeclaration') return true;
  if (USES_AS_COMPONENT.has(parent.type)) return true;
  if (parent.type === 'CallExpression') return listKey === 'arguments' && isWrapper(parent);
  if (parent.type !== 'MemberExpression' || parent.object !== node) return false;
  // `Card.displayName = 'Card'`
  const assignment = parentPath?.parent;
  return assignment?.type === 'AssignmentExpression' && assignment.left === parent;
}

const USES_AS_COMPONENT = new Set<t.Node['type']>([
  'JSXOpeningElement',
  'JSXClosingElement',
  'ExportSpecifier',
  'ExportDefaultDeclaration',
  'ExportNamedDeclaration',
]);

/** Whether a call is one of `memo` or `forwardRef`. */
const isWrapper = (call: t.CallExpression): boolean => /^(?:memo|forwardRef)$/.test(calleeName(call) ?? '');

/** `f` of `f()`, and of `any.f()`. */
function calleeName({ callee }: t.CallExpression): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
    ? callee.property.name
    : undefined;
}

function nameAround(call: NodePath<t.CallExpression>): string | undefined {
  const { parent } = call;
  if (parent.type === 'CallExpression' && isWrapper(parent))
    return nameAround(call.parentPath as typeof call);
  return parent.type === 'VariableDeclarator' && parent.id.type === 'Identifier' ? parent.id.name : undefined;
}

/** Hooks that change nothing but what their own component renders. */
const STATEFUL = new Set(['useState', 'useReducer', 'useRef', 'useMemo', 'useCallback', 'useContext']);

function hooksOf(path: FunctionPath): { readonly hooks: Hooks; readonly reason: string | undefined } {
  let hooks: Hooks = 'plain';
  let reason: string | undefined;
  if (path.node.params.length > 1) reason = 'it has a second parameter';
  path.traverse({
    CallExpression(inner) {
      const name = calleeName(inner.node);
      const isCache = isCompilerCache(inner);
      if (name === undefined || (!/^use(?![a-z])/.test(name) && !isCache)) return;
      const isKnown = isCache || (STATEFUL.has(name) && isOfReact(inner));
      if (!isKnown || inner.getFunctionParent() !== path) {
        hooks = 'other';
        reason ??= `it calls the hook ${name}`;
      } else if (hooks === 'plain') hooks = 'stateful';
    },
    ThisExpression(inner) {
      if (inner.getFunctionParent() === path) reason ??= 'it uses this';
    },
    Identifier(inner) {
      if (inner.node.name === 'arguments' && inner.isReferencedIdentifier()) reason ??= 'it uses arguments';
    },
  });
  return { hooks, reason };
}

function isOfReact(call: NodePath<t.CallExpression>): boolean {
  const { callee } = call.node;
  const local = callee.type === 'MemberExpression' ? callee.object : callee;
  if (local.type !== 'Identifier') return false;
  const binding = call.scope.getBinding(local.name);
  const source = binding?.path.parent;
  if (source?.type !== 'ImportDeclaration' || source.source.value !== 'react') return false;
  if (callee.type === 'MemberExpression') return true;
  const specifier = binding?.path.node;
  // The name of the hook, not one given to another.
  return (
    specifier?.type === 'ImportSpecifier' &&
    specifier.imported.type === 'Identifier' &&
    specifier.imported.name === local.name
  );
}

/** `_c(8)` in the output of React Compiler. */
function isCompilerCache({ node: { callee }, scope }: NodePath<t.CallExpression>): boolean {
  if (callee.type !== 'Identifier') return false;
  const imported = scope.getBinding(callee.name)?.path.parent;
  return (
    imported?.type === 'ImportDeclaration' &&
    /(?:^|\/)(?:react-)?compiler-runtime$/.test(imported.source.value)
  );
}

/** `$[3] = …` in the output of React Compiler. */
export function isCacheSlot(path: NodePath, target: t.Node): boolean {
  if (target.type !== 'MemberExpression' || target.object.type !== 'Identifier' || !target.computed)
    return false;
  const made = path.scope.getBinding(target.object.name)?.path;
  const init = made?.isVariableDeclarator() === true ? made.get('init') : undefined;
  return init?.isCallExpression() === true && isCompilerCache(init);
}

function basesOf(path: FunctionPath): Map<Binding, Base> {
  const bases = new Map<Binding, Base>();
  const [first] = path.get('params');
  if (first === undefined) return bases;
  const parameter = (first.isAssignmentPattern() ? first.get('left') : first) as NodePath;
  if (parameter.isIdentifier()) readBase(path, path.scope.getBinding(parameter.node.name), false, bases);
  else if (parameter.isObjectPattern()) readRest(path, parameter, bases);
  return bases;
}

function readRest(path: FunctionPath, pattern: NodePath<t.ObjectPattern>, bases: Map<Binding, Base>): void {
  const last = pattern.node.properties.at(-1);
  if (last?.type !== 'RestElement' || last.argument.type !== 'Identifier') return;
  const isRefused = pattern.parentPath === path && isAgain(path, pattern);
  const reason = isRefused ? 'a name of its parameter is declared again' : undefined;
  const taken = isRefused ? undefined : takenBy(path, pattern);
  readBase(path, pattern.scope.getBinding(last.argument.name), true, bases, taken, reason);
}

/** Whether the body declares a name of the parameter again: those that replace it there would be declared twice. */
function isAgain(path: FunctionPath, parameter: NodePath<t.ObjectPattern>): boolean {
  const names = Object.keys(parameter.getBindingIdentifiers());
  const writes = names.flatMap((name) => path.scope.getBinding(name)?.constantViolations ?? []);
  return writes.some((write) => write.isVariableDeclarator() || write.isFunctionDeclaration());
}

function takenBy(
  path: FunctionPath,
  { node: pattern, parentPath }: NodePath<t.ObjectPattern>,
): Taken | undefined {
  const names: string[] = [];
  for (const property of pattern.properties) {
    if (property.type === 'RestElement') continue;
    const { key } = property;
    const name = key.type === 'Identifier' ? key.name : key.type === 'StringLiteral' ? key.value : undefined;
    if (property.computed || name === undefined || name === '__proto__') return undefined;
    names.push(name);
  }
  if (parentPath === path) return { pattern, names, statement: undefined };
  const declaration = parentPath?.parentPath;
  if (!parentPath.isVariableDeclarator() || declaration?.isVariableDeclaration() !== true) return undefined;
  const { init } = parentPath.node;
  const isAlone = declaration.node.declarations.length === 1 && declaration.parentPath?.parentPath === path;
  const isOnly = init?.type === 'Identifier' && path.scope.getBinding(init.name)?.references === 1;
  return isAlone && isOnly ? { pattern, names, statement: declaration.node } : undefined;
}

function readBase(
  path: FunctionPath,
  binding: Binding | undefined,
  isRest: boolean,
  bases: Map<Binding, Base>,
  taken?: Taken,
  refused?: string,
): void {
  if (binding === undefined || !binding.constant) return;
  const { name } = binding.identifier;
  let reason = refused;
  let isWritten = false;
  bases.set(binding, { isRest, taken, reason, isWritten });
  if (usesEval(path)) reason ??= 'it calls eval';
  for (const reference of binding.referencePaths) {
    const { parentPath, parent } = reference;
    if (reference.getFunctionParent() !== path) {
      reason ??= `${name} is read in a function that may be called later`;
      isWritten ||= isWrite(parentPath);
      continue;
    }
    if (parent.type === 'JSXSpreadAttribute') continue;
    if (parent.type === 'SpreadElement' && parentPath?.parent.type === 'ObjectExpression') continue;
    if (
      (parent.type === 'MemberExpression' || parent.type === 'OptionalMemberExpression') &&
      parent.object === reference.node
    ) {
      if (isWrite(parentPath)) isWritten = true;
      reason ??= whyMemberCounts(parentPath as NodePath<t.MemberExpression>, name);
      continue;
    }
    if (
      parent.type === 'VariableDeclarator' &&
      parent.init === reference.node &&
      parent.id.type === 'ObjectPattern'
    ) {
      if (!isRest) readRest(path, parentPath?.get('id') as NodePath<t.ObjectPattern>, bases);
      continue;
    }
    reason ??= `${name} is used as a whole`;
    isWritten ||= parent.type === 'ForInStatement' || parent.type === 'ForOfStatement';
  }
  bases.set(binding, { isRest, taken, reason, isWritten });
}

function usesEval(path: FunctionPath): boolean {
  let uses = false;
  path.traverse({
    CallExpression({ node: { callee } }) {
      uses ||= callee.type === 'Identifier' && callee.name === 'eval';
    },
  });
  return uses;
}

/** Reason why a read of `props.x` is more than one; undefined if it is not. */
function whyMemberCounts(
  { node, parent }: NodePath<t.MemberExpression | t.OptionalMemberExpression>,
  name: string,
): string | undefined {
  const isCalled =
    ((parent.type === 'CallExpression' || parent.type === 'OptionalCallExpression') &&
      parent.callee === node) ||
    (parent.type === 'TaggedTemplateExpression' && parent.tag === node);
  return isCalled ? `a call such as ${name}.f() gives all of ${name} to the function` : undefined;
}

function isWrite(member: NodePath | null): boolean {
  if (member === null || !(member.isMemberExpression() || member.isOptionalMemberExpression())) return false;
  const { node, parent } = member;
  if (parent.type === 'UnaryExpression') return parent.operator === 'delete';
  if (parent.type === 'ObjectProperty')
    return parent.value === node && member.parentPath.parent.type === 'ObjectPattern';
  if (
    parent.type === 'AssignmentExpression' ||
    parent.type === 'AssignmentPattern' ||
    parent.type === 'ForInStatement' ||
    parent.type === 'ForOfStatement'
  )
    return parent.left === node;
  return ['UpdateExpression', 'ArrayPattern', 'RestElement'].includes(parent.type);
}
