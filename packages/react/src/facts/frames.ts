/**
 * Names on the stack for a profile. While one is taken, each component and all that is written for it is rendered within a call
 * whose function has the component's name. Otherwise this costs one look at a field for each component.
 */

/** Calls `run` with what follows. */
export type Frame = (run: (...rest: never[]) => void, ...rest: unknown[]) => void;

export const naming: { make: ((name: string) => Frame) | null } = { make: null };

/** `make` gives the frame for a name; null ends it. */
export function nameFrames(make: ((name: string) => Frame) | null): void {
  naming.make = make;
}

export function frameOf(type: object, make: (name: string) => Frame): Frame {
  const { displayName, name, render } = type as {
    displayName?: unknown;
    name?: unknown;
    render?: { displayName?: unknown; name?: unknown };
  };
  const named = [displayName, name, render?.displayName, render?.name].find(
    (one) => typeof one === 'string' && one !== '',
  );
  return make((named as string | undefined) ?? '(anonymous component)');
}
