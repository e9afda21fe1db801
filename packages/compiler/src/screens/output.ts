/** Additions of the compiler to a module: imports of the runtime and constants at its top, and the lines of its report. */
import type { NodePath, types as t } from '@babel/core';
import { runtimeImport } from '../runtime-import.js';
import { type Types, literalOf } from '../static-value.js';
import type { Line, Pass } from './report.js';
import { HOISTED } from './widgets.js';

const RUNTIME = '@sluice/screens/runtime';

export class Output {
  readonly types: Types;
  readonly program: NodePath<t.Program>;
  readonly react: 18 | 19;
  readonly isOn: (pass: Pass) => boolean;
  /** Whether no component looks into elements that it is given. */
  readonly isOpaque: boolean;
  readonly lines: Line[] = [];
  /** Statements at the top of the module. */
  readonly declarations: t.Statement[] = [];
  readonly #imports = new Map<string, t.Identifier>();
  readonly #constants = new Map<string, t.Identifier>();
  #element: t.Identifier | undefined;
  #widget: t.Identifier | undefined;

  constructor(
    types: Types,
    program: NodePath<t.Program>,
    react: 18 | 19,
    isOn: (pass: Pass) => boolean,
    isOpaque: boolean,
  ) {
    this.types = types;
    this.program = program;
    this.react = react;
    this.isOn = isOn;
    this.isOpaque = isOpaque;
  }

  /** A constant at the top of the module; the same one for the same content. Returns a name for one use. */
  declare(base: string, value: t.Expression): t.Identifier {
    const types = this.types;
    const content = contentOf(value);
    let name = content === undefined ? undefined : this.#constants.get(content);
    if (name === undefined) {
      name = this.program.scope.generateUidIdentifier(base);
      if (content !== undefined) this.#constants.set(content, name);
      this.declarations.push(
        types.variableDeclaration('const', [types.variableDeclarator(types.cloneNode(name), value)]),
      );
    }
    const used = types.cloneNode(name);
    HOISTED.set(used, value);
    return used;
  }

  elementType(): t.Identifier {
    this.#element ??= this.#constantOf('ELEMENT', 'elementType');
    return this.types.cloneNode(this.#element);
  }

  /** Prototype of elements of widgets. */
  widgetElement(): t.Identifier {
    this.#widget ??= this.#constantOf('WIDGET', 'widgetElement');
    return this.types.cloneNode(this.#widget);
  }

  /** Declares what a function of the runtime returns for the version of React, in front of all that uses it. */
  #constantOf(base: string, maker: string): t.Identifier {
    const types = this.types;
    const name = this.program.scope.generateUidIdentifier(base);
    const value = types.callExpression(this.runtime(maker), [types.numericLiteral(this.react)]);
    this.declarations.unshift(
      types.variableDeclaration('const', [types.variableDeclarator(types.cloneNode(name), value)]),
    );
    return name;
  }

  runtime(name: string): t.Identifier {
    let local = this.#imports.get(name);
    if (local === undefined) {
      local = this.program.scope.generateUidIdentifier(name);
      this.#imports.set(name, local);
    }
    return this.types.cloneNode(local);
  }

  undefined(): t.Expression {
    return this.types.unaryExpression('void', this.types.numericLiteral(0));
  }

  note(pass: Pass, node: t.Node, name: string, done: boolean, reason: string): void {
    const { line = 0, column = -1 } = node.loc?.start ?? {};
    this.lines.push({ pass, line, column: column + 1, done, name, reason });
  }

  /** `path`: the file's. */
  finish(path: string | undefined): void {
    const types = this.types;
    if (this.#imports.size === 0) {
      if (this.declarations.length > 0) this.program.unshiftContainer('body', this.declarations);
      return;
    }
    const imported = runtimeImport(types, this.program, path, RUNTIME, this.#imports);
    this.program.unshiftContainer('body', [imported, ...this.declarations]);
    // Values moved; plugins that look at references, such as TypeScript's, need to find them.
    this.program.scope.crawl();
  }
}

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
