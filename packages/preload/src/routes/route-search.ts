/**
 * Looks for routers that nobody caught while they were loaded, because a bundler has put them into the app's own file. It starts at the
 * listeners of the servers and follows what functions hold in their closures, which the inspector of this process shows from inside.
 * Nothing is opened, and nothing of the app runs but the getter of an app of Express that gives its router. It runs only when somebody
 * asks, as it takes some tenths of a second.
 */
import type { Debugger, Runtime, Session } from 'node:inspector';
import { types } from 'node:util';
import type { CallSite } from './call-site.js';
import { ask, openSession } from '../profiles/inspector-session.js';
import type { Pause } from '../profiles/pauses.js';
import { expressRouterOf } from './route-catch.js';
import type { Framework } from './route-tables.js';

export interface FoundRouter {
  readonly framework: Framework;
  readonly router: object;
  /** Entries of a router that does not show its own. */
  readonly entries: object[];
}

/** Maximum number of functions whose closures are searched. */
const FUNCTIONS_MAX = 300;
/** Maximum number of examined objects. */
const OBJECTS_MAX = 20_000;

/** Meeting point of the page in the inspector and this module; there only while the two talk. */
const meeting = Symbol.for('sluice.route-search');
const MEETING = "globalThis[Symbol.for('sluice.route-search')]";
const GROUP = 'sluice-routes';

const { isProxy } = types;

type Shape = Readonly<Record<string, unknown>>;

/** Nothing where this Node has no inspector. */
export async function searchRouters(listeners: readonly object[], pause: Pause): Promise<FoundRouter[]> {
  const search = new Search();
  for (const listener of listeners) search.see(listener);
  const eye = Eye.open();
  if (eye === undefined) return search.found;
  try {
    for (let looked = 0; looked < FUNCTIONS_MAX; looked += 1) {
      const next = search.functions[looked];
      if (next === undefined) break;
      for (const value of eye.heldBy(next)) search.see(value);
      await pause();
    }
  } finally {
    eye.close();
  }
  return search.found;
}

/** Returns the places where functions are written, in their order. */
export async function placesOf(
  functions: readonly object[],
  pause: Pause,
): Promise<(CallSite | undefined)[]> {
  const eye = functions.length === 0 ? undefined : Eye.open();
  if (eye === undefined) return functions.map(() => undefined);
  const places: (CallSite | undefined)[] = [];
  try {
    const scripts = eye.scripts();
    for (const one of functions) {
      const { scriptId, lineNumber, columnNumber } = eye.locationOf(one) ?? {};
      const file = scriptId === undefined ? undefined : scripts.get(scriptId);
      const isKnown = file !== undefined && lineNumber !== undefined;
      places.push(isKnown ? { file, line: lineNumber + 1, column: (columnNumber ?? 0) + 1 } : undefined);
      await pause();
    }
  } finally {
    eye.close();
  }
  return places;
}

class Search {
  readonly found: FoundRouter[] = [];
  /** Functions that were seen, in that order. */
  readonly functions: object[] = [];
  readonly #seen = new Set<object>();

  see(value: unknown): void {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
    // A proxy hears what it is asked; those of Node warn of modules that load each other.
    if (isProxy(value) || this.#seen.has(value) || this.#seen.size >= OBJECTS_MAX) return;
    this.#seen.add(value);
    this.#recognise(value);
    if (typeof value === 'function') this.functions.push(value);
    if (Array.isArray(value)) for (const one of value.slice(0, OBJECTS_MAX)) this.see(one);
  }

  #recognise(value: object): void {
    const has = (...names: string[]) => names.every((name) => typeof peek(value, name) === 'function');
    const hasStack = Array.isArray(peek(value, 'stack'));
    if (has('handle', 'use', 'set', 'defaultConfiguration')) {
      const router = expressRouterOf(value);
      if (router !== undefined) this.#find('express', router);
    } else if (hasStack && has('handle', 'route', 'use')) {
      this.#find('express', value);
    } else if (hasStack && has('register', 'match')) {
      this.#find('koa-router', value);
    } else if (has('callback') && Array.isArray(peek(value, 'middleware'))) {
      this.see(peek(value, 'middleware'));
    } else if (has('fetch', 'route', 'basePath')) {
      const [router, routes] = [peek(value, 'router'), peek(value, 'routes')];
      if (Array.isArray(routes) && typeof peek(router, 'add') === 'function')
        this.#find('hono', router as object, routes as object[]);
    } else if (typeof value === 'function') {
      // The function that Koa's router gives to the app says whose it is.
      this.see(peek(value, 'router'));
    }
  }

