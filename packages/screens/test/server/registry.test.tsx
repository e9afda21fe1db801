/** @jsxRuntime automatic @jsxImportSource react */
/** Screens as components of a registry of `@sluice/render`: in pages as JSON, as fragments, and by engine version. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFragments, createPages, createRegistry, type Page, type Registry } from '@sluice/render';
import { type ReactElement, Suspense, use } from 'react';
import { showScreen } from '../../src/adopt/index.ts';
import type { ScreenJson } from '../../src/adopt/json.ts';
import { Widget } from '../../src/index.ts';
import { screenComponent } from '../../src/server/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

const size = { width: 640, height: 360 };

const later = new Promise<string>((resolve) => {
  setTimeout(resolve, 5, 'from afar');
});
const never = new Promise<string>(() => undefined);

function Wait({ title, isLate }: HomeProps): ReactElement {
  return <Widget text={`${title} ${use(isLate === true ? never : later)}`} />;
}

interface HomeProps {
  readonly title: string;
  readonly isLate?: boolean;
}

function Home(props: HomeProps): ReactElement {
  return (
    <Suspense fallback={<Widget text="soon" />}>
      <Wait {...props} />
    </Suspense>
  );
}

function registryOf(): Registry {
  const registry = createRegistry();
  const home = screenComponent(Home, { ...size, timeoutMs: 100 });
  registry.register('Home', home.view, { ...home.settings, engine: { version: 5, fallback: 'Plain' } });
  const plain = screenComponent(() => <Widget text="plain" />, size);
  registry.register('Plain', plain.view, plain.settings);
  const broken = screenComponent(() => {
    throw new Error('no');
  }, size);
  registry.register('Broken', broken.view, broken.settings);
  return registry;
}

interface Answer {
  readonly boxes: readonly {
    readonly component: string;
    readonly outcome: string;
    readonly data?: ScreenJson;
  }[];
}

async function answerOf(page: Page): Promise<Answer> {
  return JSON.parse(await new Response(page.body as never).text()) as Answer;
}

test('a page as JSON has screens of components, and old engines get what they know', async () => {
  const pages = createPages({ registry: registryOf(), onError: () => undefined });
  const tree = { boxes: [{ component: 'Home', props: { title: 'News' } }, { component: 'Broken' }] };
  const { boxes } = await answerOf(await pages.render(tree, {}, { format: 'json', engine: 5 }));
  const [home, broken] = boxes;
  assert.equal(home?.outcome, 'rendered');
  const surface = new HeadlessSurface(size);
  showScreen(surface, home?.data as ScreenJson);
  assert.match(surface.tree(), /text="News from afar"/);
  assert.deepEqual({ ...broken, id: undefined }, { id: undefined, component: 'Broken', outcome: 'error' });
  const old = await answerOf(await pages.render(tree, {}, { format: 'json', engine: 4 }));
  assert.equal(old.boxes[0]?.component, 'Plain');
  assert.deepEqual(old.boxes[0]?.data?.widgets, [{ values: { text: 'plain' } }]);
});

test('a fragment is the same JSON as text, and breaks out of no document', async () => {
  const fragments = createFragments({ registry: registryOf() });
  const jobs = {
    whole: { name: 'Home', data: { title: '</script><!-- &quot;' } },
    late: { name: 'Home', data: { title: 'x', isLate: true } },
  };
  const { results } = await fragments.batch(jobs);
  const html = (name: string): string => String(results[name]?.html);
  assert.doesNotMatch(html('whole'), /<\/script|<!--/);
  const json = /\{.*\}/s.exec(html('whole'))?.[0] ?? '';
  assert.doesNotMatch(json, /[&<>]/);
  const screen = JSON.parse(json) as ScreenJson;
  assert.deepEqual(screen.widgets, [{ values: { text: '</script><!-- &quot; from afar' } }]);
  assert.match(html('late'), /"partial":true/);
});

test('a page that nobody wants any more ends the screens in it', async () => {
  const registry = createRegistry();
  const { view, settings } = screenComponent(Home, size);
  let ended: Promise<unknown> = Promise.resolve('never began');
  registry.register('Home', view, {
    ...settings,
    json(props, context) {
      const screen = settings.json(props, context);
      ended = screen.catch((error: unknown) => error);
      return screen;
    },
  });
  const gone = new AbortController();
  const pages = createPages({ registry, onError: () => undefined });
  const tree = { boxes: [{ component: 'Home', props: { title: 'x', isLate: true } }] };
  const page = pages.render(tree, {}, { format: 'json', signal: gone.signal }).then(answerOf);
  setTimeout(() => gone.abort(new Error('the client has left')), 20);
  await page.catch(() => undefined);
  assert.match(String(await ended), /^AbortError: .*component "Home" is no longer needed/i);
});
