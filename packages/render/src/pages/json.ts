/** Pages as JSON, for clients that are not browsers: the same tree, each component's form. It must not know HTTP. */
import type { Result } from './results.js';
import type { Item } from './plan.js';

/** Version of the answer's shape. */
const VERSION = 1;

export interface JsonPage {
  readonly page: string | undefined;
  readonly document: { readonly title: string | undefined; readonly lang: string | undefined };
  readonly variants: Readonly<Record<string, string>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly items: readonly Item[];
  readonly itemsOf: (item: Item) => readonly Item[];
  readonly resultOf: (item: Item) => Result | undefined;
}

/**
 * `{"version":1,"page","document","variants","outcomes","boxes":[{"id","component","version","outcome","data","slots"}]}`.
 * A box without `data` failed as its outcome says.
 */
export function jsonPage(page: JsonPage): string {
  const { page: id, document, variants, outcomes, items } = page;
  const head = JSON.stringify({ version: VERSION, page: id, document, variants, outcomes });
  return `${head.slice(0, -1)},"boxes":${boxesJson(items, page)}}`;
}

function boxesJson(items: readonly Item[], page: JsonPage): string {
  return `[${textsOf(items, page).join(',')}]`;
}

function textsOf(items: readonly Item[], page: JsonPage): readonly string[] {
  return items.flatMap((item) => {
    if (item.kind === 'deferred') return textsOf(page.itemsOf(item), page);
    const result = page.resultOf(item);
    return result === undefined ? [] : [boxJson(result, page)];
  });
}

function boxJson({ box, component, outcome, text }: Result, page: JsonPage): string {
  const { id, node, slots } = box;
  const head = JSON.stringify({
    id,
    component: component?.name ?? node.component,
    version: component?.version,
    outcome,
  });
  // The form is text already.
  const data = text === undefined ? '' : `,"data":${String(text)}`;
  if (slots.size === 0) return `${head.slice(0, -1)}${data}}`;
  const inner = [...slots].map(([name, items]) => `${JSON.stringify(name)}:${boxesJson(items, page)}`);
  return `${head.slice(0, -1)}${data},"slots":{${inner.join(',')}}}`;
}
