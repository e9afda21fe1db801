// Probe: between a root and its surface. It measures, and lets others hear of memory.
import { EVENT } from '../stream/codes.js';
import { PHASE } from '../stream/events.js';
import type { EventListener, Surface } from '../surfaces/surface.js';
import { Histogram, type Percentiles } from './histogram.js';

/** Figures that a surface may have about itself. */
interface Telling {
  frameCounts?(): { readonly moving_ms: number; readonly moving_frames: number; readonly long_ms: number };
  readonly widgets?: number;
  /** Bytes of JavaScript's memory. */
  heapBytes?(): number;
}

export interface Measures {
  /** Time from a key to the last command that it led to, milliseconds. Keys that lead to nothing do not count. */
  readonly key_to_command: Percentiles;
  /** Time from a key to the end of the frame that shows what it led to, milliseconds. */
  readonly key_to_frame: Percentiles;
  /** Time from the start of the root or the screen until it was shown and JavaScript was idle, milliseconds; undefined before. */
  readonly interactive_ms: number | undefined;
  /** Frames a second while something moved; undefined if nothing did, or the surface does not tell. */
  readonly frames_per_second: number | undefined;
  /** Time by which frames took longer than 50 ms, added up, milliseconds. */
  readonly long_ms: number | undefined;
  /** Widgets alive. */
  readonly widgets: number | undefined;
  /** Bytes of JavaScript's memory, where the engine tells. */
  readonly heap_bytes: number | undefined;
}

/** Words of each event. */
const LENGTHS: readonly number[] = [1, 5, 6, 3, 3, 2, 3, 4];
/** Keys whose frames are waited for at most. */
const KEYS_MAX = 16;
/** Time from which a 32-bit float is too coarse for milliseconds: then the moment at which a key arrives counts. */
const FINE_MS = 2 ** 20;

export class Probe implements Surface {
  readonly #surface: Surface & Telling;
  readonly #commands = new Histogram();
  readonly #frames = new Histogram();
  readonly #memory = new Set<(level: number) => void>();
  /** The last key, and when the last command that it led to was sent; not a number before. */
  #key = 0;
  #key_ms = 0;
  #last_ms = Number.NaN;
  /** Keys by their number modulo KEYS_MAX, and their times. */
  readonly #keys = new Int32Array(KEYS_MAX);
  readonly #times = new Float64Array(KEYS_MAX);
  #start_ms: number;
  #interactive_ms: number | undefined;
  #state: 'new' | 'sent' | 'shown' = 'new';
  #view = 0;
  /** Frames before this view. */
  #before = { moving_ms: 0, moving_frames: 0, long_ms: 0 };
  #floats: Float32Array = new Float32Array(0);
  #page: string | undefined;
  readonly #ends = new Set<(page: string) => void>();

  constructor(surface: Surface) {
    this.#surface = surface;
    this.#start_ms = surface.now();
  }

  get width(): number {
    return this.#surface.width;
  }

  get height(): number {
    return this.#surface.height;
  }

  now(): number {
    return this.#surface.now();
  }

  commit(words: Int32Array, length: number, strings: readonly string[], cause: number): void {
    this.#surface.commit(words, length, strings, cause);
    if (cause !== 0 && cause === this.#key) this.#last_ms = this.#surface.now();
    if (this.#state === 'new') this.#state = 'sent';
  }

  listen(listener: EventListener): void {
    this.#surface.listen((words, length, strings) => {
      this.#hear(words, length);
      listener(words, length, strings);
    });
  }

  requestIdle(run: (deadline: () => number) => void): void {
    this.#surface.requestIdle(run);
  }

  /** Calls at each change of the device's memory until the returned function is called: 0 enough, 1 low, 2 almost none. */
  onMemory(listener: (level: number) => void): () => void {
    this.#memory.add(listener);
    return () => this.#memory.delete(listener);
  }

  measures(): Measures {
    this.#endKey();
    const counts = this.#counts();
    const { moving_ms = 0, moving_frames = 0, long_ms } = counts ?? {};
    return {
      key_to_command: this.#commands.percentiles(),
      key_to_frame: this.#frames.percentiles(),
      interactive_ms: this.#interactive_ms,
      frames_per_second: moving_ms > 0 ? (1000 * moving_frames) / moving_ms : undefined,
      long_ms,
      widgets: this.#surface.widgets,
      heap_bytes: this.#surface.heapBytes?.() ?? heapBytes(),
    };
  }

