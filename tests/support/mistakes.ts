// How each mistake of `apps/lib/mistakes.js` is asked for. `weight` is how often beside the others; what makes the gateway
// replace a worker is rare, so that most of the time there is one to answer.

export interface Mistake {
  readonly name: string;
  readonly method?: 'POST' | 'HEAD';
  /** Bytes to send, which the app leaves unread. */
  readonly bodyBytes?: number;
  readonly isUpgrade?: boolean;
  /** Pauses of the app; one of them by chance. */
  readonly gaps_ms?: readonly number[];
  readonly weight: number;
  /** The process does not survive it. */
  readonly isDeadly?: boolean;
}

/** Shorter and longer than the 5 ms that the preload waits for a late end. */
const GAPS_MS = [1, 4, 15, 40];
const UNREAD_BYTES = 100_000;
const OFTEN = 20;
const RARE = 1;

const often = (name: string, more: Partial<Mistake> = {}): Mistake => ({
  name,
  weight: OFTEN,
  gaps_ms: GAPS_MS,
  ...more,
});
const rare = (name: string, more: Partial<Mistake> = {}): Mistake => ({
  ...often(name),
  weight: RARE,
  ...more,
});
const unread = { method: 'POST', bodyBytes: UNREAD_BYTES } as const;

export const mistakes: readonly Mistake[] = [
  often('late-end'),
  often('late-bytes'),
  often('late-bytes', unread),
  often('late-answer'),
  often('late-answer', unread),
  often('late-answer', { method: 'HEAD' }),
  often('late-writes'),
  often('late-writes', unread),
  often('late-raw-answer'),
  often('late-interim'),
  often('write-after-end'),
  often('write-after-close'),
  often('short-late-end'),
  often('short'),
  often('long'),
  often('long-by-an-answer'),
  often('double'),
  often('unread', unread),
  often('trailers'),
  often('own-then-raw'),
  often('late-body-of-204'),
  often('raw-in-body'),
  often('stops-on-close'),
  often('close'),
  often('close-in-body'),
  rare('half-close-in-body'),
  rare('chunk-cut'),
  rare('raw'),
  rare('raw-twice'),
  rare('raw-then-own'),
  rare('garbage'),
  rare('two-lengths'),
  rare('length-and-chunks'),
  rare('body-of-head', { method: 'HEAD' }),
  rare('body-of-204'),
  rare('body-of-304'),
  rare('half-a-head'),
  rare('none'),
  rare('head-only'),
  rare('upgrade-unanswered', { isUpgrade: true }),
  rare('upgrade-refused-open', { isUpgrade: true }),
  rare('upgrade-late-bytes', { isUpgrade: true }),
  rare('throws-after-head', { isDeadly: true }),
  rare('exits-before-head', { isDeadly: true }),
];
