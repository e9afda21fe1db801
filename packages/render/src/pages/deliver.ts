/**
 * A prepared page becomes an answer: status and headers first, then the body, then the report. It must not know sockets.
 */
import { PageBody } from './body.js';
import type { Result } from './results.js';
import { InvalidTree } from './check.js';
import { preloadsOf } from '../boxes/head.js';
import {
  BOXES_END,
  documentEnd,
  documentStart,
  documentStrings,
  documentTexts,
  pageData,
  type PageData,
} from './document.js';
import { addVary, makePrivate, makeTransient, type Headers } from './headers.js';
import { placeholderOf } from './html.js';
import { jsonPage } from './json.js';
import { boxesJson, BOXES_TYPE, NAVIGATION_VARY } from './navigation.js';
import { hostOf, tellError, type Page } from './options.js';
import type { Item } from './plan.js';
import type { Prepared } from './prepare.js';
import { isFailure, outcomesOf, serverTiming, type BoxReport, type PageReport } from './report.js';
import type { TreeNode } from './tree.js';
import { Writer, type Out } from './writer.js';
import type { Html } from '../tasks/placed-html.js';
import { toError } from '../thrown.js';
import type { Variants } from '../variants/experiments.js';

const DEVICE_FIELDS: readonly string[] = ['Sec-CH-UA-Mobile', 'User-Agent'];
/** A page that cannot do without a box that it has not. */
const FAILED_STATUS = 500;

export async function deliverHtml(prepared: Prepared): Promise<Page> {
  const { boxes, items, options } = prepared;
  const start = startOf(prepared);
  tellPage(prepared);
  boxes.start(items);
  const status = await statusOf(prepared);
  const headers = headersOf(prepared, 'text/html; charset=utf-8');
  if (options.delivery === 'whole') return wholeHtml(prepared, start, status, headers);
  const body = new PageBody(prepared.leave);
  const onAbort = (): void => void body.destroy();
  prepared.signal.addEventListener('abort', onAbort);
  const writing = writeHtml(prepared, body, start).then(
    () => body.end(),
    (error: unknown) => body.destroy(toError(error)),
  );
  const report = writing.then(async () => {
    const done = await reportOf(prepared, status);
    prepared.signal.removeEventListener('abort', onAbort);
    return done;
  });
  return { status, headers, body, report };
}

export async function deliverJson(prepared: Prepared): Promise<Page> {
  const { boxes, items, tree } = prepared;
  boxes.start(items);
  const status = await statusOf(prepared);
  // Before report and headers: a title may depend on an arm.
  const document = documentTexts(tree.document, documentOptions(prepared).defaults, prepared.scope);
  const report = await reportOf(prepared, status);
  const headers = headersOf(prepared, 'application/json; charset=utf-8');
  const body = jsonPage({
    page: tree.id,
    document,
    variants: report.variants,
    outcomes: report.outcomes,
    items,
    itemsOf: (item) => (item.kind === 'deferred' ? (boxes.settledItems(item) ?? []) : [item]),
    resultOf: (item) => (item.kind === 'box' ? boxes.settled(item) : undefined),
  });
  finishWhole(prepared, headers, body, report);
  return { status, headers, body, report: Promise.resolve(report) };
}

/** HTML of the app's function, if it is one. One that throws costs the page its end, and no box. */
function madeEnd(prepared: Prepared): string | undefined {
  const { bodyEnd } = documentOptions(prepared);
  if (typeof bodyEnd !== 'function') return undefined;
  try {
    return bodyEnd();
  } catch (thrown) {
    tellError(prepared.shared, toError(thrown), 'bodyEnd', 'document');
    return undefined;
  }
}

