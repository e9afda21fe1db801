/** Whether each turn of a loop awaits something. */
import type { NodePath, types as t } from '@babel/core';
import type { Types } from '../static-value.js';

/** Undefined for what may or may not be reached, and `false` for what has no `await` and no `continue`. */
type Verdict = boolean | undefined;

export function awaitsEachTurn(types: Types, loop: NodePath<t.Loop>): boolean {
  const { node } = loop;
  if (node.type === 'ForOfStatement' && node.await) return true;
  const isTested = node.type === 'WhileStatement' || node.type === 'DoWhileStatement';
  if ((isTested || node.type === 'ForStatement') && node.test && reaches(types, node.test) === true)
    return true;
  if (node.type === 'ForStatement' && node.update && reaches(types, node.update) === true) return true;
  return reaches(types, node.body) === true;
}

/** True if running the node awaits whatever happens; undefined if it may start the next turn without. */
function reaches(types: Types, node: t.Node): Verdict {
  if (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)) return true;
  if (node.type === 'ContinueStatement') return undefined;
  if (types.isFunction(node) || types.isClass(node)) return false;
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
    const other = node.alternate ? reaches(types, node.alternate) : false;
    return first(types, [node.test]) || either(reaches(types, node.consequent), other);
  }
  const certain = certainOf(node);
  if (certain === undefined) return first(types, childrenOf(types, node));
  // The rest of it may run or not.
  return first(types, certain) || (continues(types, node) ? undefined : false);
}

/** Parts that run whenever the node does, in order; undefined where that is all of it. */
function certainOf(node: t.Node): readonly (t.Node | null | undefined)[] | undefined {
  if (node.type === 'LogicalExpression') return [node.left];
  if (node.type === 'AssignmentExpression') {
    return /^(?:&&|\|\||\?\?)=$/.test(node.operator) ? [node.left] : undefined;
  }
  if (node.type === 'OptionalCallExpression') return [node.callee];
  if (node.type === 'OptionalMemberExpression') return [node.object];
  if (node.type === 'ForOfStatement' || node.type === 'ForInStatement') return [node.right];
  if (node.type === 'WhileStatement') return [node.test];
  if (node.type === 'ForStatement') return [node.init, node.test];
  if (node.type === 'SwitchStatement') return [node.discriminant];
  return node.type === 'TryStatement' ? [node.block, node.finalizer] : undefined;
}

/** The first verdict that is not `false`, in the order of evaluation. */
function first(types: Types, nodes: readonly (t.Node | null | undefined)[]): Verdict {
  for (const node of nodes) {
    const verdict = node ? reaches(types, node) : false;
    if (verdict !== false) return verdict;
  }
  return false;
}

const either = (one: Verdict, other: Verdict): Verdict =>
  one === true && other === true ? true : one === undefined || other === undefined ? undefined : false;

/** Whether there is a `continue` in it, which may start the next turn. */
function continues(types: Types, node: t.Node): boolean {
  if (node.type === 'ContinueStatement') return true;
  if (types.isFunction(node) || types.isClass(node)) return false;
  return childrenOf(types, node).some((child) => continues(types, child));
}

function childrenOf(types: Types, node: t.Node): t.Node[] {
  return (types.VISITOR_KEYS[node.type] ?? []).flatMap((key) => {
    const child = (node as unknown as Readonly<Record<string, unknown>>)[key];
    return (Array.isArray(child) ? child : [child]).filter((one): one is t.Node => Boolean(one));
  });
}
