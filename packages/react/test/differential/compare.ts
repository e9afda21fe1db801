/** Two renderers, one session: what differs between what their callers see. */

import type { CompiledTree } from './compiled.ts';
import type { Node, Page, Session } from './description.ts';
import { tagOf } from './kept.ts';
import { cutMark } from './record.ts';
import { clearLeftovers, observe, type Observation, type Renderer } from './observe.ts';
import { newWorld, type Libraries, type World } from './world.ts';

export interface Difference {
  /** Of the session, from 0. */
  readonly page: number;
  readonly expected: Observation;
  readonly actual: Observation;
}

export interface Side {
  readonly renderer: Renderer;
  /** Where the renderer keeps HTML: drops what has the tag, or everything. */
  readonly purge?: (tag?: string) => void;
  /** What it gets in the place of the trees' host elements. */
  readonly compiled?: CompiledTree | undefined;
}

/** Calls `compared` after each page without a difference. */
export async function compare(
  expected: Side,
  actual: Side,
  { library, pages }: Session,
  libraries: Libraries,
  compared: (page: Page) => void,
): Promise<Difference | undefined> {
  const worldFor = ({ compiled, purge }: Side): World => {
    purge?.();
    const given = compiled === undefined ? libraries : { ...libraries, compiled };
    return newWorld(given, pages[0]?.outcomes ?? [], library);
  };
  const worlds: readonly [World, World] = [worldFor(expected), worldFor(actual)];
  const look = async (
    { renderer, purge }: Side,
    world: World,
    at: number,
    page: Page,
    formState: unknown,
  ) => {
    world.page = at;
    for (const each of page.changed) {
      world.revisions[each] = at;
      purge?.(tagOf(each));
    }
    await clearLeftovers(expected.renderer, libraries);
    return observe(renderer, page, world, formState);
  };
  const { version } = libraries.React;
  for (const [at, page] of pages.entries()) {
    const formState = await formStateFor(page, library, expected.renderer, libraries);
    const one = saidOnce(await look(expected, worlds[0], at, page, formState), page, version);
    const other = saidOnce(await look(actual, worlds[1], at, page, formState), page, version);
    if (!same(one, other)) return { page: at, expected: one, actual: other };
    compared(page);
  }
  return undefined;
}

/**
 * Without what react-dom says twice or too late, and the renderer does not (`versions/leaves.ts`): 19.2 may say again that all is ready; until 19.2 a
 * render that is over goes on listening to the caller's signal, and tells of an abort what it was still waiting for; and 18.3 goes on
 * flushing to a destination that is over.
 */
function saidOnce(lines: Observation, { api }: Page, version: string): Observation {
  const is = (pattern: string, line: string): boolean => new RegExp(`^(?:@\\d+ )?(?:${pattern})`).test(line);
  const firstAt = (pattern: string, from = 0): number =>
    lines.findIndex((line, at) => at >= from && is(pattern, line));
  const ready = firstAt('onAllReady$');
  const over = firstAt('end$|rejects |destination error ');
  const hasSignal = !api.startsWith('renderToSt') && api !== 'renderToPipeableStream';
  const aborted = over >= 0 && hasSignal ? firstAt('abort$', over) : -1;
  return lines.filter((line, at) => {
    if (is('onAllReady$', line)) return at === ready;
    if (version.startsWith('18.') && over >= 0 && at > over && is('flush$|onError |console.error ', line))
      return false;
    return aborted < 0 || at < aborted || !is('onError |console.error ', line);
  });
}

function same(one: Observation, other: Observation): boolean {
  return one.length === other.length && one.every((line, index) => sameLine(line, other[index] ?? ''));
}

function sameLine(one: string, other: string): boolean {
  return one === other || (one.includes(cutMark) && (one.startsWith(other) || other.startsWith(one)));
}

/** The lines around the first that differs, for people. */
export function shownDifference({ page, expected, actual }: Difference): string {
  const at = expected.findIndex((line, index) => !sameLine(line, actual[index] ?? ''));
  const first = at === -1 ? expected.length : at;
  return [
    `  page ${page}`,
    ...expected.slice(0, first).map((line) => `  both     ${JSON.stringify(line)}`),
    ...expected.slice(first).map((line) => `- expected ${JSON.stringify(line)}`),
    ...actual.slice(first).map((line) => `+ actual   ${JSON.stringify(line)}`),
  ].join('\n');
}

/** What a page's tree is made of, that of the library as well. */
export function nodesOf({ root }: Page, library: Session['library']): readonly Node[] {
  return [...root, ...library.flatMap(({ of }) => of)];
}

/** What a posted form brings back: [state, key, action id, count of bound arguments]. */
async function formStateFor(
  page: Page,
  library: Session['library'],
  renderer: Renderer,
  libraries: Libraries,
): Promise<unknown> {
  switch (page.formState) {
    case 'none':
      return null;
    case 'no-match':
      return ['posted', 'kother', 'id', 0];
    case 'permalink':
      return ['posted', 'p/p', 'id', 0];
    case 'key-path': {
      // The key is a hash of a path through the tree: take one from a render without state.
      if (!JSON.stringify([page.root, library]).includes('"action-state"'))
        return ['posted', 'kother', 'id', 0];
      const api = 'renderToPipeableStream';
      const lines = await observe(
        renderer,
        { ...page, api, formState: 'none', flow: 'shell' },
        newWorld(libraries, page.outcomes, library),
      );
      const key = /name="\$ACTION_KEY" value="([^"]*)"/.exec(lines.join('\n'))?.[1];
      return ['posted', key ?? 'kother', 'id', 0];
    }
  }
}
