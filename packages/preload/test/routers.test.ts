// What is about routes is loaded when the app loads a router that is known, or when somebody asks for its routes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { FakeGateway } from './fake-gateway.js';

/** What sees routers and reads templates of routes. */
const ALWAYS = ['route-imports', 'routers', 'routes'];
const NOTES = ['call-site', 'route-catch', 'route-tables'];
const ALL = [...NOTES, ...ALWAYS].sort();

for (const [name, registered] of [
  ['express', 1],
  ['@koa/router', 1],
  ['hono', 1],
  ['fastify', 0],
] as const) {
  test(`${name}: nothing that notes routes is loaded before the app loads its router, and it notes the first route`, async (t) => {
    const gateway = await FakeGateway.serve('routers.cjs', { args: [name] });
    t.after(() => gateway.stop());
    const { loaded: early, requires } = await gateway.askJson();
    // Older versions of Node cannot load it when it is needed.
    assert.deepEqual(early, requires === true ? ALWAYS : ALL);
    const { before, loaded } = await gateway.askJson({ path: '/load' });
    assert.deepEqual([before, loaded], [early, ALL]);
    await assertNoted(gateway, registered);
  });
}

const flag = '--no-experimental-require-module';
const skip = !process.allowedNodeEnvironmentFlags.has(flag) && 'this Node has no such flag';

test(
  'where modules cannot be required, all is loaded at the start, and notes the first route',
  { skip },
  async (t) => {
    const gateway = await FakeGateway.serve('routers.cjs', {
      args: ['express'],
      env: { NODE_OPTIONS: flag },
    });
    t.after(() => gateway.stop());
    assert.deepEqual((await gateway.askJson())['before'], ALL);
    await gateway.askJson({ path: '/load' });
    await assertNoted(gateway, 1);
  },
);

async function assertNoted(gateway: FakeGateway, routes: number): Promise<void> {
  const [table] = await tables(gateway);
  assert.equal(table?.routes.filter(({ path: where }) => where === '/x').length ?? 0, routes);
  for (const route of table?.routes ?? []) assert.match(String(route.file), /routers\.cjs$/);
}

test('a worker without a router loads what reads tables when it is asked, and has none', async (t) => {
  const gateway = await FakeGateway.serve('routers.cjs', { args: ['node:path'] });
  t.after(() => gateway.stop());
  assert.deepEqual(await tables(gateway), []);
  const loaded = (await gateway.askJson())['loaded'] as string[];
  for (const file of [...NOTES, 'route-report']) assert.ok(loaded.includes(file), file);
});

interface Table {
  readonly routes: readonly { readonly path: string; readonly file?: string }[];
}

async function tables(gateway: FakeGateway): Promise<readonly Table[]> {
  const file = path.join(gateway.folder, 'routes.json');
  gateway.say({ type: 'routes', number: 1, file });
  const { error } = await gateway.line('profiled');
  assert.equal(error, undefined);
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { tables: readonly Table[] }).tables;
}
