/**
 * The Babel plugin, which is the compiler; the other entries run it. It works on JSX, so it has to come before whatever
 * turns JSX into calls, and behind what changes JSX (React Compiler). It uses the Babel that runs it, 7 or 8.
 */
import { dirname, resolve } from 'node:path';
import type { NodePath, PluginObj, PluginPass, types as t } from '@babel/core';
import { KEY, type Lowered, VALUES, lower } from './lower.js';
import { createReader } from './read.js';
import { type ReactDom, UnknownReactError, reactDomFor } from './react-dom.js';
import { runtimeImport } from './runtime-import.js';
import type { Types } from './static-value.js';

export interface BabelOptions {
  /** Path from which `react-dom` is looked up; by default the directory of the compiled file, then Babel's. */
  readonly reactFrom?: string;
  /** Whether elements of components become holes of templates (true by default). False where a later step rewrites their JSX. */
  readonly components?: boolean;
  /** Gets what the user should know, once each; by default it goes to standard error. */
  readonly warn?: (message: string) => void;
}

const RUNTIME = '@sluice/react/template';
const warned = new Set<string>();

export default function sluiceTemplates(
  { types }: { readonly types: Types },
  options: BabelOptions = {},
): PluginObj {
  return {
    name: 'sluice-templates',
    visitor: {
      Program(program, pass) {
        if (!mayBeCompiled(program, pass)) return;
        const own = pass.filename ? [dirname(pass.filename), pass.cwd] : [pass.cwd];
        const places = options.reactFrom === undefined ? own : [resolve(pass.cwd, options.reactFrom)];
        const reactDom = knownReactDom(places, options.warn ?? console.warn);
        if (reactDom !== undefined)
          compileProgram(types, program, reactDom, options.components !== false, pass.filename);
      },
    },
  };
}

function knownReactDom(
  directories: readonly string[],
  warn: (message: string) => void,
): ReactDom | undefined {
  try {
    return reactDomFor(directories);
  } catch (error) {
    if (!(error instanceof UnknownReactError)) throw error;
    if (!warned.has(error.message)) warn(error.message);
    warned.add(error.message);
    return undefined;
  }
}

/**
 * Whether JSX may be compiled. It may not if it means something else than React's own elements, or if a later step
 * rewrites JSX by its place.
 */
function mayBeCompiled(program: NodePath<t.Program>, pass: PluginPass): boolean {
  const comments = pass.file.ast.comments ?? [];
  const isForeign = comments.some(({ value }) => {
    const source = /@jsxImportSource\s+(\S+)/.exec(value)?.[1];
    return (source !== undefined && source !== 'react') || /@jsx\s+(?!React\.createElement\b)\S/.test(value);
  });
  if (isForeign) return false;
  let hasScopedStyle = false;
  program.traverse({
    JSXOpeningElement(path) {
      const { name, attributes } = path.node;
      if (name.type !== 'JSXIdentifier' || name.name !== 'style') return;
      // styled-jsx adds a class to the elements of the component around it.
      hasScopedStyle ||= attributes.some((one) => one.type === 'JSXAttribute' && one.name.name === 'jsx');
    },
  });
  return !hasScopedStyle;
}

function compileProgram(
  types: Types,
  program: NodePath<t.Program>,
  reactDom: ReactDom,
  components: boolean,
  path: string | undefined,
): void {
  const template = program.scope.generateUidIdentifier('template');
  const declarations: t.Statement[] = [];
  program.traverse({
    JSXElement(path) {
      const isUndefined = (node: t.Node): boolean =>
        node.type === 'Identifier' && node.name === 'undefined' && !path.scope.hasBinding('undefined', true);
      const lowered = lower(types, createReader(types, reactDom, isUndefined, components), path.node);
      if (lowered === undefined) return;
      const name = program.scope.generateUidIdentifier(rootTag(lowered));
      declarations.push(declaration(types, template, name, reactDom.version, lowered));
      const { parent } = path;
      const instance = call(types, name, lowered);
      instance.loc = path.node.loc ?? null;
      const isInJsx =
        types.isJSXElement(parent) || types.isJSXFragment(parent) || types.isJSXAttribute(parent);
      path.replaceWith(isInJsx ? types.jsxExpressionContainer(instance) : instance);
    },
  });
  if (declarations.length === 0) return;
  program.unshiftContainer('body', [
    runtimeImport(types, program, path, RUNTIME, [['template', template]]),
    ...declarations,
  ]);
  // Values moved into calls; plugins that look at references, such as TypeScript's, need to find them.
  program.scope.crawl();
}

const rootTag = ({ ordinary }: Lowered): string => {
  const { name } = ordinary.openingElement;
  return name.type === 'JSXIdentifier' ? name.name : 'element';
};

/**
 * `const _div = _template(version, pieces, holes, (values, key) => <div …>…</div>);`, with `const Type1 = values[1];` in front of the JSX
 * for each component in it.
 */
function declaration(
  types: Types,
  template: t.Identifier,
  name: t.Identifier,
  version: string,
  { pieces, holes, ordinary, types: named, key }: Lowered,
): t.Statement {
  const parameters = key === undefined ? [VALUES] : [VALUES, KEY];
  const build = types.arrowFunctionExpression(
    parameters.map((parameter) => types.identifier(parameter)),
    named.length === 0
      ? ordinary
      : types.blockStatement([namesOf(types, named), types.returnStatement(ordinary)]),
  );
  const made = types.callExpression(types.cloneNode(template), [
    types.stringLiteral(version),
    types.valueToNode(pieces),
    types.valueToNode(holes),
    build,
  ]);
  return types.variableDeclaration('const', [types.variableDeclarator(types.cloneNode(name), made)]);
}

function namesOf(types: Types, named: Lowered['types']): t.Statement {
  return types.variableDeclaration(
    'const',
    named.map(({ name, value }) =>
      types.variableDeclarator(
        types.identifier(name),
        types.memberExpression(types.identifier(VALUES), types.numericLiteral(value), true),
      ),
    ),
  );
}

function call(types: Types, name: t.Identifier, { values, key }: Lowered): t.CallExpression {
  const parts: t.Expression[] =
    values.length > 0 || key !== undefined ? [types.arrayExpression([...values])] : [];
  if (key !== undefined) parts.push(key);
  return types.callExpression(types.cloneNode(name), parts);
}
