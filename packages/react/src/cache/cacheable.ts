/**
 * The component cache: the HTML of a component that has a `cacheKey` is used again wherever everything that it read from around it has the same
 * value. `recording.ts` says what that is, `component-cache.ts` holds the HTML.
 */
import type { Cacheable } from './cached.js';
import { openCache } from './caches.js';
import type { CacheEntry } from './component-cache.js';
import { readSilently, watchReads } from '../state/contexts.js';
import type { FormatContext } from '../facts/format.js';
import { ELEMENT, type ContextLike, type ElementLike, type Props } from '../facts/react.js';
import { Recording } from './recording.js';
import { CHAINED } from '../facts/thenables.js';
import { spill } from '../state/segments.js';
import { INCOMPARABLE, isSame, snapshotBytes, snapshotOf, type Snapshot } from './snapshots.js';
import { tellTags } from './tags.js';
import { templateOf } from '../facts/template.js';
import type { TreeId } from '../facts/tree-id.js';
import { profile } from '../facts/profile.js';
import type { Effect, Keeping as Kept, Mode, Render, Task } from '../state/render.js';

interface Entry extends CacheEntry {
  readonly html: string;
  readonly lastText: boolean;
  readonly effects: readonly Effect[];
  // What it was made from.
  readonly mode: Mode;
  readonly format: Pick<FormatContext, 'mode' | 'scope'>;
  readonly selected: Snapshot;
  readonly startsAfterText: boolean;
  readonly childTypes: readonly Snapshot[];
  readonly contexts: ReadonlyMap<ContextLike, Snapshot>;
  readonly usesIds: boolean;
  readonly usesPromise: boolean;
  readonly treeId: TreeId;
  readonly idPrefix: string;
}

/** An entry without its HTML. */
const ENTRY_BYTES = 512;

const { cache, copy } = openCache<Entry>();

/** Returns the number of purges so far; a render keeps nothing when there was one meanwhile. */
export function purges(): number {
  return cache.purges;
}

export type CacheableType = Cacheable<Props> & object;

/** Two components may use the same key. */
const numbers = new WeakMap<object, number>();
let lastNumber = 0;

function numberOf(type: object): number {
  let number = numbers.get(type);
  if (number === undefined) {
    lastNumber += 1;
    number = lastNumber;
    numbers.set(type, number);
  }
  return number;
}

/** Writes the HTML that is kept for the component, or calls `make`, which renders it, and keeps what it writes. */
export function renderCacheable(
  render: Render,
  type: CacheableType,
  props: Props,
  element: ElementLike,
  make: () => void,
): void {
  const own = type.cacheKey?.(props, element.key as string | null);
  const tags = type.cacheTags?.(props) ?? [];
  tellTags(tags);
  if (render.recording !== null) for (const tag of tags) render.recording.tags.add(tag);
  if (typeof own !== 'string' || isInvented(own)) return make();
  const awaits =
    (typeof type.cacheAwaits === 'function' ? type.cacheAwaits(props) : type.cacheAwaits) === true;
  if (!mayCache(render)) return make();
  const key = `${copy}${numberOf(type)} ${own}`;
  const childTypes = typesOf(props['children']);
  const entry = cache.find(key, (candidate) => fits(candidate, render, childTypes, awaits));
  if (entry !== undefined) return writeAgain(render, entry);
  const ttl = type.cacheTtl_ms;
  const ttl_ms = (typeof ttl === 'function' ? ttl(props) : ttl) ?? Number.POSITIVE_INFINITY;
  return record(render, { key, element, childTypes, ttl_ms, tags, awaits }, make);
}

let hasWarned = false;

/** `Children.toArray` and `Children.map` make such keys of places: they say nothing about what the HTML is made of. */
function isInvented(key: string): boolean {
  if (!key.startsWith('.')) return false;
  if (!hasWarned) {
    hasWarned = true;
    console.error(
      `@sluice/react: the cache key ${JSON.stringify(key)} begins with a dot, as keys made by React.Children do. It is refused: the component is rendered each time. Give <Cached> a cacheKey.`,
    );
  }
  return true;
}

/**
 * Whether the render may use the cache. Posted data, an animated transition, and the retry of something that suspended
 * belong to one render.
 */
function mayCache(render: Render): boolean {
  if (cache.keepsNothing) return false;
  const isSecondTry = render.depth === 1 && render.task?.suspended === true;
  return render.formState === null && render.format.transition === null && !isSecondTry && !render.aborted;
}

// Used again -------------------------------------------------------------------------------------------------------