/** Rejects with `InvalidTree` for pages without navigation. */
export async function deliverBoxes(prepared: Prepared): Promise<Page> {
  const { boxes, items, tree, scope, shared, components, code } = prepared;
  const { assets, navigation, styles } = shared;
  if (assets === undefined || navigation === undefined)
    throw new InvalidTree('format', 'boxes is for pages with `navigation` and `assets`');
  tellPage(prepared);
  boxes.start(items);
  const status = await statusOf(prepared);
  const out = new TextOut();
  await writerOf(prepared, out).write(items);
  const report = await reportOf(prepared, status);
  const headers = headersOf(prepared, BOXES_TYPE);
  const body = boxesJson({
    ...documentStrings(tree.document, documentOptions(prepared).defaults, scope),
    page: pageData({ page: dataOf(prepared), assets, code }),
    styles: styles.of(components),
    preloads: preloadsOf(assets, code),
    boxes: out.text,
    end: madeEnd(prepared),
  });
  finishWhole(prepared, headers, body, report);
  return { status, headers, body, report: Promise.resolve(report) };
}

async function wholeHtml(prepared: Prepared, start: string, status: number, headers: Headers): Promise<Page> {
  const out = new TextOut();
  await writeHtml(prepared, out, start);
  const report = await reportOf(prepared, status);
  finishWhole(prepared, headers, out.text, report);
  return { status, headers, body: out.text, report: Promise.resolve(report) };
}

async function writeHtml(prepared: Prepared, out: Out, start: string): Promise<void> {
  const writer = writerOf(prepared, out);
  const document = documentOptions(prepared);
  out.write(start);
  await writer.write(prepared.items);
  if (prepared.shared.navigation !== undefined) out.write(BOXES_END);
  if (typeof document.bodyEnd === 'string') out.write(document.bodyEnd);
  await writer.fill();
  out.write((madeEnd(prepared) ?? '') + documentEnd());
  await out.drained();
}

function writerOf({ boxes, options, shared }: Prepared, out: Out): Writer {
  const isWhole = options.delivery === 'whole' || options.format === 'boxes';
  return new Writer({
    boxes,
    out,
    fill: isWhole ? 'in-order' : (options.fill ?? 'in-order'),
    placeholder: (item) => placeholderBefore(item, boxes),
    onError: (error, { box }) => tellError(shared, error, box.node.component, box.id),
  });
}

/** Throws where the nonce is none, so that nothing has begun by then. */
function startOf(prepared: Prepared): string {
  const { shared, tree, scope, options, components, code } = prepared;
  return documentStart({
    tree,
    scope,
    options: documentOptions(prepared),
    styles: shared.styles.of(components),
    assets: shared.assets,
    code,
    isFilledLater: options.fill === 'as-ready' && options.delivery !== 'whole',
    nonce: options.nonce,
    page: dataOf(prepared),
  });
}

function tellPage({ shared, dial, variants }: Prepared): void {
  hostOf(shared.options)?.page({ setting: dial.setting, ...armsOf(variants) });
}

/** Arms that the page is measured by. A page with one has no list. */
function armsOf({ label, labels }: Variants): Pick<PageData, 'variant' | 'variants'> {
  return labels.length > 1 ? { variant: label, variants: labels } : { variant: label };
}

function dataOf(prepared: Prepared): PageData {
  const { shared, tree, options, dial, variants } = prepared;
  const { vitals = hostOf(shared.options)?.vitalsPath() ?? '' } = shared.options;
  const data: PageData = {
    page: tree.id,
    setting: dial.setting,
    ...armsOf(variants),
    vitals: vitals === '' ? null : vitals,
    more: options.more ?? null,
  };
  if (shared.navigation === undefined) return data;
  return { ...data, ...shared.navigation.dataOf(documentOptions(prepared), options.nonce) };
}

/** Waits for boxes that the page cannot do without. */
async function statusOf({ boxes, items, options, tree }: Prepared): Promise<number> {
  const wanted = options.status ?? tree.status ?? 200;
  if (!items.some(({ node }) => node.required === true || hasRequired({ node }))) return wanted;
  const isThere = async (item: Item): Promise<boolean> => {
    if (item.kind === 'deferred') {
      if (item.node.required !== true && !hasRequired(item)) return true;
      return (await Promise.all((await boxes.items(item)).map(isThere))).every(Boolean);
    }
    const inner = await Promise.all([...item.slots.values()].flat().map(isThere));
    if (!inner.every(Boolean)) return false;
    return item.node.required !== true || !isFailure((await boxes.result(item)).outcome);
  };
  return (await Promise.all(items.map(isThere))).every(Boolean) ? wanted : FAILED_STATUS;
}

