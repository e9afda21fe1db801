// The one place where the page's state is: the model, who draws it, and the token.
import type { FlameData } from '@sluice/flame/data';
import type { Columns, Costs, Frame, Hello } from '../snapshot.js';
import { Connection } from './connection.js';
import { type Model, type Span, filled, framed, greeted, nothing, priced } from './model.js';
import type { ServerEvent } from './sse.js';

/** What a flame graph is wanted of: a worker now, all of them without one, or a slow request that was profiled. */
export type FlameWish = { readonly worker?: number; readonly seconds: number } | { readonly tail: number };

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

const TOKEN_KEY = 'sluice-token';

export class Store {
  model: Model = nothing;
  readonly #draw: (model: Model) => void;
  readonly #connection: Connection;
  #refill: ReturnType<typeof setInterval> | undefined;
  #token = tokenFromAddress() ?? sessionStorage.getItem(TOKEN_KEY);

  constructor(draw: (model: Model) => void) {
    this.#draw = draw;
    this.#connection = new Connection(
      {
        event: (event) => this.#take(event),
        link: (link) => this.#set({ ...this.model, link }),
      },
      () => this.#token,
    );
  }

  get hasToken(): boolean {
    return this.#token !== null;
  }

  /** Uses this token from now on; says whether the gateway takes it. */
  async setToken(token: string): Promise<boolean> {
    this.#token = token;
    const outcome = await this.act('check', {});
    if (outcome !== null) {
      this.#token = null;
      return false;
    }
    sessionStorage.setItem(TOKEN_KEY, token);
    if (this.model.link === 'denied') this.#connection.again();
    return true;
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
    try {
      const response = await fetch(path, { ...init, headers: { ...this.#headers(), ...init.headers } });
      if (response.ok) return response;
      if (response.status === 401) return 'The gateway does not take this token.';
      const { error } = (await response.json()) as { error?: string };
      return error ?? `The gateway answered ${response.status}.`;
    } catch {
      return 'The gateway does not answer.';
    }
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
