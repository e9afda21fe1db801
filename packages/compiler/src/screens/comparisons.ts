/** Functions that compare the props of an element's place, for `memo`. */
import type { NodePath, types as t } from '@babel/core';
import { literalOf } from '../static-value.js';
import { keyOf } from './constants.js';
import type { Output } from './output.js';
import type { Read } from './read.js';
import { HOISTED } from './widgets.js';

/** Props up to which a comparison by name is written. */
const LONGEST_COMPARISON = 12;

/** Name of a function that compares the props that an element of this place can have, for `memo`; undefined if it cannot be one. */
export function comparisonOf(
  out: Output,
  path: NodePath,
  { isHost, attributes, children }: Read,
  label: string,
): t.Identifier | undefined {
  if (isHost || !out.isOn('comparisons') || !out.isOn('elements')) return undefined;
  const refused = (reason: string): undefined => {
    out.note('comparisons', path.node, label, false, reason);
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
  if (out.react === 18) given.splice(0, given.length, ...given.filter(([name]) => name !== 'ref'));
  if (new Set(given.map(([name]) => name)).size < given.length) return refused('an attribute is given twice');
  if (given.length > LONGEST_COMPARISON) return refused(`it has more than ${LONGEST_COMPARISON} props`);
  const types = out.types;
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
      const same = types.callExpression(out.runtime('same'), [from(before), from(now)]);
      return types.logicalExpression('||', types.logicalExpression('&&', equal, isNotZero), same);
    });
  const [first = types.booleanLiteral(true), ...others] = compared;
  const all = others.reduce<t.Expression>((left, right) => types.logicalExpression('&&', left, right), first);
  out.note('comparisons', path.node, label, true, `${given.length} props`);
  return out.declare('equal', types.arrowFunctionExpression([before, now], all));
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