const required = new WeakMap<TreeNode, boolean>();

/** Whether a box below it is required. Checked trees do not change, so each node is looked through once. */
function hasRequired({ node }: Pick<Item, 'node'>): boolean {
  if (node.slots === undefined) return false;
  let has = required.get(node);
  if (has === undefined) {
    has = Object.values(node.slots).some((nodes) =>
      nodes.some((inner) => inner.required === true || hasRequired({ node: inner })),
    );
    required.set(node, has);
  }
  return has;
}

function headersOf(prepared: Prepared, type: string): Headers {
  const { headers, dial, variants, items, options, shared } = prepared;
  const all: Headers = { 'content-type': type, 'x-content-type-options': 'nosniff', ...headers };
  // What waits for data may ask for an arm when the headers have left.
  const mayAsk = !shared.experiments.isEmpty && hasDeferred(items);
  const isAllocated = variants.touched.length > 0 || mayAsk;
  if (shared.navigation !== undefined) addVary(all, NAVIGATION_VARY);
  if (dial.dependsOnDevice) addVary(all, DEVICE_FIELDS);
  if (dial.dependsOnVisitor || isAllocated) {
    makePrivate(all);
    if (options.setCookie !== undefined)
      all['set-cookie'] = [...[all['set-cookie'] ?? []].flat(), options.setCookie];
  }
  return all;
}

function finishWhole({ boxes }: Prepared, headers: Headers, body: string, report: PageReport): void {
  headers['content-length'] = String(Buffer.byteLength(body));
  const timing = serverTiming(report);
  const own = headers['server-timing'];
  headers['server-timing'] = own === undefined ? timing : [...[own].flat(), timing].join(', ');
  if (boxes.isPartial || report.boxes.some(({ outcome }) => isFailure(outcome))) makeTransient(headers);
}

/** Waits for every box, also for those that their parent does not show. */
async function reportOf(prepared: Prepared, status: number): Promise<PageReport> {
  const { boxes, items, tree, dial, variants, deadline } = prepared;
  const reports: BoxReport[] = [];
  const visit = async (list: readonly Item[]): Promise<void> => {
    for (const item of list) {
      if (item.kind === 'deferred') {
        await visit(await boxes.items(item));
        continue;
      }
      reports.push(boxReport(boxes.settled(item) ?? (await boxes.result(item))));
      if (item.slots.size > 0) for (const inner of item.slots.values()) await visit(inner);
    }
  };
  await visit(items);
  deadline.clear();
  return {
    page: tree.id,
    status,
    boxes: reports,
    outcomes: outcomesOf(reports),
    cpu_us: reports.reduce((sum, { cpu_us }) => sum + cpu_us, 0),
    setting: dial.setting,
    variants: Object.fromEntries(variants.touched.map((name) => [name, variants.arms[name] ?? ''])),
  };
}

function boxReport({ box, component, outcome, isPartial, cpu_us, waited_us, error }: Result): BoxReport {
  return {
    id: box.id,
    component: component?.name ?? box.node.component,
    version: component?.version,
    outcome,
    isPartial,
    cpu_us,
    waited_us,
    error: error?.message,
  };
}

function placeholderBefore(item: Item, boxes: Prepared['boxes']): string {
  const props = item.kind === 'box' ? boxes.results.props(item) : undefined;
  return placeholderOf({ component: boxes.results.component(item), props });
}

function hasDeferred(items: readonly Item[]): boolean {
  return items.some((item) => item.kind === 'deferred' || [...item.slots.values()].some(hasDeferred));
}

function documentOptions({ shared, options }: Prepared): NonNullable<Prepared['options']['document']> {
  return { ...shared.options.document, ...options.document };
}

/** Collects a page that is sent whole. */
class TextOut implements Out {
  text = '';
  readonly destroyed = false;

  write(html: Html): void {
    this.text += String(html);
  }

  drained(): undefined {}

  flush(): void {}
}
