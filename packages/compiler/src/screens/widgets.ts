/** Widgets: constant styles are moved out, and updates are generated. Both work on attributes, before elements are made. */
import type { NodePath, types as t } from '@babel/core';
import { type Types, expressionOf, literalOf } from '../static-value.js';
import { constantOf, keyOf, nameOf } from './constants.js';
import { PROPERTIES } from './properties.js';

/** Declares a constant at the top of the module, once for each content; returns its name. */
export type Declare = (base: string, value: t.Expression) => t.Identifier;

export interface Outcome {
  readonly done: boolean;
  readonly reason: string;
}

const SIDES = ['Left', 'Top', 'Right', 'Bottom'];

/** Properties that shorthands stand for. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  gap: ['rowGap', 'columnGap'],
  ...Object.fromEntries(
    ['padding', 'margin'].flatMap((family) => [
      [family, SIDES.map((side) => family + side)],
      [`${family}Horizontal`, [`${family}Left`, `${family}Right`]],
      [`${family}Vertical`, [`${family}Top`, `${family}Bottom`]],
    ]),
  ),
};

/** Shorthands, and all names that mean a part of the same. */
const FAMILIES: Readonly<Record<string, string>> = {
  gap: 'gap',
  rowGap: 'gap',
  columnGap: 'gap',
  ...Object.fromEntries(
    ['padding', 'margin'].flatMap((family) =>
      ['', 'Horizontal', 'Vertical', ...SIDES].map((side) => [family + side, family]),
    ),
  ),
};

/** Names that mean a part of the same have one family. */
export const familyOf = (name: string): string | undefined => FAMILIES[name];

const OBJECTS = ['style', 'staticStyle', 'focusStyle', 'animate'];

function attributeOf(element: t.JSXOpeningElement, name: string): t.JSXAttribute | undefined {
  return element.attributes.find(
    (one): one is t.JSXAttribute =>
      one.type === 'JSXAttribute' && one.name.type === 'JSXIdentifier' && one.name.name === name,
  );
}

const hasSpread = ({ attributes }: t.JSXOpeningElement): boolean =>
  attributes.some(({ type }) => type === 'JSXSpreadAttribute');

const isTwice = (element: t.JSXOpeningElement, name: string): boolean =>
  element.attributes.filter((one) => one.type === 'JSXAttribute' && one.name.name === name).length > 1;

/** The object that an attribute is written as. */
export function objectOf(attribute: t.JSXAttribute | undefined): t.ObjectExpression | undefined {
  let value: t.Node | undefined = attribute && expressionOf(attribute.value);
  while (value?.type === 'TSAsExpression' || value?.type === 'TSSatisfiesExpression')
    value = value.expression;
  return value?.type === 'ObjectExpression' ? value : undefined;
}

const give = (types: Types, attribute: t.JSXAttribute, value: t.Expression): void => {
  attribute.value = types.jsxExpressionContainer(value);
};

const frozen = (types: Types, value: t.Expression): t.Expression =>
  types.callExpression(types.memberExpression(types.identifier('Object'), types.identifier('freeze')), [
    value,
  ]);

/** Moves the constant part of `style` to `staticStyle`, and constant objects out of the component. Undefined where there is nothing to do. */
export function hoistStyles(
  types: Types,
  path: NodePath<t.JSXElement>,
  declare: Declare,
  seenBy: string | undefined,
): Outcome | undefined {
  const split = splitStyle(types, path, declare, seenBy);
  const element = path.node.openingElement;
  const moved: string[] = [];
  for (const name of OBJECTS) {
    const attribute = attributeOf(element, name);
    const object = objectOf(attribute);
    const constant = object && constantOf(types, path, object);
    if (attribute === undefined || constant === undefined) continue;
    // It keeps its place. Only its identity is the same from now on.
    give(types, attribute, declare(name, frozen(types, constant)));
    moved.push(name);
  }
  if (split?.done !== false || !moved.includes('style')) {
    if (split !== undefined) return split;
    return moved.length > 0 ? { done: true, reason: `constant ${moved.join(' and ')}` } : undefined;
  }
  return { done: true, reason: `constant style, but no static one: ${split.reason}` };
}

