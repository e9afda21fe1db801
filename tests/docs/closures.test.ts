// V8 takes a function that an assignment gives to a property for a method, and allocates it among the old objects. A closure there
// keeps what its scope holds, young objects too, until the next full garbage collection: a request's, everything of that request.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { type ParseResult, parseSync, traverse } from '@babel/core';
import { root } from './repository.ts';

/** Packages whose code runs for requests. */
const PACKAGES = ['breathe', 'preload', 'react', 'render'];
/** Assignments that do not happen for every request, by file. */
const RARE: Readonly<Record<string, string>> = {
  'preload/src/host/after-require.ts': 'once in the life of a worker',
  'preload/src/listen/idle.ts': 'once in the life of a worker',
  'preload/src/requests/abandoned.ts': 'while memory is measured, and it closes over nothing of a request',
  'preload/src/routes/call-site.ts': 'while a call site is read, and it closes over nothing',
  'react/src/state/component-stack.ts': 'while the stack of an error is read',
  'react/src/walk/preloads.ts': 'once in the life of a process',
  'render/src/adapters/preact.ts': 'once in the life of a process',
};

/** Syntax tree of TypeScript. */
function parsed(code: string): ParseResult {
  const ast = parseSync(code, {
    filename: 'module.ts',
    presets: ['@babel/preset-typescript'],
    configFile: false,
    babelrc: false,
  });
  assert.ok(ast);
  return ast;
}

/** Lines on which a function within a function is assigned to a property. */
function closuresOf(file: string): number[] {
  const lines: number[] = [];
  traverse(parsed(fs.readFileSync(file, 'utf8')), {
    AssignmentExpression(at) {
      const { left, right, loc } = at.node;
      const isProperty = left.type === 'MemberExpression';
      const isClosure = right.type === 'ArrowFunctionExpression' || right.type === 'FunctionExpression';
      if (isProperty && isClosure && at.getFunctionParent() !== null) lines.push(loc?.start.line ?? 0);
    },
  });
  return lines;
}

/**
 * Lines on which a function makes an object literal with a getter. V8 gives each such object a hidden class of its own, which is old and keeps
 * the getter's scope as well.
 */
function gettersOf(code: string): number[] {
  const lines: number[] = [];
  traverse(parsed(code), {
    ObjectMethod(at) {
      const isMade = at.parentPath.getFunctionParent() !== null;
      if (at.node.kind === 'get' && isMade) lines.push(at.node.loc?.start.line ?? 0);
    },
  });
  return lines;
}

const sourcesOf = (name: string): string[] =>
  fs
    .readdirSync(path.join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => path.posix.join(name, 'src', file));

test('no closure of a request is assigned to a property', () => {
  const found = PACKAGES.flatMap(sourcesOf).filter(
    (file) => closuresOf(path.join(root, 'packages', file)).length > 0,
  );
  assert.deepEqual(found.sort(), Object.keys(RARE).sort());
});

test('such an assignment is found', () => {
  const file = path.join(root, 'packages/render/src/adapters/preact.ts');
  assert.ok(closuresOf(file).length === 1);
});

test('no object literal of a request has a getter', () => {
  const found = PACKAGES.flatMap(sourcesOf).filter(
    (file) => gettersOf(fs.readFileSync(path.join(root, 'packages', file), 'utf8')).length > 0,
  );
  assert.deepEqual(found, []);
});

test('such a getter is found, and that of a class or a module is not', () => {
  assert.deepEqual(gettersOf('const make = (a: number) => ({\n  get a() { return a; },\n});'), [2]);
  assert.deepEqual(gettersOf('class A { get a() { return 1; } }\nconst b = { get b() { return 1; } };'), []);
});
