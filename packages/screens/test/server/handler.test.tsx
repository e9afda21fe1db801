/** @jsxRuntime automatic @jsxImportSource react */
/** Screens over HTTP and from a registry: keys, credentials, hostile requests, the graph's values. */
import assert from 'node:assert/strict';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Model, ref } from '@sluice/graph';
import { GraphProvider, useModel, useValue } from '@sluice/graph/react';
import { route, Router } from '@sluice/graph/router';
import { createPageGraph } from '@sluice/graph/server';
import { type ReactElement, Suspense, useState } from 'react';
import Yoga from 'yoga-layout';
import { type PlacedScreen, remoteScreens, showScreen } from '../../src/adopt/index.ts';
import type { ScreenJson } from '../../src/adopt/json.ts';
import { createRoot, Widget } from '../../src/index.ts';
import { screenHandler, type ScreenHandlerOptions } from '../../src/server/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';

const size = { width: 1280, height: 720 };

interface Visitor {
  readonly name: string;
}

const router = new Router<Visitor>([
  route('films[{integers:ids}].title', {
    get: ({ ids }) => ids.map((id) => ({ path: ['films', id, 'title'], value: `Film ${id}` })),
  }),
  route('best', { get: () => ({ path: ['best'], value: ref(['films', 7]) }) }),
  route('me.name', { get: (_, { data }) => ({ path: ['me', 'name'], value: data.name }) }),
  route('me.seen', { get: (_, { data }) => ({ path: ['me', 'seen'], value: `secret of ${data.name}` }) }),
]);

function App({ at, go }: { at: string; go?: (at: string) => void }): ReactElement {
  const [place, setPlace] = useState(at);
  const move = (next: string): void => {
    setPlace(next);
    go?.(next);
  };
  return (
    <Suspense fallback={<Widget text="Loading" />}>
      {place === 'me' ? <Me /> : <Home count={Number(place)} move={move} />}
    </Suspense>
  );
}

function Me(): ReactElement {
  return <Widget text={useValue<string>(['me', 'name']) ?? ''} />;
}

function Home({ count, move }: { count: number; move: (at: string) => void }): ReactElement {
  const title = useValue<string>(['best', 'title']);
  // A handler's read stays on the server.
  const model = useModel();
  return (
    <Widget
      focusArea={{ direction: 'spatial' }}
      style={{ flexDirection: 'row', flexWrap: 'wrap', width: 400 }}
    >
      <Widget text={`${title} ${count}`} style={{ width: 400 }} />
      {['a', 'b', 'c', 'd'].map((name) => (
        <Widget
          key={name}
          focusable
          style={{ width: 150, height: 50 }}
          onKey={({ key }) => {
            if (key === 'Enter') move(name === 'd' ? 'me' : String(count + 1));
            if (key === 'x') void model.getValue(['me', 'seen']);
          }}
        >
          <Widget text={name} />
        </Widget>
      ))}
    </Widget>
  );
}

function Broken(): ReactElement {
  throw new Error('no stock');
}

const visitorOf = ({ headers }: IncomingMessage): Visitor => ({
  name: /name=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? 'guest',
});

