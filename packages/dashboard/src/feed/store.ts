// The one place where the page's state is: the model, who draws it, and the token.
import type { FlameData } from '@sluice/flame/data';
import type { Columns, Costs, Frame, Hello } from '../snapshot.js';
import { Connection, reasonOf } from './connection.js';
import { type Model, type Span, filled, framed, greeted, nothing, priced } from './model.js';
import type { ServerEvent } from './sse.js';

/** Subject of a flame graph: a worker now, all of them without one, or a slow request that was profiled. */
export type FlameWish = { readonly worker?: number; readonly seconds: number } | { readonly tail: number };

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

const TOKEN_KEY = 'sluice-token';
export const STALE = 'The token of this page is no longer valid. Enter the current one.';

export class Store {
  model: Model = nothing;
  readonly #draw: (model: Model) => void;
  readonly #connection: Connection;
  #refill: ReturnType<typeof setInterval> | undefined;
  #token = tokenFromAddress() ?? sessionStorage.getItem(TOKEN_KEY);
  #isTokenStale = false;

  constructor(draw: (model: Model) => void) {
    this.#draw = draw;
    this.#connection = new Connection(
      {
        event: (event) => this.#take(event),
        link: (link, why) => this.#set({ ...this.model, link, why }),
      },
      () => this.#token,
    );
  }

  get hasToken(): boolean {
    return this.#token !== null;
  }

  /** The gateway took the token of this page before, and does no longer. */
  get isTokenStale(): boolean {
    return this.#isTokenStale;
  }

  /** Uses this token from now on. Returns why the gateway does not take it, or null. */
  async setToken(token: string): Promise<string | null> {
    this.#token = token;
    const refused = await this.act('check', {});
    if (refused !== null) {
      this.#token = null;
      return refused;
    }
    this.#isTokenStale = false;
    sessionStorage.setItem(TOKEN_KEY, token);
    if (this.model.link === 'denied') this.#connection.again();
    return null;
  }

  show(span: Span): void {
    this.#set({ ...this.model, span, points: [] });
    void this.#fill();
    clearInterval(this.#refill);
    if (span > 1) this.#refill = setInterval(() => void this.#fill(), span * 1000);
  }

  /** Asks the gateway to do something. Returns why it did not, or null. */
  async act(action: string, body: object): Promise<string | null> {
    const answer = await this.#ask(`/actions/${action}`, posted(body));
    return typeof answer === 'string' ? answer : null;
  }

  /** The flame graph that is meant, or why there is none. Aborted, the gateway ends it too. */
  async flame(wish: FlameWish, signal: AbortSignal): Promise<FlameData | string> {
    const answer =
      'tail' in wish
        ? await this.#ask(`/flame?tail=${wish.tail}`, { signal })
        : await this.#ask('/actions/profile', { ...posted(wish), signal });
    return typeof answer === 'string' ? answer : ((await answer.json()) as FlameData);
  }

  /** The answer, or why there is none. */
  async #ask(path: string, init: Asked): Promise<Response | string> {
    const token = this.#token;
    try {
      const response = await fetch(path, { ...init, headers: { ...this.#headers(), ...init.headers } });
      if (response.ok) return response;
      if (response.status !== 401) return await reasonOf(response);
      this.#forget(token);
      return this.#isTokenStale ? STALE : 'This token is not valid.';
    } catch {
      return 'The gateway does not answer.';
    }
  }

  /** Forgets the token. The gateway may have been started again with another one, which is asked for then. */
  #forget(token: string | null): void {
    if (token === null || token !== this.#token) return;
    this.#token = null;
    if (sessionStorage.getItem(TOKEN_KEY) === null) return;
    sessionStorage.removeItem(TOKEN_KEY);
    this.#isTokenStale = true;
  }

  #headers(): Record<string, string> {
    return this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
  }

  #take({ name, data }: ServerEvent): void {
    if (name === 'hello') {
      const hello = JSON.parse(data) as Hello;
      this.#set(greeted(this.model, hello));
      if (!hello.resumed || this.model.span > 1) void this.#fill();
    } else if (name === 'frame') {
      this.#set(framed(this.model, JSON.parse(data) as Frame, Date.now()));
    } else if (name === 'costs') {
      this.#set(priced(this.model, JSON.parse(data) as Costs));
    }
  }

  async #fill(): Promise<void> {
    try {
      const response = await fetch(`/history?span=${this.model.span}`, { headers: this.#headers() });
      if (response.ok) this.#set(filled(this.model, (await response.json()) as Columns));
    } catch {
      // The connection says that the gateway is gone.
    }
  }

  #set(model: Model): void {
    this.model = model;
    this.#draw(model);
  }
}

const posted = (body: object): Asked => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** `#token=…` of the address, which no server is sent, and which is taken out of it. */
function tokenFromAddress(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return null;
  history.replaceState(null, '', location.pathname + location.search);
  sessionStorage.setItem(TOKEN_KEY, token);
  return token;
}