  #find(framework: Framework, router: object, entries: object[] = []): void {
    if (!this.found.some((known) => known.router === router)) this.found.push({ framework, router, entries });
  }
}

/** The inspector of this process, from inside. */
class Eye {
  readonly #session: Session;
  readonly #met: { value: unknown; scopes: unknown } = { value: undefined, scopes: undefined };

  private constructor(session: Session) {
    this.#session = session;
  }

  static open(): Eye | undefined {
    try {
      return new Eye(openSession());
    } catch {
      return undefined;
    }
  }

  close(): void {
    this.#session.disconnect();
  }

  /** Returns what a function holds in its closures, and a bound one in itself. */
  heldBy(one: object): unknown[] {
    return this.#meet(one, (objectId) => {
      const internal = this.#internal(objectId);
      const held = ['[[TargetFunction]]', '[[BoundThis]]'].map((name) => this.#valueOf(internal.get(name)));
      const scopes = this.#valueOf(internal.get('[[Scopes]]'));
      // V8's own list, which has nothing of an array but its items.
      for (const scope of Object.values(Object(scopes) as object)) {
        const { object } = Object(scope) as Shape;
        // The last is the global object, whose values are everybody's.
        if (object !== globalThis) held.push(...Object.values(Object(object) as object));
      }
      return held;
    });
  }

  locationOf(one: object): Partial<Debugger.Location> | undefined {
    return this.#meet(one, (objectId) => {
      const location = this.#internal(objectId).get('[[FunctionLocation]]');
      return location?.value as Partial<Debugger.Location> | undefined;
    });
  }

  /** Files of all scripts, by their ids. */
  scripts(): Map<string, string> {
    const files = new Map<string, string>();
    const hear = ({ params }: { params: Debugger.ScriptParsedEventDataType }): void => {
      if (params.url !== '') files.set(params.scriptId, params.url);
    };
    this.#session.on('Debugger.scriptParsed', hear);
    try {
      // They are told before it returns; and the app does not run before the debugger is off again.
      ask(this.#session, 'Debugger.enable');
    } finally {
      ask(this.#session, 'Debugger.disable');
      this.#session.off('Debugger.scriptParsed', hear);
    }
    return files;
  }

  /** Meets without a turn of the event loop, so that the app never sees the meeting place. */
  #meet<T>(one: object, look: (objectId: string) => T): T {
    this.#met.value = one;
    Object.defineProperty(globalThis, meeting, { value: this.#met, configurable: true });
    try {
      const { result } = ask(this.#session, 'Runtime.evaluate', {
        expression: `${MEETING}.value`,
        objectGroup: GROUP,
      }) as Runtime.EvaluateReturnType;
      if (result.objectId === undefined) throw new Error('the inspector does not show a function');
      return look(result.objectId);
    } finally {
      Reflect.deleteProperty(globalThis, meeting);
      this.#met.value = undefined;
      ask(this.#session, 'Runtime.releaseObjectGroup', { objectGroup: GROUP });
    }
  }

  #internal(objectId: string): Map<string, Runtime.RemoteObject> {
    const { internalProperties = [] } = ask(this.#session, 'Runtime.getProperties', {
      objectId,
      ownProperties: true,
    }) as Runtime.GetPropertiesReturnType;
    return new Map(
      internalProperties.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** The object itself, in place of the inspector's word for it. */
  #valueOf(remote: Runtime.RemoteObject | undefined): unknown {
    if (remote?.objectId === undefined) return undefined;
    ask(this.#session, 'Runtime.callFunctionOn', {
      objectId: remote.objectId,
      functionDeclaration: `function () { ${MEETING}.scopes = this; }`,
      objectGroup: GROUP,
      silent: true,
    });
    const { scopes } = this.#met;
    this.#met.scopes = undefined;
    return scopes;
  }
}

/** A property's value, without running a getter or asking a proxy. */
function peek(value: unknown, name: string): unknown {
  for (let one: unknown = value; one !== null && Object(one) === one; one = Object.getPrototypeOf(one)) {
    if (isProxy(one)) return undefined;
    const own = Object.getOwnPropertyDescriptor(one, name);
    if (own !== undefined) return own.value;
  }
  return undefined;
}
