/**
 * Renders a scenario with one renderer and writes down everything its caller could notice: the bytes of each step, the
 * callbacks, the errors, and where in the bytes each of these came.
 */

import type { Writable } from 'node:stream';
import { build } from './build.ts';
import type { Scenario } from './description.ts';
import { Destination, Log, shownError } from './record.ts';
import { errorOf, type Libraries, type World } from './world.ts';

/** The functions of react-dom/server and react-dom/static, from wherever they come. */
export interface Renderer {
  renderToString(children: unknown, options?: object): string;
  renderToStaticMarkup(children: unknown, options?: object): string;
  /** Sluice's alone. */
  renderToBuffer?(children: unknown, options?: object): Buffer;
  renderToPipeableStream(children: unknown, options?: object): Pipeable;
  renderToReadableStream?(children: unknown, options?: object): Promise<WebStream>;
  prerender?(children: unknown, options?: object): Promise<{ prelude: ReadableStream; postponed: unknown }>;
  prerenderToNodeStream?(
    children: unknown,
    options?: object,
  ): Promise<{ prelude: NodeJS.ReadableStream; postponed: unknown }>;
}

interface Pipeable {
  readonly pipe: (destination: Writable) => Writable;
  readonly abort: (reason?: unknown) => void;
}
type WebStream = ReadableStream & { allReady: Promise<void> };

/** One line for each thing noticed, in order; `bytes` lines hold the text of all bytes since the last step. */
export type Observation = readonly string[];

/** Comes to rest: turns of the event loop in a row in which nothing happens. */
const quiet_turns = 4;
/** A scenario that does not come to rest is a finding of its own. */
const turns_max = 400;

export async function observe(
  renderer: Renderer,
  scenario: Scenario,
  world: World,
  formState: unknown = null,
): Promise<Observation> {
  for (const index of scenario.before) world.turns[index]?.settle();
  const log = new Log(scenario.flow === 'slow', world.React.version.startsWith('18.'));
  const restore = captureProcess(log);
  try {
    if (scenario.api === 'renderToString' || scenario.api === 'renderToStaticMarkup')
      observeString(renderer, scenario, scenario.api, world, log);
    else await observeStream(renderer, scenario, world, log, formState);
  } finally {
    restore();
  }
  return log.lines();
}

/**
 * react-dom keeps, in a variable of its module, the promises of a component that was given up, and may take them for those
 * of a child that is awaited, even in a later render. A component that awaits none clears it.
 */
export async function clearLeftovers(stock: Renderer, { React }: Libraries): Promise<void> {
  // Strings and streams are two builds of react-dom, with a variable each.
  const element = React.createElement(() => null);
  stock.renderToString(element);
  stock.renderToPipeableStream(element);
  await new Promise((resolve) => setImmediate(resolve));
}

function observeString(
  renderer: Renderer,
  { root, api, options }: Scenario,
  _name: 'renderToString' | 'renderToStaticMarkup',
  world: World,
  log: Log,
): void {
  // Twice with the same components, as a server does: what the first render left behind must not show in the second, which gives its
  // bytes where the renderer can.
  for (let round = 0; round < 2; round += 1) {
    try {
      const inBytes = round === 1 && _name === 'renderToString';
      const tree = build(root, world);
      log.write(
        (inBytes ? renderer.renderToBuffer?.(tree, options) : undefined) ??
          Buffer.from(renderer[_name](tree, options)),
      );
    } catch (error) {
      log.event(`throws ${shownError(error)}`);
    }
    log.step(`${api} ${round}`);
  }
}

async function observeStream(
  renderer: Renderer,
  scenario: Scenario,
  world: World,
  log: Log,
  formState: unknown,
): Promise<void> {
  const control = new AbortController();
  const bySignal = scenario.api !== 'renderToPipeableStream';
  // Not where it will not be used: with a signal a renderer may have to take another way.
  const signal = bySignal && scenario.abortAt !== null ? { signal: control.signal } : {};
  const options = { ...streamOptions(scenario, log), formState, ...signal };
  const running = starters[scenario.api as keyof typeof starters](renderer, scenario, world, log, options);
  const abort = (): void => {
    log.event('abort');
    const reason = { none: undefined, error: errorOf('given up', 'abort-digest'), string: 'given up' }[
      scenario.abortReason
    ];
    if (running.abort === undefined) control.abort(reason);
    else if (reason === undefined) running.abort();
    else running.abort(reason);
  };

  await comeToRest(world, log);
  log.step('start');
  for (const [index, step] of scenario.steps.entries()) {
    if (scenario.abortAt === index) {
      abort();
      await comeToRest(world, log);
      log.step(`aborted before ${index}`);
    }
    for (const promise of step) world.turns[promise]?.settle();
    await comeToRest(world, log);
    log.step(`after ${step.join(' ')}`);
  }
  if (!log.finished) {
    if (bySignal) for (const turn of world.turns) turn.settle();
    else abort();
    await comeToRest(world, log);
    log.step('at the end');
  }
  log.event(log.finished ? 'finished' : 'NEVER FINISHED');
  running.drop?.();
}

interface Running {
  /** How this API is aborted where it is not by its signal. */
  abort?: (reason?: unknown) => void;
  drop?: () => void;
}
type Start = (
  renderer: Renderer,
  scenario: Scenario,
  world: World,
  log: Log,
  options: Record<string, unknown>,
) => Running;