function splitStyle(
  types: Types,
  path: NodePath<t.JSXElement>,
  declare: Declare,
  seenBy: string | undefined,
): Outcome | undefined {
  const element = path.node.openingElement;
  const attribute = attributeOf(element, 'style');
  const object = objectOf(attribute);
  if (attribute === undefined || object === undefined) return undefined;
  const refused = (reason: string): Outcome => ({ done: false, reason });
  const constants: t.ObjectProperty[] = [];
  const others: string[] = [];
  const names = new Set<string>();
  for (const property of object.properties) {
    const name = nameOf(property);
    if (name === undefined || property.type !== 'ObjectProperty')
      return refused('style has a spread or a computed name');
    if (names.has(name)) return refused(`style has ${name} twice`);
    names.add(name);
    const constant = constantOf(types, path, property.value);
    // A value that is undefined lets a static one through, and would hide it in the shared style.
    if (constant === undefined || (constant.type === 'UnaryExpression' && constant.operator === 'void'))
      others.push(name);
    else constants.push(types.objectProperty(keyOf(types, name), constant));
  }
  if (constants.length === 0) return undefined;
  if (hasSpread(element)) return refused('the spread may contain style or staticStyle');
  if (isTwice(element, 'style')) return refused('style is given twice');
  if (seenBy !== undefined)
    return refused(
      `the element is seen by ${seenBy}, which may read or replace its style; give staticStyle yourself`,
    );
  // A shorthand and a part of it mean something by their order, so both stay where they are.
  const changing = new Set(others.map(familyOf));
  const hoisted = constants.filter((property) => {
    const family = familyOf(nameOf(property) as string);
    return family === undefined || !changing.has(family);
  });
  if (hoisted.length === 0) return refused('its constant parts belong to shorthands that change');
  const given = attributeOf(element, 'staticStyle');
  const below = given === undefined ? [] : constantProperties(types, path, given);
  if (below === undefined) return refused('staticStyle is given too, and is not constant');
  const overlaps = below.some((property) => {
    const family = familyOf(nameOf(property) as string);
    return family !== undefined && hoisted.some((one) => familyOf(nameOf(one) as string) === family);
  });
  if (overlaps || isTwice(element, 'staticStyle'))
    return refused('staticStyle has shorthands of the same kind');
  const hoistedNames = new Set(hoisted.map(nameOf));
  const rest = object.properties.filter((property) => !hoistedNames.has(nameOf(property)));
  const kept = below.filter((property) => !hoistedNames.has(nameOf(property)));
  const shared = declare('staticStyle', frozen(types, types.objectExpression([...kept, ...hoisted])));
  const staticStyle = given ?? types.jsxAttribute(types.jsxIdentifier('staticStyle'));
  give(types, staticStyle, shared);
  if (given === undefined) element.attributes.splice(element.attributes.indexOf(attribute), 0, staticStyle);
  if (rest.length > 0) give(types, attribute, types.objectExpression(rest));
  else element.attributes.splice(element.attributes.indexOf(attribute), 1);
  return { done: true, reason: `${hoisted.length} of ${names.size} values are static` };
}

function constantProperties(
  types: Types,
  path: NodePath<t.JSXElement>,
  attribute: t.JSXAttribute,
): t.ObjectProperty[] | undefined {
  const object = objectOf(attribute);
  const constant = object && constantOf(types, path, object);
  return constant?.type === 'ObjectExpression' ? (constant.properties as t.ObjectProperty[]) : undefined;
}

const GROUPS: readonly (readonly [bit: number, names: readonly string[]])[] = [
  [1, ['staticStyle']],
  [2, ['focusStyle']],
  [4, ['style', 'text', 'image', 'animate']],
  [8, ['onLayout', 'onAnimationEnd', 'onImage']],
  [16, ['focused', 'focusable', 'focusArea']],
  [32, ['children']],
  [64, ['ref']],
];

