/** The statement by which compiled code gets what it calls. */
import type { NodePath, types as t } from '@babel/core';
import type { Types } from './static-value.js';

/** An `import`, or a `require` in CommonJS. `names` has pairs of an exported name and the local one. */
export function runtimeImport(
  types: Types,
  program: NodePath<t.Program>,
  path: string | undefined,
  source: string,
  names: Iterable<readonly [string, t.Identifier]>,
): t.Statement {
  const from = types.stringLiteral(source);
  const pairs = [...names].map(([name, local]) => [types.identifier(name), types.cloneNode(local)] as const);
  if (isModule(types, program, path)) {
    return types.importDeclaration(
      pairs.map(([name, local]) => types.importSpecifier(local, name)),
      from,
    );
  }
  const pattern = types.objectPattern(pairs.map(([name, local]) => types.objectProperty(name, local)));
  const loaded = types.callExpression(types.identifier('require'), [from]);
  return types.variableDeclaration('const', [types.variableDeclarator(pattern, loaded)]);
}

/** Whether the file may have an `import`. Where neither its syntax, its path nor Babel's options say so, names of CommonJS do. */
function isModule(types: Types, program: NodePath<t.Program>, path = ''): boolean {
  if (program.node.body.some((statement) => types.isImportOrExportDeclaration(statement))) return true;
  const extension = /\.([cm])[jt]sx?$/.exec(path)?.[1];
  if (extension !== undefined) return extension === 'm';
  if (program.node.sourceType !== 'module') return false;
  return !['module', 'exports', 'require'].some((name) => program.scope.hasGlobal(name));
}
