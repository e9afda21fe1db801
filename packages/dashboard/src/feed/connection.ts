// The connection to the gateway: comes back by itself, and says how it stands.
//
// It is a fetch and no EventSource, because only a fetch can carry the token in a header.
import { EventReader, type ServerEvent } from './sse.js';

/** State of the connection. `denied` needs a token, `refused` is answered, but not with events. */
export type Link = 'connecting' | 'live' | 'lost' | 'refused' | 'denied';

export interface Listener {
  event: (event: ServerEvent) => void;
  /** `why`: what the gateway says, where it refuses. */
  link: (link: Link, why: string) => void;
}

/** A gateway says something each second. */
const SILENT_MS_MAX = 5000;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 5000;
/** Length from which on an answer is the page of some proxy in between. */
const REASON_CHARACTERS_MAX = 300;

export class Connection {
  readonly #listener: Listener;
  readonly #token: () => string | null;
  #stop = new AbortController();
  #lastId: string | null = null;
  #why = '';

  constructor(listener: Listener, token: () => string | null) {
    this.#listener = listener;
    this.#token = token;
    void this.#run(this.#stop.signal);
  }

  /** Begins afresh, with another token or without waiting. */
  again(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    void this.#run(this.#stop.signal);
  }

  async #run(stopped: AbortSignal): Promise<void> {
    let retryMs = RETRY_MS_MIN;
    while (!stopped.aborted) {
      const heard = await this.#listen(stopped);
      if (stopped.aborted || heard === 'denied') return;
      if (heard === 'ended') {
        // The gateway ends each answer after some minutes; that is no loss.
        retryMs = RETRY_MS_MIN;
        continue;
      }
      this.#listener.link(heard === 'refused' ? 'refused' : 'lost', this.#why);
      if (heard === 'broken') retryMs = RETRY_MS_MIN;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    }
  }

  async #listen(stopped: AbortSignal): Promise<'ended' | 'broken' | 'failed' | 'refused' | 'denied'> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENT_MS_MAX);
    let isLive = false;
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (this.#lastId !== null) headers['last-event-id'] = this.#lastId;
      const token = this.#token();
      if (token !== null) headers['authorization'] = `Bearer ${token}`;
      const signal = AbortSignal.any([stopped, silence.signal]);
      const response = await fetch('/events', { headers, signal, cache: 'no-store' });
      if (response.status === 401) {
        this.#listener.link('denied', '');
        return 'denied';
      }
      if (!response.ok || response.body === null) {
        this.#why = await reasonOf(response);
        return 'refused';
      }
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const events = new EventReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return isLive ? 'ended' : 'failed';
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENT_MS_MAX);
        for (const event of events.push(value)) {
          if (!isLive) this.#listener.link('live', '');
          isLive = true;
          this.#lastId = event.id ?? this.#lastId;
          this.#listener.event(event);
        }
      }
    } catch {
      return isLive ? 'broken' : 'failed';
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns the reason for which the gateway refuses: JSON with `error`, or text. */
export async function reasonOf(response: Response): Promise<string> {
  const text = (await response.text()).trim();
  try {
    const { error } = JSON.parse(text) as { error?: string };
    if (error !== undefined) return error;
  } catch {
    // Text for people.
  }
  return text === '' || text.length > REASON_CHARACTERS_MAX
    ? `The gateway answered ${response.status}.`
    : text;
}
