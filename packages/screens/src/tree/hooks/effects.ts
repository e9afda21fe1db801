/** Effects: hooks whose functions run when a commit has changed the screen. */
import { EVENTS, INSERTION, LAYOUT, PASSIVE } from '../node.js';
import { work } from '../work.js';
import {
  EFFECT_INSERTION,
  EFFECT_LAYOUT,
  EFFECT_PASSIVE,
  EVENT,
  FIRE,
  STRIDE,
  at,
  next,
  sameDeps,
} from './cursor.js';

export type Cleanup = () => void;
export type Create = () => Cleanup | void;
export type Deps = readonly unknown[] | null | undefined;

function mount(kind: number, flag: number, create: Create, deps: Deps): void {
  at.index += STRIDE;
  at.flags |= flag;
  at.hooks.push(kind | FIRE, create, deps === undefined ? null : deps, undefined);
}

function update(kind: number, flag: number, create: Create, deps: Deps, force: boolean): void {
  const index = next(kind);
  const { hooks, before } = at;
  if (!force && before !== null && sameDeps(before[index + 2], deps)) hooks[index] = kind;
  else {
    hooks[index] = kind | FIRE;
    at.flags |= flag;
  }
  hooks[index + 1] = create;
  hooks[index + 2] = deps === undefined ? null : deps;
}

export function mountEffect(create: Create, deps?: Deps): void {
  mount(EFFECT_PASSIVE, PASSIVE, create, deps);
}

export function updateEffect(create: Create, deps?: Deps): void {
  update(EFFECT_PASSIVE, PASSIVE, create, deps, false);
}

/** An effect that runs in this commit or not, whatever its dependencies are. */
export function updateEffectIf(fires: boolean, create: Create): void {
  const index = next(EFFECT_PASSIVE);
  at.hooks[index] = fires ? EFFECT_PASSIVE | FIRE : EFFECT_PASSIVE;
  at.hooks[index + 1] = create;
  if (fires) at.flags |= PASSIVE;
}

/** Adds an effect that does not run in this commit. */
export function mountQuietEffect(create: Create): void {
  at.index += STRIDE;
  at.hooks.push(EFFECT_PASSIVE, create, null, undefined);
}

export function mountLayoutEffect(create: Create, deps?: Deps): void {
  mount(EFFECT_LAYOUT, LAYOUT, create, deps);
}

export function updateLayoutEffect(create: Create, deps?: Deps): void {
  update(EFFECT_LAYOUT, LAYOUT, create, deps, false);
}

export function mountInsertionEffect(create: Create, deps?: Deps): void {
  mount(EFFECT_INSERTION, INSERTION, create, deps);
}

export function updateInsertionEffect(create: Create, deps?: Deps): void {
  update(EFFECT_INSERTION, INSERTION, create, deps, false);
}

type Ref = ((value: unknown) => unknown) | { current: unknown } | null | undefined;

function handleEffect(ref: Ref, create: () => unknown): Create {
  return () => {
    if (typeof ref === 'function') {
      const cleanup = ref(create());
      return () => {
        if (typeof cleanup === 'function') cleanup();
        else ref(null);
      };
    }
    if (ref === null || ref === undefined) return undefined;
    ref.current = create();
    return () => {
      ref.current = null;
    };
  };
}

export function mountImperativeHandle(ref: Ref, create: () => unknown, deps?: Deps): void {
  mountLayoutEffect(handleEffect(ref, create), deps === null || deps === undefined ? null : [...deps, ref]);
}

export function updateImperativeHandle(ref: Ref, create: () => unknown, deps?: Deps): void {
  updateLayoutEffect(handleEffect(ref, create), deps === null || deps === undefined ? null : [...deps, ref]);
}

type AnyFunction = (...args: unknown[]) => unknown;

interface EventHolder {
  run: AnyFunction;
}

function eventOf(holder: EventHolder): AnyFunction {
  return (...args) => {
    if (work.rendering)
      throw new Error("A function wrapped in useEffectEvent can't be called during rendering.");
    return holder.run(...args);
  };
}

export function mountEffectEvent(run: AnyFunction): AnyFunction {
  const holder: EventHolder = { run };
  at.index += STRIDE;
  at.flags |= EVENTS;
  work.early = true;
  at.hooks.push(EVENT, holder, run, null);
  return eventOf(holder);
}

export function updateEffectEvent(run: AnyFunction): AnyFunction {
  const index = next(EVENT);
  at.flags |= EVENTS;
  work.early = true;
  at.hooks[index + 2] = run;
  return eventOf(at.hooks[index + 1] as EventHolder);
}

/** Lets event functions call what the last render gave. */
export function commitEvents(hooks: readonly unknown[]): void {
  for (let i = 0; i < hooks.length; i += STRIDE)
    if (hooks[i] === EVENT) (hooks[i + 1] as EventHolder).run = hooks[i + 2] as AnyFunction;
}