const starters = {
  renderToPipeableStream(renderer, { root, flow }, world, log, options) {
    const destination = new Destination(log, world, flow === 'slow');
    let stream: Pipeable | undefined;
    let wanted = false;
    let isPiped = false;
    const pipe = (): void => {
      wanted = true;
      if (stream === undefined || isPiped) return;
      isPiped = true;
      stream.pipe(destination);
    };
    try {
      stream = renderer.renderToPipeableStream(build(root, world), {
        ...options,
        onShellReady() {
          log.event('onShellReady');
          if (flow !== 'all') pipe();
        },
        onAllReady() {
          log.event('onAllReady');
          if (flow === 'all') pipe();
        },
        onShellError(error: unknown) {
          log.finished = true;
          log.event(`onShellError ${shownError(error)}`);
        },
      });
      if (wanted) pipe();
    } catch (error) {
      log.finished = true;
      log.event(`throws ${shownError(error)}`);
    }
    return { abort: (...reason) => stream?.abort(...reason), drop: () => destination.destroy() };
  },

  renderToReadableStream(renderer, { root, flow }, world, log, options) {
    if (renderer.renderToReadableStream === undefined) return absent(log);
    settled(
      log,
      () => renderer.renderToReadableStream?.(build(root, world), options),
      async (stream) => {
        log.event('shell');
        const all = stream.allReady.then(
          () => afterReads(() => log.event('allReady')),
          (error: unknown) => afterReads(() => log.event(`allReady rejects ${shownError(error)}`)),
        );
        if (flow === 'all') await all;
        await readWeb(stream, log, world);
      },
    );
    return {};
  },

  prerender(renderer, { root }, world, log, options) {
    if (renderer.prerender === undefined) return absent(log);
    settled(
      log,
      () => renderer.prerender?.(build(root, world), options),
      async ({ prelude, postponed }) => {
        log.event(`prelude, postponed ${JSON.stringify(postponed) ?? 'undefined'}`);
        await readWeb(prelude, log, world);
      },
    );
    return {};
  },

  prerenderToNodeStream(renderer, { root }, world, log, options) {
    if (renderer.prerenderToNodeStream === undefined) return absent(log);
    settled(
      log,
      () => renderer.prerenderToNodeStream?.(build(root, world), options),
      async ({ prelude, postponed }) => {
        log.event(`prelude, postponed ${JSON.stringify(postponed) ?? 'undefined'}`);
        for await (const chunk of prelude) log.write(Buffer.from(chunk as Uint8Array));
        log.finished = true;
        log.event('end');
      },
    );
    return {};
  },
} satisfies Record<string, Start>;

/** Not every version has every function; then there is nothing to compare. */
function absent(log: Log): Running {
  log.finished = true;
  return {};
}

function settled<T>(log: Log, start: () => Promise<T> | undefined, then: (value: T) => Promise<void>): void {
  void (async () => {
    try {
      const value = await start();
      if (value !== undefined) await then(value);
    } catch (error) {
      log.finished = true;
      log.event(`rejects ${shownError(error)}`);
    }
  })();
}

/**
 * In the next turn, when what is there has been read. A reader takes a microtask for each chunk, and how many chunks there are is the
 * renderer's choice.
 */
function afterReads(then: () => void): void {
  setImmediate(then);
}

/**
 * What is read within a turn of the event loop counts at its end: how many reads that takes depends on the size of chunks,
 * which a renderer may choose.
 */
async function readWeb(stream: ReadableStream, log: Log, world: World): Promise<void> {
  const reader = stream.getReader();
  let parts: Buffer[] = [];
  const count = (): void => {
    for (const part of parts) log.write(part);
    parts = [];
  };
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
    world.activity += 1;
    if (done) break;
    if (parts.length === 0) setImmediate(count);
    parts.push(Buffer.from(value ?? []));
  }
  count();
  log.finished = true;
  log.event('end');
}

function streamOptions(scenario: Scenario, log: Log): Record<string, unknown> {
  const { digests, headers, options } = scenario;
  return {
    ...options,
    ...(digests === 'not-given'
      ? {}
      : {
          // React 18 gives no second argument.
          onError(error: unknown, info?: { componentStack?: string }) {
            log.event(`onError ${shownError(error)} in ${stackOf(info?.componentStack)}`);
            if (digests === 'message')
              return `digest of ${error instanceof Error ? error.message : typeof error}`;
            if (digests === 'own') return (error as { digest?: string } | null)?.digest;
            return undefined;
          },
        }),
    onBrowserBailout: (error: unknown) => log.event(`onBrowserBailout ${shownError(error)}`),
    ...(headers
      ? {
          onHeaders(given: Record<string, string> | Headers) {
            const shown = given instanceof Headers ? Object.fromEntries(given) : given;
            log.event(`onHeaders ${JSON.stringify(shown)}`);
          },
        }
      : {}),
  };
}

async function comeToRest(world: World, log: Log): Promise<void> {
  let quiet = 0;
  let seen = -1;
  for (let turn = 0; turn < turns_max; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = world.activity + log.size;
    quiet = now === seen ? quiet + 1 : 0;
    seen = now;
    if (quiet >= quiet_turns) return;
  }
  log.event('NEVER AT REST');
}

/** What a renderer says beside its callbacks, and the rejections that it leaves to end the process. */
function captureProcess(log: Log): () => void {
  const { error, warn } = console;
  const unhandled = (reason: unknown): void => log.event(`unhandled rejection ${shownError(reason)}`);
  console.error = (...args: unknown[]) => log.event(`console.error ${args.map(shownError).join(' ')}`);
  console.warn = (...args: unknown[]) => log.event(`console.warn ${args.map(shownError).join(' ')}`);
  process.on('unhandledRejection', unhandled);
  return () => {
    console.error = error;
    console.warn = warn;
    process.off('unhandledRejection', unhandled);
  };
}

/** The names in a component stack; the places of their code are those of the test's own files. */
function stackOf(stack: string | undefined): string {
  return (stack ?? 'no stack')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^at /, '')
        .replace(/ ?\(.*\)$/, ''),
    )
    .filter((line) => line !== '')
    .join(' < ');
}
