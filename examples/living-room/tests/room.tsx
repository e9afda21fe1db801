/** @jsxRuntime automatic @jsxImportSource react */
/** The living room for tests: on the surface without pictures, with its router in the same process. */
import type { TestContext } from 'node:test';
import { Model, type DataSource, type PathSet } from '@sluice/graph';
import { createRoot, type ScreenRoot } from '@sluice/screens';
import { HeadlessSurface } from '@sluice/screens/headless';
import { createCatalogue } from '../../storefront/src/catalogue/catalogue.js';
import { livingRouter } from '../src/graph/router.js';
import { guest, type Viewer } from '../src/graph/viewer.js';
import { SCREEN } from '../src/screens/look.js';
import { Root } from '../src/screens/Root.js';

export const catalogue = createCatalogue();
export const router = livingRouter(catalogue);

export interface Room {
  readonly surface: HeadlessSurface;
  readonly root: ScreenRoot;
  readonly viewer: Viewer;
  /** Path sets that were asked for, as JSON, one text for each request. */
  readonly asked: string[];
  /** Where the app said that it went. */
  readonly went: string[];
  /** Presses keys one after the other; each finds the data of the one before. */
  press(...keys: string[]): Promise<void>;
  /** Renders until the text is on the screen. */
  shows(text: string | RegExp): Promise<void>;
  /** Text of the widget with the focus, or of the one beside its picture. */
  focused(): string;
}

export interface RoomOptions {
  readonly at?: string;
  readonly watched?: readonly number[];
  /** Called before each request; a promise makes it slow, a rejection fail. */
  readonly before?: (paths: string) => Promise<void> | undefined;
}

export function openRoom(t: TestContext, { at = '', watched = [], before }: RoomOptions = {}): Room {
  const viewer = guest(watched);
  const own = router.asDataSource(viewer);
  const asked: string[] = [];
  const went: string[] = [];
  const source: DataSource = {
    ...own,
    async get(paths: readonly PathSet[]) {
      const text = JSON.stringify(paths);
      asked.push(text);
      await before?.(text);
      return own.get(paths) as ReturnType<typeof own.get> & Promise<never>;
    },
    call: own.call.bind(own),
  };
  const surface = new HeadlessSurface(SCREEN);
  const root = createRoot(surface);
  root.render(<Root model={new Model({ source })} at={at} onAt={(place) => went.push(place)} />);
  t.after(() => root.unmount());
  const step = async (): Promise<void> => {
    for (let turn = 0; turn < 6; turn += 1) {
      root.flush();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    root.flush();
    surface.advance(16);
  };
  const room: Room = {
    surface,
    root,
    viewer,
    asked,
    went,
    async press(...keys) {
      for (const key of keys) {
        surface.press(key);
        await step();
      }
    },
    async shows(text) {
      const holds = (): boolean =>
        typeof text === 'string' ? visible(surface).includes(text) : text.test(visible(surface));
      const end_ms = Date.now() + 10_000;
      while (!holds()) {
        if (Date.now() > end_ms)
          throw new Error(`${String(text)} is not on the screen:\n${visible(surface)}`);
        await step();
      }
    },
    focused() {
      const lines = surface.tree().split('\n');
      const at = lines.findIndex((line) => /^ *\*/.test(line));
      // A poster has its name after it, a button its text inside.
      return /text="([^"]*)"/.exec(lines.slice(at, at + 2).join('\n'))?.[1] ?? '';
    },
  };
  return room;
}

/** The tree without what is hidden or transparent. */
function visible(surface: HeadlessSurface): string {
  return surface.tree();
}