/** Groups of props that the place can give, as the renderer's `$k` has them; undefined with a spread, which can give all. */
export function groupsOf({ openingElement, children }: t.JSXElement): number | undefined {
  if (hasSpread(openingElement)) return undefined;
  let groups = children.length > 0 ? 32 : 0;
  for (const [bit, names] of GROUPS) {
    if (names.some((name) => attributeOf(openingElement, name) !== undefined)) groups |= bit;
  }
  return groups;
}

/** Names of a style, and those of literals among them; or why an update of it cannot be written. */
export function fieldsOf(
  object: t.ObjectExpression,
): { readonly names: readonly string[]; readonly fixed: readonly string[] } | { readonly reason: string } {
  const names: string[] = [];
  const fixed: string[] = [];
  for (const property of object.properties) {
    const name = nameOf(property);
    if (name === undefined) return { reason: 'style has a spread or a computed name' };
    if (names.includes(name)) return { reason: `style has ${name} twice` };
    if (name === 'transition') return { reason: 'style has a transition' };
    if (PROPERTIES[name] === undefined && familyOf(name) === undefined)
      return { reason: `style has the unknown name ${name}` };
    names.push(name);
    if (property.type === 'ObjectProperty' && literalOf(property.value) !== undefined) fixed.push(name);
  }
  const mixed = names.find(
    (name) =>
      PROPERTIES[name] === undefined &&
      names.some((other) => other !== name && familyOf(other) === familyOf(name)),
  );
  return mixed === undefined ? { names, fixed } : { reason: `style has ${mixed} and a part of it` };
}

/** Names that the stream has for what is not in `style`. */
const OUTSIDE = ['text', 'image'] as const;

/** Prototype for the widget's props with a generated update, as an expression for the top of the module; or why there is none. */
export function updateOf(
  types: Types,
  path: NodePath<t.JSXElement>,
  runtimeUpdates: () => t.Expression,
  groups: number,
): { readonly site: t.CallExpression; readonly fields: number } | Outcome | undefined {
  const element = path.node.openingElement;
  const style = attributeOf(element, 'style');
  const outside = OUTSIDE.filter((name) => attributeOf(element, name) !== undefined);
  if (style === undefined && outside.length === 0) return undefined;
  const refused = (reason: string): Outcome => ({ done: false, reason });
  if (hasSpread(element)) return refused('the spread may contain style, text, image or animate');
  if (attributeOf(element, 'animate') !== undefined) return refused('animate is compared by the renderer');
  for (const name of ['style', ...OUTSIDE])
    if (isTwice(element, name)) return refused(`${name} is given twice`);
  const names: string[] = [];
  /** Values that only the mount sends. */
  const fixed = new Set<string>();
  if (style !== undefined) {
    const hoisted = hoistedObjectOf(style);
    const object = hoisted ?? objectOf(style);
    if (object === undefined) return refused('style is not written as { name: value }');
    const fields = fieldsOf(object);
    if ('reason' in fields) return refused(fields.reason);
    names.push(...fields.names);
    for (const name of hoisted === undefined ? fields.fixed : names) fixed.add(name);
  }
  const update: t.Statement[] = [];
  const mount: t.Statement[] = [];
  if (names.length > 0) {
    for (const name of names) {
      const send = sendOf(types, name, read(types, 'style', name), read(types, 'node', 'id'));
      if (!fixed.has(name))
        update.push(whenChanged(types, read(types, 'old', name), read(types, 'style', name), send));
      mount.push(whenGiven(types, read(types, 'style', name), send));
    }
    const [before, now] = [read(types, 'before', 'style'), read(types, 'now', 'style')];
    if (update.length > 0)
      update.unshift(
        declareAll(types, [
          ['old', before],
          ['style', now],
        ]),
      );
    mount.unshift(declareAll(types, [['style', types.cloneNode(now)]]));
  }
  for (const name of outside) {
    const send = sendOf(types, name, read(types, 'now', name), read(types, 'node', 'id'));
    update.push(whenChanged(types, read(types, 'before', name), read(types, 'now', name), send));
    mount.push(whenGiven(types, read(types, 'now', name), send));
  }
  const site = types.callExpression(runtimeUpdates(), [
    functionOf(types, ['node', 'before', 'now', 'out'], update),
    functionOf(types, ['node', 'now', 'out'], mount),
    types.numericLiteral(groups),
  ]);
  return { site, fields: names.length + outside.length };
}