  /** Notes that the screen of this name is shown. What was measured before the first one is the start's, and counts for it. */
  show(page: string): void {
    if (page === this.#page) return;
    this.end();
    this.#page = page;
  }

  /** Ends the view of the screen that is shown, and begins a new one. */
  end(): void {
    if (this.#page === undefined) return;
    for (const listener of this.#ends) listener(this.#page);
    this.#page = undefined;
    this.#begin();
  }

  /** Calls at the end of each view, while its measures are there, until the returned function is called. */
  onEnd(listener: (page: string) => void): () => void {
    this.#ends.add(listener);
    return () => this.#ends.delete(listener);
  }

  #begin(): void {
    this.#endKey();
    this.#commands.clear();
    this.#frames.clear();
    this.#start_ms = this.#surface.now();
    this.#interactive_ms = undefined;
    this.#state = 'new';
    this.#view += 1;
    this.#before = { ...(this.#surface.frameCounts?.() ?? this.#before) };
  }

  #counts(): { moving_ms: number; moving_frames: number; long_ms: number } | undefined {
    const now = this.#surface.frameCounts?.();
    return (
      now && {
        moving_ms: now.moving_ms - this.#before.moving_ms,
        moving_frames: now.moving_frames - this.#before.moving_frames,
        long_ms: now.long_ms - this.#before.long_ms,
      }
    );
  }

  #hear(words: Int32Array, length: number): void {
    for (let at = 0; at < length; at += LENGTHS[words[at] as number] ?? length) {
      const code = words[at];
      if (code === EVENT.KEY && words[at + 1] !== PHASE.RELEASED)
        this.#startKey(words[at + 2] as number, this.#float(words, at + 3));
      else if (code === EVENT.FRAME) this.#endFrame(words[at + 1] as number, this.#float(words, at + 2));
      else if (code === EVENT.MEMORY) for (const listener of this.#memory) listener(words[at + 1] as number);
    }
  }

  #startKey(sequence: number, time_ms: number): void {
    this.#endKey();
    const now_ms = this.#surface.now();
    this.#key = sequence;
    this.#key_ms = now_ms < FINE_MS && time_ms <= now_ms ? time_ms : now_ms;
    this.#keys[sequence % KEYS_MAX] = sequence;
    this.#times[sequence % KEYS_MAX] = this.#key_ms;
  }

  #endKey(): void {
    if (!Number.isNaN(this.#last_ms)) this.#commands.add(Math.max(this.#last_ms - this.#key_ms, 0));
    this.#last_ms = Number.NaN;
  }

  #endFrame(cause: number, time_ms: number): void {
    if (this.#state === 'sent') this.#show();
    if (cause === 0 || this.#keys[cause % KEYS_MAX] !== cause) return;
    const now_ms = this.#surface.now();
    const shown_ms = now_ms < FINE_MS ? time_ms : now_ms;
    this.#frames.add(Math.max(shown_ms - (this.#times[cause % KEYS_MAX] as number), 0));
    this.#keys[cause % KEYS_MAX] = 0;
  }

  #show(): void {
    this.#state = 'shown';
    const view = this.#view;
    this.#surface.requestIdle(() => {
      if (view === this.#view) this.#interactive_ms ??= this.#surface.now() - this.#start_ms;
    });
  }

  #float(words: Int32Array, at: number): number {
    if (this.#floats.buffer !== words.buffer) this.#floats = new Float32Array(words.buffer);
    return this.#floats[words.byteOffset / 4 + at] as number;
  }
}

/** Bytes of JavaScript's memory in engines that tell. */
function heapBytes(): number | undefined {
  const { performance, process } = globalThis as {
    readonly performance?: { readonly memory?: { readonly usedJSHeapSize: number } };
    readonly process?: { memoryUsage?(): { readonly heapUsed: number } };
  };
  return performance?.memory?.usedJSHeapSize ?? process?.memoryUsage?.().heapUsed;
}