function fits(entry: Entry, render: Render, childTypes: readonly unknown[], awaits: boolean): boolean {
  if (entry.usesPromise && !awaits) return false;
  if (!isAlike(entry, render.mode, render.lastText, render.format, childTypes)) return false;
  if (entry.usesIds && !isSamePlace(entry, render)) return false;
  for (const [context, value] of entry.contexts) if (!isSame(value, readSilently(context))) return false;
  return true;
}

function isAlike(
  entry: Entry,
  mode: Mode,
  startsAfterText: boolean,
  format: FormatContext,
  childTypes: readonly unknown[],
): boolean {
  if (entry.mode !== mode || entry.startsAfterText !== startsAfterText) return false;
  if (entry.format.mode !== format.mode || entry.format.scope !== format.scope) return false;
  if (!isSame(entry.selected, format.selected) || entry.childTypes.length !== childTypes.length) return false;
  return entry.childTypes.every((type, at) => isSameType(type, childTypes[at]));
}

function isSamePlace({ treeId, idPrefix }: Entry, render: Render): boolean {
  const { bits, overflow } = render.currentTreeId();
  return treeId.bits === bits && treeId.overflow === overflow && idPrefix === render.resources.idPrefix;
}

function writeAgain(render: Render, entry: Entry): void {
  // A component that suspended has no second try if its HTML is here.
  render.thenables = null;
  render.out += entry.html;
  render.lastText = entry.lastText;
  for (const effect of entry.effects) effect.again(render);
  tellTags(entry.tags);
  (render.recording as Recording | null)?.include(entry);
  if (render.out.length > render.spillLength) spill(render);
}

// Made -------------------------------------------------------------------------------------------------------------

interface Wanted {
  readonly key: string;
  readonly element: ElementLike;
  readonly childTypes: readonly unknown[];
  readonly ttl_ms: number;
  readonly tags: readonly string[];
  readonly awaits: boolean;
}

function record(render: Render, wanted: Wanted, make: () => void): void {
  const { key, element, childTypes, ttl_ms, tags, awaits } = wanted;
  const { format, lastText: startsAfterText } = render;
  // Nothing may come between the outermost recording's HTML and its start.
  if (render.recording === null) spill(render);
  const recording = new Recording(render, awaits);
  for (const tag of tags) recording.tags.add(tag);
  recording.expires_at_ms = cache.now_ms() + ttl_ms;
  const { effectsBetweenTurns } = render;
  const treeId = awaits ? render.currentTreeId() : null;
  const began = treeId && { treeId, effectsBetweenTurns };
  keep(render, { key, element, childTypes, format, startsAfterText, began, recording }, make);
}

interface Keeping extends Kept {
  readonly key: string;
  /** Element of the component. */
  readonly element: ElementLike;
  readonly childTypes: readonly unknown[];
  readonly format: FormatContext;
  readonly startsAfterText: boolean;
  /** State that may differ when the HTML is complete; null when that is not waited for. */
  readonly began: Began | null;
  readonly recording: Recording;
}

interface Began {
  readonly treeId: TreeId;
  readonly effectsBetweenTurns: number;
}

/** Keeps HTML that had to wait, in the task that continues with it. */
export function keepInTask(render: Render, kept: Kept, make: () => void): void {
  const keeping = kept as Keeping;
  keeping.recording.continueIn(render);
  keep(render, keeping, make);
}

function keep(render: Render, keeping: Keeping, make: () => void): void {
  const { recording } = keeping;
  const { parent } = recording;
  const { spillLength } = render;
  render.spillLength = Number.POSITIVE_INFINITY;
  render.recording = recording;
  const reads = watchReads(recording);
  try {
    make();
  } catch (thrown) {
    // The task waits as a whole, so that its HTML will be that of the innermost; or the component itself does, and its element is told.
    if (thrown === CHAINED) leaveTo(render.task as Task, keeping);
    else render.unfinished = keeping;
    if (parent !== null) parent.wasLeft = true;
    throw thrown;
  } finally {
    watchReads(reads);
    render.spillLength = spillLength;
    render.recording = parent;
  }
  if (parent !== null) {
    parent.include(recording);
    parent.failed ||= recording.failed;
  }
  const html = recording.htmlOf(render);
  const waiting = recording.waitingFor(render);
  if (waiting !== null) leaveTo(waiting, keeping);
  else if (html !== null && mayAdd(render, keeping)) add(render, keeping, html);
  if (render.out.length > render.spillLength) spill(render);
}