/** Names that `declare` has returned, with what they stand for. */
export const HOISTED = new WeakMap<t.Node, t.Expression>();

/** A style that was moved out as a whole is the same object at each render. */
export function hoistedObjectOf(attribute: t.JSXAttribute): t.ObjectExpression | undefined {
  const value = expressionOf(attribute.value);
  const frozenObject = value && HOISTED.get(value);
  const object = frozenObject?.type === 'CallExpression' ? frozenObject.arguments[0] : undefined;
  return object?.type === 'ObjectExpression' ? object : undefined;
}

const read = (types: Types, object: string, name: string): t.MemberExpression =>
  types.memberExpression(types.identifier(object), types.identifier(name));

/** Tells the surface a value of the widget `id`: as a number or a string where it is one, else by its name. */
export function sendOf(types: Types, name: string, value: t.Expression, id: t.Expression): t.Statement {
  const call = (method: string, ...values: t.Expression[]): t.Statement =>
    types.expressionStatement(
      types.callExpression(
        read(types, 'out', method),
        [id, ...values].map((one) => types.cloneNode(one)),
      ),
    );
  const names = PARTS[name] ?? [name];
  const byName = block(types, ...names.map((one) => call('property', types.stringLiteral(one), value)));
  const code = PROPERTIES[name]?.[0];
  if (OUTSIDE.some((one) => one === name) && code !== undefined) {
    const isString = types.binaryExpression(
      '===',
      types.unaryExpression('typeof', types.cloneNode(value)),
      types.stringLiteral('string'),
    );
    return types.ifStatement(isString, block(types, call('text', types.numericLiteral(code), value)), byName);
  }
  const codes = names.map((one) => PROPERTIES[one]).filter((facts) => facts?.[1] === true);
  if (codes.length < names.length) return byName;
  // The difference is 0 for numbers but the infinite ones and NaN, which are left to the renderer's checks.
  const isNumber = types.logicalExpression(
    '&&',
    types.binaryExpression(
      '===',
      types.unaryExpression('typeof', types.cloneNode(value)),
      types.stringLiteral('number'),
    ),
    types.binaryExpression(
      '===',
      types.binaryExpression('-', types.cloneNode(value), types.cloneNode(value)),
      types.numericLiteral(0),
    ),
  );
  const asNumber = codes.map((facts) => call('number', types.numericLiteral(facts?.[0] ?? 0), value));
  return types.ifStatement(isNumber, block(types, ...asNumber), byName);
}

const whenChanged = (
  types: Types,
  old: t.MemberExpression,
  current: t.MemberExpression,
  send: t.Statement,
): t.Statement => types.ifStatement(types.binaryExpression('!==', old, current), asBlock(types, send));

const whenGiven = (types: Types, value: t.MemberExpression, send: t.Statement): t.Statement =>
  types.ifStatement(
    types.binaryExpression('!==', value, types.unaryExpression('void', types.numericLiteral(0))),
    asBlock(types, types.cloneNode(send)),
  );

const asBlock = (types: Types, statement: t.Statement): t.Statement =>
  statement.type === 'BlockStatement' ? statement : block(types, statement);

const block = (types: Types, ...statements: t.Statement[]): t.Statement => types.blockStatement(statements);

const declareAll = (types: Types, all: readonly (readonly [string, t.Expression])[]): t.Statement =>
  types.variableDeclaration(
    'const',
    all.map(([name, value]) => types.variableDeclarator(types.identifier(name), value)),
  );

const functionOf = (types: Types, parameters: readonly string[], body: t.Statement[]): t.Expression =>
  types.functionExpression(
    null,
    parameters.map((name) => types.identifier(name)),
    types.blockStatement(body),
  );
