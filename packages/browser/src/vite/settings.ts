/** Reads those of a component's `settings` that are literal strings, from its built code. It must not know what they are for. */

/** The part of ESTree's nodes that is used. */
interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Settings whose values are literal strings, by their names; of a module's syntax tree as Rollup's `this.parse` gives it. */
export function literalSettings(program: unknown): ReadonlyMap<string, string> {
  const body = nodesOf(program as Node, 'body');
  const exported = body
    .filter(({ type, source }) => type === 'ExportNamedDeclaration' && !source)
    .flatMap((node) => nodesOf(node, 'specifiers'))
    .find((specifier) => nameOf(specifier['exported']) === 'settings');
  const local = nameOf(exported?.['local']);
  // Bundlers export by a list at a chunk's end.
  const value = body
    .flatMap((node) => nodesOf(node, 'declarations'))
    .find(({ id }) => local !== undefined && nameOf(id) === local)?.['init'] as Node | undefined;
  const found = new Map<string, string>();
  if (value?.type !== 'ObjectExpression') return found;
  for (const property of nodesOf(value, 'properties')) {
    const name = nameOf(property['key']);
    const text = textOf(property['value'] as Node | undefined);
    if (name !== undefined && text !== undefined && property['computed'] !== true) found.set(name, text);
  }
  return found;
}

const nodesOf = (node: Node, list: string): readonly Node[] =>
  (node[list] as readonly Node[] | undefined) ?? [];

/** Name of an identifier, or of a key or export that is written as a string. */
function nameOf(node: unknown): string | undefined {
  const { type, name, value } = (node ?? {}) as Partial<Node>;
  if (type === 'Identifier') return name as string;
  return type === 'Literal' && typeof value === 'string' ? value : undefined;
}

/** A literal string, also as minifiers write it: a template without parts. */
function textOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node?.type !== 'TemplateLiteral') return undefined;
  const [quasi, ...others] = nodesOf(node, 'quasis');
  return others.length === 0 ? (quasi?.['value'] as { cooked?: string } | undefined)?.cooked : undefined;
}