/** Leaves an element that has to wait to its task, with what was begun to be kept of it. */
export function leaveElementTo(render: Render, element: unknown, task: Task): void {
  const unfinished = render.unfinished as Keeping | null;
  render.unfinished = null;
  if (unfinished === null || unfinished.element !== element) return;
  unfinished.recording.usesPromise = true;
  leaveTo(task, unfinished);
}

/** Leaves a recording. Reads within it are not known to the one around it. */
function leaveTo(task: Task, keeping: Keeping): void {
  const { recording } = keeping;
  if (!recording.awaits || recording.wasLeft) return;
  recording.leave();
  task.keeping = keeping;
}

function mayAdd(render: Render, keeping: Keeping): boolean {
  const { key, began, recording } = keeping;
  if (render.purges !== cache.purges) return false;
  if (began === null || !recording.hasWaited) return true;
  const now_ms = cache.now_ms();
  if (recording.expires_at_ms <= now_ms) return false;
  // Whose they were is not known.
  if (began.effectsBetweenTurns !== render.effectsBetweenTurns) return false;
  // Below what waited, React 18 makes other ids than where nothing waits.
  if (recording.usesIds && profile.idPlaces === 'none') return false;
  // Another page may have waited for the same, and was there first.
  return !cache.variants(key).some((each) => each.expires_at_ms > now_ms && isTwin(each, render, keeping));
}

/** Whether the entry fits as by `fits`, when it is too late to ask the renderer where it is. */
function isTwin(entry: Entry, render: Render, keeping: Keeping): boolean {
  const { format, startsAfterText, childTypes, began, recording } = keeping;
  if (!isAlike(entry, render.mode, startsAfterText, format, childTypes)) return false;
  const { bits, overflow } = (began as Began).treeId;
  if (entry.usesIds && (entry.treeId.bits !== bits || entry.treeId.overflow !== overflow)) return false;
  return entry.idPrefix === render.resources.idPrefix && recording.hasRead(entry);
}

function add(render: Render, keeping: Keeping, html: string): void {
  const { key, childTypes, format, startsAfterText, began, recording } = keeping;
  const { contexts, effects, tags, usesIds, usesPromise, expires_at_ms } = recording;
  const selected = snapshotOf(format.selected);
  if (selected === INCOMPARABLE) return;
  const kept = flat(html);
  cache.add(key, {
    html: kept,
    bytes: ENTRY_BYTES + key.length + stringBytes(kept) + bytesOf(recording),
    expires_at_ms,
    tags,
    lastText: render.lastText,
    effects,
    mode: render.mode,
    // Not the selected value, which is the page's.
    format: { mode: format.mode, scope: format.scope },
    selected,
    startsAfterText,
    childTypes: childTypes.map(typeSnapshot),
    contexts,
    usesIds,
    usesPromise,
    treeId: began?.treeId ?? render.currentTreeId(),
    idPrefix: render.resources.idPrefix,
  });
}

/** A copy of its own, instead of a tree of the pieces that it was put together from. */
function flat(html: string): string {
  const copy = Buffer.from(html).toString();
  // Half a surrogate pair does not come back.
  return copy === html ? copy : html;
}

/** V8 keeps a string in one byte a character, or in two when it is not Latin. */
function stringBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

function bytesOf({ contexts, effects, tags }: Recording): number {
  let bytes = 0;
  for (const value of contexts.values()) bytes += snapshotBytes(value);
  for (const effect of effects) bytes += effect.bytes;
  for (const tag of tags) bytes += tag.length;
  return bytes;
}

// Children ---------------------------------------------------------------------------------------------------------

const CHILDREN_MAX = 16;

/** Returns the types of the children, so that a key which was used for something else by mistake is noticed. */
function typesOf(children: unknown): readonly unknown[] {
  return Array.isArray(children) ? children.slice(0, CHILDREN_MAX).map(typeOf) : [typeOf(children)];
}

function typeOf(child: unknown): unknown {
  if (typeof child !== 'object' || child === null) return typeof child;
  if ((child as ElementLike).$$typeof !== ELEMENT) return Array.isArray(child) ? 'array' : 'object';
  // A template is recognised without building its ordinary element.
  return templateOf(child) ?? (child as ElementLike).type;
}

function typeSnapshot(type: unknown): Snapshot {
  const isObject = (typeof type === 'object' && type !== null) || typeof type === 'function';
  return isObject ? new WeakRef(type) : type;
}

function isSameType(before: Snapshot, type: unknown): boolean {
  return before instanceof WeakRef ? before.deref() === type : before === type;
}