async function serve(t: TestContext, more: Partial<ScreenHandlerOptions> = {}): Promise<string> {
  const screens = screenHandler({
    ...size,
    app: (request) => {
      const graph = createPageGraph({ source: router.asDataSource(visitorOf(request)) });
      return { run: (work) => graph.run(work), render: (at, go) => <App at={at} go={go} /> };
    },
    cacheControl: (state) => ('me' in (state as object) ? undefined : 'public, max-age=60'),
    ...more,
  });
  const server: Server = createServer((request, response) => {
    void screens(request, response).then((isAnswered) => isAnswered || response.writeHead(404).end());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function placed(answer: Response): Promise<PlacedScreen> {
  assert.equal(answer.status, 200);
  return (await answer.json()) as PlacedScreen;
}

test('a screen has the values that it was made of, and the device asks for nothing', async (t) => {
  const url = await serve(t);
  const { screen } = await placed(await fetch(`${url}/screen?at=3`));
  assert.deepEqual(screen.state, {
    best: { $type: 'ref', value: ['films', 7] },
    films: { 7: { title: 'Film 7' } },
  });
  const surface = new HeadlessSurface(size);
  const shown = showScreen(surface, screen);
  surface.advance(16);
  const { commands } = surface;
  const source = {
    get(): never {
      throw new Error('asked the server');
    },
  };
  const model = new Model({ source, cache: screen.state as never });
  const root = createRoot(surface, { adopt: shown });
  root.render(
    <GraphProvider model={model}>
      <App at="3" />
    </GraphProvider>,
  );
  root.flush();
  assert.equal(surface.commands, commands);
  await Promise.resolve();
  // The places that the surface told of before are the focus manager's.
  surface.press('ArrowRight');
  surface.press('ArrowDown');
  assert.match(surface.tree(), /\*\d+ .*\n.*"d"/);
});

test("a screen with a visitor's values is private, and so is what a key leads to", async (t) => {
  const url = await serve(t);
  const cache = async (path: string, init: RequestInit = {}): Promise<string | null> => {
    const answer = await fetch(url + path, init);
    assert.equal(answer.status, 200);
    return answer.headers.get('cache-control');
  };
  assert.equal(await cache('/screen?at=3'), 'public, max-age=60');
  assert.match((await cache('/screen?at=me')) ?? '', /^private/);
  assert.match((await cache('/screen?at=3', { headers: { authorization: 'Bearer x' } })) ?? '', /^private/);
  assert.match((await cache('/screen?at=3&focus=3&key=Enter', { method: 'POST' })) ?? '', /^private/);
  const plain = await serve(t, { cacheControl: undefined as never });
  assert.match((await fetch(`${plain}/screen?at=3`)).headers.get('cache-control') ?? '', /^private/);
  const ann = await placed(await fetch(`${url}/screen?at=me`, { headers: { cookie: 'name=ann' } }));
  assert.match(JSON.stringify(ann), /"ann"/);
  // What a handler reads is not what components show.
  const after = await placed(await fetch(`${url}/screen?at=3&focus=3&key=x`, { method: 'POST' }));
  assert.doesNotMatch(JSON.stringify(after), /secret/);
});

test('a device that cannot run the app has each screen from the server, key by key', async (t) => {
  const url = await serve(t);
  const surface = new HeadlessSurface(size);
  const errors: unknown[] = [];
  let asked = 0;
  let answered: (() => void) | undefined;
  const first = await placed(await fetch(`${url}/screen?at=0`));
  const screens = remoteScreens(surface, first, {
    async ask({ at, focus, key }) {
      asked += 1;
      try {
        const query = new URLSearchParams({ at, focus: String(focus), key });
        return await placed(await fetch(`${url}/screen?${query}`, { method: 'POST' }));
      } finally {
        setImmediate(() => answered?.());
      }
    },
    onError: (error) => errors.push(error),
  });
  const press = async (key: string): Promise<void> => {
    const done = new Promise<void>((resolve) => {
      answered = resolve;
    });
    surface.press(key);
    await done;
  };
  await press('Enter');
  assert.equal(screens.at, '1');
  assert.match(surface.tree(), /text="Film 7 1"/);
  await press('ArrowRight');
  assert.match(surface.tree(), /\*\d+ .*\n.*"b"/);
  await press('ArrowDown');
  assert.match(surface.tree(), /\*\d+ .*\n.*"d"/);
  const { widgets } = surface;
  assert.equal(widgets, 10);
  await press('Enter');
  assert.equal(screens.at, 'me');
  assert.match(surface.tree(), /text="guest"/);
  assert.equal(surface.widgets, 1);
  assert.equal(asked, 4);
  assert.deepEqual(errors, []);
  screens.stop();
  surface.press('Enter');
  assert.equal(asked, 4);
});

test('a failed request leaves the screen, and repeats that come meanwhile are dropped', async () => {
  const surface = new HeadlessSurface(size);
  const screen: ScreenJson = {
    version: 1,
    ...size,
    styles: [],
    widgets: [{ values: { text: 'one' } }],
    focus: 1,
  };
  const errors: unknown[] = [];
  const asks: string[] = [];
  let fail: (error: Error) => void = () => undefined;
  remoteScreens(
    surface,
    { at: 'a', screen },
    {
      ask: ({ at, key }) => {
        asks.push(`${at} ${key}`);
        return new Promise((_, reject) => {
          fail = reject;
        });
      },
      onError: (error) => errors.push((error as Error).message),
    },
  );
  surface.press('ArrowRight', 5);
  fail(new Error('offline'));
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  assert.deepEqual(asks, ['a ArrowRight']);
  assert.deepEqual(errors, ['offline']);
  assert.match(surface.tree(), /text="one"/);
  surface.press('Enter');
  assert.deepEqual(asks, ['a ArrowRight', 'a Enter']);
});

test('a key frees all nodes of its layout, also where the app throws', async (t) => {
  const create = t.mock.method(Yoga.Node, 'create');
  const destroy = t.mock.method(Yoga.Node, 'destroy');
  const options = { onError: () => undefined, app: () => ({ render: () => <Widget text="x" /> }) };
  const url = await serve(t, options);
  const broken = await serve(t, { ...options, app: () => ({ render: () => <Broken /> }) });
  const key = '/screen?focus=1&key=Enter';
  assert.equal((await fetch(url + key, { method: 'POST' })).status, 200);
  assert.equal((await fetch(broken + key, { method: 'POST' })).status, 500);
  assert.equal(create.mock.callCount(), 3);
  assert.equal(destroy.mock.callCount(), 3);
});

test('an onError of remote screens that throws leaves the keys alone', async (t) => {
  const { mock } = t.mock.method(console, 'error', () => undefined);
  const surface = new HeadlessSurface(size);
  const screen = { version: 1, ...size, styles: [], widgets: [{}], focus: 1 };
  let asks = 0;
  const ask = (): Promise<never> => {
    asks += 1;
    return Promise.reject(new Error('offline'));
  };
  const onError = (): never => {
    throw new Error('of the app');
  };
  remoteScreens(surface, { at: '', screen }, { ask, onError });
  for (let press = 1; press <= 2; press += 1) {
    surface.press('Enter');
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    assert.equal(asks, press);
  }
  assert.match(String(mock.calls[0]?.arguments[0]), /of the app/);
});

test('a key waits for the promises of its handlers, and onError hears of their errors', async (t) => {
  const told: unknown[] = [];
  function Counter(): ReactElement {
    const [count, setCount] = useState(0);
    const onKey = async ({ key }: { key: string }): Promise<void> => {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (key === 'x') throw new Error('late');
      if (key === 'never') await new Promise(() => undefined);
      setCount(count + 1);
    };
    const onKeyUp = ({ key }: { key: string }): void => {
      if (key === 'y') throw new Error('early');
    };
    return <Widget focused text={`count ${count}`} onKey={onKey} onKeyUp={onKeyUp} />;
  }
  const url = await serve(t, {
    app: () => ({ render: () => <Counter /> }),
    onError: (error) => told.push((error as Error).message),
    timeoutMs: 50,
  });
  const after = async (key: string): Promise<ScreenJson> =>
    (await placed(await fetch(`${url}/screen?focus=1&key=${key}`, { method: 'POST' }))).screen;
  const textOf = ({ widgets }: ScreenJson): unknown => widgets[0]?.values?.['text'];
  assert.equal(textOf(await after('Enter')), 'count 1');
  assert.equal(textOf(await after('x')), 'count 0');
  assert.deepEqual(told, ['late']);
  assert.equal(textOf(await after('y')), 'count 1');
  assert.deepEqual(told, ['late', 'early']);
  const never = await after('never');
  assert.equal(textOf(never), 'count 0');
  assert.equal(never.partial, true);
});

test('targets that are no URL are paths of others', async (t) => {
  const url = await serve(t);
  for (const path of ['//', '///', '//screen', 'http://', '*']) {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      get(url, { path }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
    });
    assert.equal(status, 404, path);
  }
});

test('hostile requests are refused', async (t) => {
  const told: unknown[] = [];
  const url = await serve(t, {
    app: (request) => ({
      render() {
        if (request.headers['x-fail'] !== undefined) throw new Error('secret of the app');
        return <Widget text="x" />;
      },
    }),
    onError: (error) => told.push(error),
  });
  const status = async (path: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(url + path, init)).status;
  assert.equal(await status('/screens'), 404);
  assert.equal(await status('/screen', { method: 'DELETE' }), 405);
  assert.equal(await status(`/screen?at=${'x'.repeat(1001)}`), 400);
  assert.equal(await status('/screen?at=1&key=Enter'), 400);
  assert.equal(await status('/screen?at=1', { method: 'POST' }), 400);
  assert.equal(await status('/screen?focus=-1'), 400);
  assert.equal(await status('/screen?focus=1e99'), 400);
  assert.equal(await status(`/screen?key=${'k'.repeat(33)}`, { method: 'POST' }), 400);
  const key = '/screen?at=1&focus=999999&key=Enter';
  assert.equal(await status(key, { method: 'POST' }), 200);
  const from = (headers: Record<string, string>): Promise<number> => status(key, { method: 'POST', headers });
  assert.equal(await from({ origin: 'https://evil.example' }), 403);
  assert.equal(await from({ 'sec-fetch-site': 'same-site' }), 403);
  assert.equal(await from({ 'sec-fetch-site': 'same-origin' }), 200);
  const failed = await fetch(`${url}/screen`, { headers: { 'x-fail': '1' } });
  assert.equal(failed.status, 500);
  assert.doesNotMatch(await failed.text(), /secret/);
  assert.match(String(told[0]), /secret of the app/);
});
