/**
 * The Babel plugin: loops of async functions get a check at the start of each turn, which yields to the event loop once the loop has
 * run for its budget. Everything else of the loop stays as it is. It uses the Babel that runs it, 7 or 8.
 */
import type { NodePath, PluginObj, types as t } from '@babel/core';
import { runtimeImport } from '../runtime-import.js';
import type { Types } from '../static-value.js';
import { awaitsEachTurn } from './awaits.js';
import type { LoopFile, LoopLine } from './report.js';
import { visibleIn } from './visible.js';

export interface LoopsOptions {
  /**
   * Loops to change. `marked`, the default: loops behind a comment with `@breathe`, and those in a loop or function behind one. `all`:
   * also loops of other async functions that pass the checks.
   */
  readonly loops?: 'marked' | 'all';
  /** Milliseconds for which a loop may run before it lets others in, 0.1 to 1000. Default 10. */
  readonly budget_ms?: number;
  /** Gets the report of each file. */
  readonly report?: (file: LoopFile) => void;
}

const RUNTIME = '@sluice/breathe';
/** Loops that end within so many turns never read the clock. */
const LATE_TURNS = 4;

/** `@breathe off` is also taken with a colon or a hyphen. */
const MARK = /(?:^|[\s*])@breathe(?:[ \t:-]*\b(off)\b|(?![\w-]))/;

type Mark = 'on' | 'off' | undefined;

export default function sluiceLoops(
  { types }: { readonly types: Types },
  { loops: which = 'marked', budget_ms = 10, report }: LoopsOptions = {},
): PluginObj {
  if (!(budget_ms >= 0.1 && budget_ms <= 1000)) {
    throw new RangeError(`budget_ms is ${budget_ms}; it has to be a number of milliseconds from 0.1 to 1000`);
  }
  return {
    name: 'sluice-loops',
    visitor: {
      Program(program, pass) {
        const judged: Judged[] = [];
        program.traverse({
          Loop: (loop) => void judged.push(judge(types, loop, which === 'all')),
        });
        const done = new Set(judged.filter(({ line }) => line.done).map(({ loop }) => loop));
        if (done.size > 0) change(types, program, done, budget_ms, pass.filename);
        report?.({ file: pass.filename ?? '', loops: judged.map(({ line }) => line) });
      },
    },
  };
}

interface Judged {
  readonly loop: NodePath<t.Loop>;
  readonly line: LoopLine;
}

function judge(types: Types, loop: NodePath<t.Loop>, all: boolean): Judged {
  const owner = ownerOf(loop);
  const mark = nearestMark(loop, owner);
  const line = (done: boolean, reason: string): Judged => ({
    loop,
    line: {
      line: loop.node.loc?.start.line ?? 0,
      column: (loop.node.loc?.start.column ?? -1) + 1,
      loop: KINDS[loop.node.type],
      name: owner?.isFunction() === true ? nameOf(owner.node, owner) : '',
      done,
      reason,
      isMarked: mark === 'on',
    },
  });
  const bar = barOf(loop, owner);
  if (bar !== undefined) return line(false, bar);
  if (mark === 'off') return line(false, 'is marked with @breathe off');
  const fault = faultOf(types, loop, owner as NodePath<t.Function>);
  if (mark === 'on') return line(true, fault ?? '');
  if (fault !== undefined) return line(false, fault);
  return all ? line(true, '') : line(false, 'is not marked with @breathe');
}

/** Reason for which nothing can be changed, whatever the author says. */
function barOf(loop: NodePath<t.Loop>, owner: NodePath | undefined): string | undefined {
  if (owner === undefined) return 'is at the top level of its module';
  if (!owner.isFunction()) return 'is in a static block or a namespace, where await is not allowed';
  if (owner.node.generator === true) return 'stands in a generator';
  if (!owner.node.async) return 'is in a function that is not async';
  const { node } = loop;
  if (node.type === 'ForInStatement') return 'iterates over the keys of one object';
  return node.type === 'ForOfStatement' && node.await ? 'awaits in each iteration' : undefined;
}

/** Reason against a change that the author can overrule. */
function faultOf(types: Types, loop: NodePath<t.Loop>, owner: NodePath<t.Function>): string | undefined {
  if (awaitsEachTurn(types, loop)) return 'awaits in each iteration';
  const own = visibleIn(loop, owner);
  if (own !== undefined) return own;
  for (let at = loop.parentPath; at !== null && at !== owner; at = at.parentPath ?? owner) {
    // Others would run in the middle of its turns.
    const outer = at.isLoop() ? visibleIn(at, owner) : undefined;
    if (outer !== undefined) return `stands in a loop that ${outer}`;
  }
  return undefined;
}

/** The function around the loop, or a nearer block that can await nothing; undefined at the top level. */
function ownerOf(loop: NodePath): NodePath | undefined {
  return (
    loop.findParent((path) => path.isFunction() || path.isStaticBlock() || path.isTSModuleBlock()) ??
    undefined
  );
}

