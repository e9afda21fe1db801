// Screens as components of `@sluice/render`: a host asks for them as for any other.
import { type ComponentType, createElement } from 'react';
import type { ScreenJson } from '../adopt/json.js';
import { type RenderScreenOptions, renderScreen } from './render.js';

/** Place at which `@sluice/render` finds the adapter that a view brings along. */
const OWN_ADAPTER = Symbol.for('sluice.adapter');

type Props = Readonly<Record<string, unknown>>;

interface Context {
  readonly signal: AbortSignal;
  tellPartial?(): void;
}

/** Component for a registry: `registry.register('Home', screen.view, screen.settings)`. */
export interface ScreenComponent {
  readonly view: object;
  readonly settings: {
    /** Browsers hydrate nothing of it. */
    readonly rendering: 'static';
    readonly json: (props: Props, context?: Pick<Context, 'signal'>) => Promise<ScreenJson>;
  };
}

/**
 * Makes a component of a registry from a screen. Its JSON form is the screen, for pages with `Accept: application/json`; as a fragment it is
 * the same JSON as text.
 */
export function screenComponent<P extends object>(
  component: ComponentType<P>,
  options: RenderScreenOptions,
): ScreenComponent {
  const json = (props: Props, context?: Pick<Context, 'signal'>): Promise<ScreenJson> =>
    renderScreen(
      createElement(component, props as P),
      context ? { ...options, signal: context.signal } : options,
    );
  const adapter = {
    name: 'screens',
    recognises: () => false,
    async render(_view: unknown, props: Props, context: Context): Promise<string> {
      const screen = await json(props, context);
      if (screen.partial === true) context.tellPartial?.();
      // The text may stand in a document, also outside of a script, where `&` begins a reference.
      return JSON.stringify(screen).replace(/[&<>\u2028\u2029]/g, escaped);
    },
  };
  return {
    view: { [OWN_ADAPTER]: adapter },
    settings: { rendering: 'static', json },
  };
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