/** The mark of the loop, else of a loop around it, else of the function. */
function nearestMark(loop: NodePath, owner: NodePath | undefined): Mark {
  for (let at: NodePath | null = loop; at !== null && at !== owner; at = at.parentPath) {
    const mark = at.isLoop() ? markOf(at) : undefined;
    if (mark !== undefined) return mark;
  }
  return owner?.isFunction() === true ? markOf(owner) : undefined;
}

/** The mark in a comment directly before a loop or a function, or before the statement or member that holds the function. */
function markOf(path: NodePath): Mark {
  for (let at: NodePath | null = path; at !== null; at = at.parentPath) {
    for (const comment of at.node.leadingComments ?? []) {
      const found = MARK.exec(comment.value);
      if (found !== null && !isBehindOther(comment, at)) return found[1] === undefined ? 'on' : 'off';
    }
    const isWhole = at !== path && at.isFunction();
    if (isWhole || at.isProgram() || at.isBlock() || at.isSwitchCase() || at.isClassBody()) return undefined;
    const { parentPath } = at;
    const isPart = parentPath?.isLabeledStatement() === true || parentPath?.isExportDeclaration() === true;
    if (at.isStatement() && !isPart) return undefined;
    if (at.isMethod() || at.isClassProperty() || at.isClassPrivateProperty() || at.isObjectMember())
      return undefined;
  }
  return undefined;
}

/** Whether the comment ends the line of the statement or member before. */
function isBehindOther({ loc }: t.Comment, { node, key, container }: NodePath): boolean {
  const before = Array.isArray(container) ? container[Number(key) - 1]?.loc?.end.line : undefined;
  return before !== undefined && before === loc?.start.line && (node.loc?.start.line ?? 0) > before;
}

const KINDS: Readonly<Record<t.Loop['type'], string>> = {
  ForStatement: 'for',
  ForOfStatement: 'for…of',
  ForInStatement: 'for…in',
  WhileStatement: 'while',
  DoWhileStatement: 'do…while',
};

function nameOf(node: t.Function, path: NodePath): string {
  const own = 'id' in node && node.id ? node.id : 'key' in node ? node.key : undefined;
  const parent = path.parentPath?.node;
  const given =
    parent?.type === 'VariableDeclarator'
      ? parent.id
      : parent?.type === 'ObjectProperty' || parent?.type === 'ClassProperty'
        ? parent.key
        : undefined;
  const name = own ?? given;
  if (name?.type === 'Identifier') return name.name;
  if (name?.type === 'PrivateName') return `#${name.id.name}`;
  return name?.type === 'StringLiteral' ? name.value : '';
}

function change(
  types: Types,
  program: NodePath<t.Program>,
  loops: ReadonlySet<NodePath<t.Loop>>,
  budget_ms: number,
  path: string | undefined,
): void {
  const Breather = program.scope.generateUidIdentifier('Breather');
  for (const loop of loops) {
    if (outermost(loop, loops) !== loop) continue;
    const breather = program.scope.generateUidIdentifier('breather');
    for (const inner of loops) {
      if (outermost(inner, loops) === loop) addCheck(types, inner, breather);
    }
    const options = types.objectExpression([
      types.objectProperty(types.identifier('budget_ms'), types.numericLiteral(budget_ms)),
      types.objectProperty(types.identifier('late_turns'), types.numericLiteral(LATE_TURNS)),
    ]);
    const made = types.newExpression(types.cloneNode(Breather), [options]);
    loop.insertBefore(
      types.variableDeclaration('const', [types.variableDeclarator(types.cloneNode(breather), made)]),
    );
  }
  program.unshiftContainer('body', [runtimeImport(types, program, path, RUNTIME, [['Breather', Breather]])]);
  // Plugins that look at references, such as TypeScript's, need to find them.
  program.scope.crawl();
}

/** The outermost loop that breathes, around the loop in the same function. They share one budget. */
function outermost(loop: NodePath<t.Loop>, loops: ReadonlySet<NodePath<t.Loop>>): NodePath<t.Loop> {
  let found = loop;
  const owner = ownerOf(loop);
  for (let at: NodePath | null = loop.parentPath; at !== null && at !== owner; at = at.parentPath) {
    if (loops.has(at as NodePath<t.Loop>)) found = at as NodePath<t.Loop>;
  }
  return found;
}

/** `if (_breather.isDue()) await _breather.breathe();` at the start of a turn. */
function addCheck(types: Types, loop: NodePath<t.Loop>, breather: t.Identifier): void {
  const call = (method: string): t.Expression =>
    types.callExpression(types.memberExpression(types.cloneNode(breather), types.identifier(method)), []);
  const check = types.ifStatement(
    call('isDue'),
    types.expressionStatement(types.awaitExpression(call('breathe'))),
  );
  const { body } = loop.node;
  loop.node.body = types.isBlockStatement(body) ? body : types.blockStatement([body]);
  loop.node.body.body.unshift(check);
}
