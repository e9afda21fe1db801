/**
 * Apps from npm that keep sessions in their process, with two workers in strict mode: Socket.IO by all its transports, with no
 * setting at all, by cookie and by address; express-session with its store in memory; each through crashes and reloads. Faye and
 * Colyseus, whose clients come back with no setting as well; and what the log says of each.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type TestContext, before, describe, it } from 'node:test';
import { installIfStale } from './prepare.ts';
import { ownRuntime } from './runtime.ts';
import { running } from '../scenarios/scenario.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice, StartOptions } from '../support/sluice.ts';

const folder = path.join(import.meta.dirname, 'frameworks/socket.io');
const clients_count = 8;
const client_timeout_ms = 20_000;

/** As much of socket.io-client as is used here. */
interface Client {
  readonly connected: boolean;
  readonly io: { readonly engine: { readonly transport: { readonly name: string } } };
  on(event: 'welcome', listener: (pid: number) => void): this;
  on(event: 'connect_error', listener: (error: Error) => void): this;
  emit(event: 'exit'): this;
  timeout(ms: number): { emitWithAck(event: string, ...parts: unknown[]): Promise<unknown> };
  disconnect(): this;
}

interface ClientOptions {
  readonly transports?: readonly string[];
  readonly withCredentials?: boolean;
  readonly extraHeaders?: Readonly<Record<string, string>>;
  readonly reconnectionDelay?: number;
}

interface Connected {
  readonly client: Client;
  /** Processes that it was welcomed by, one after the other. */
  readonly pids: number[];
}

type Io = (url: string, options: ClientOptions & { forceNew: true; reconnection: boolean }) => Client;

async function connect(
  context: TestContext,
  sluice: Sluice,
  options: ClientOptions = {},
  reconnection = false,
): Promise<Connected> {
  const { io } = createRequire(path.join(folder, 'package.json'))('socket.io-client') as { io: Io };
  const client = io(sluice.url, { forceNew: true, reconnection, ...options });
  context.after(() => client.disconnect());
  const pids: number[] = [];
  await new Promise<void>((done, fail) => {
    setTimeout(() => fail(new Error('no welcome in time')), client_timeout_ms).unref();
    client.on('welcome', (pid) => {
      pids.push(pid);
      done();
    });
    if (!reconnection) client.on('connect_error', fail);
  });
  return { client, pids };
}

/** A gateway whose two workers are both ready. */
async function withTwo(context: TestContext, options: StartOptions): Promise<Sluice> {
  const sluice = await running(context, options);
  await eventually(async () => (await sluice.status()).workers.every(({ state }) => state === 'ready'), {
    deadlineMs: 60_000,
    what: 'two workers that are ready',
  });
  return sluice;
}

/** Several at once; each sends and gets a few messages. */
async function connectAll(
  context: TestContext,
  sluice: Sluice,
  optionsOf: (index: number) => ClientOptions,
): Promise<Connected[]> {
  const all = await Promise.all(
    Array.from({ length: clients_count }, (_, index) => connect(context, sluice, optionsOf(index))),
  );
  await Promise.all(all.map(({ client }, index) => talk(client, `client ${index}`)));
  return all;
}

async function talk(client: Client, text: string): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    const said = `${text}, ${turn}`;
    assert.equal(await client.timeout(client_timeout_ms).emitWithAck('echo', said), said);
  }
}

const entry = (name: string): Pick<StartOptions, 'entry' | 'cwd'> => ({
  entry: path.join(folder, name),
  cwd: folder,
});
const pidsOf = (all: readonly Connected[]): number => new Set(all.map(({ pids }) => pids[0])).size;

before(() => installIfStale(folder, ownRuntime.bin), { timeout: 10 * 60_000 });

void describe('Socket.IO with two workers and no setting', () => {
  for (const transports of [undefined, ['polling'], ['websocket'], ['polling', 'websocket']]) {
    void it(`serves ${clients_count} clients by ${transports?.join(' and ') ?? 'its default transports'}`, async (t) => {
      const sluice = await withTwo(t, entry('chat.js'));
      const all = await connectAll(t, sluice, () => (transports === undefined ? {} : { transports }));
      assert.equal(pidsOf(all), 2, 'both workers have clients');
      const upgraded = transports?.join() === 'polling' ? 'polling' : 'websocket';
      await eventually(() => all.every(({ client }) => client.io.engine.transport.name === upgraded), {
        deadlineMs: client_timeout_ms,
        what: `the transport ${upgraded}`,
      });
    });
  }

  void it('answers others while all its clients poll, because a poll holds no slot', async (t) => {
    const sluice = await withTwo(t, entry('chat.js'));
    const all = await connectAll(t, sluice, () => ({ transports: ['polling'] }));
    const page = await fetch(sluice.url, { signal: AbortSignal.timeout(client_timeout_ms) });
    assert.match(await page.text(), /^page of \d+\n$/);
    // Each poll stays open for its 25 s unless there is something to tell, which comes by another request.
    const pids = await Promise.all(
      all.map(({ client }) => client.timeout(client_timeout_ms).emitWithAck('later', 300)),
    );
    assert.deepEqual(
      pids,
      all.map(({ pids: [pid] }) => pid),
    );
    const { overlaps_total } = await sluice.status();
    assert.equal(overlaps_total, 0);
  });

  void it('connects the clients of a worker that dies again, with a new session', async (t) => {
    const sluice = await withTwo(t, entry('chat.js'));
    const options = { reconnectionDelay: 50 };
    const all = await Promise.all(
      Array.from({ length: clients_count }, (_, index) =>
        connect(t, sluice, index % 2 === 0 ? { ...options, transports: ['polling'] } : options, true),
      ),
    );
    const dead = all[0]?.pids[0];
    all[0]?.client.emit('exit');
    const lost = all.filter(({ pids }) => pids[0] === dead);
    await eventually(() => lost.every(({ pids, client }) => client.connected && pids.at(-1) !== dead), {
      deadlineMs: 60_000,
      what: 'a new session for each client of the dead worker',
    });
    await Promise.all(all.map(({ client }) => talk(client, 'after the crash')));
    for (const { pids } of all)
      if (pids[0] !== dead) assert.equal(pids.length, 1, 'others keep their session');
  });

  void it('connects all clients again after a reload', async (t) => {
    const sluice = await withTwo(t, entry('chat.js'));
    const all = await Promise.all(
      Array.from({ length: clients_count }, (_, index) =>
        connect(
          t,
          sluice,
          { reconnectionDelay: 50, ...(index % 2 === 0 ? { transports: ['polling'] } : {}) },
          true,
        ),
      ),
    );
    const old = new Set(all.map(({ pids: [pid] }) => pid));
    assert.equal((await sluice.cli(['reload'])).code, 0);
    await eventually(() => all.every(({ pids, client }) => client.connected && !old.has(pids.at(-1))), {
      deadlineMs: 60_000,
      what: 'a session in the new version for each client',
    });
    await Promise.all(all.map(({ client }) => talk(client, 'after the reload')));
  });
});

void describe('Socket.IO with two workers, sticky by cookie or address', () => {
  const config = (by: string): string =>
    `[workers]\nconcurrency = 50\n[sticky]\nby = "${by}"\n[server]\ntrusted_peers = ["127.0.0.1"]\n`;

  void it('serves clients by cookie', async (t) => {
    const sluice = await withTwo(t, { ...entry('chat.js'), config: config('cookie') });
    const all = await connectAll(t, sluice, () => ({ withCredentials: true }));
    assert.equal(pidsOf(all), 2, 'both workers have clients');
  });

  void it('serves clients by address', async (t) => {
    const sluice = await withTwo(t, { ...entry('chat.js'), config: config('address') });
    const all = await connectAll(t, sluice, (index) => ({
      extraHeaders: { 'X-Forwarded-For': `192.0.2.${17 * index}` },
    }));
    assert.equal(pidsOf(all), 2, 'both workers have clients');
  });
});

interface Me {
  pid: number;
  user: string | null;
  cookie: string;
}

/** A browser as far as it is one here: it keeps cookies, and comes from somewhere. */
class Browser {
  readonly cookies = new Map<string, string>();
  readonly #sluice: Sluice;
  readonly #address: string;

  constructor(sluice: Sluice, address: string) {
    this.#sluice = sluice;
    this.#address = address;
  }

  async ask(method: string, target: string): Promise<Response> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { 'x-forwarded-for': this.#address, ...(cookie === '' ? {} : { cookie }) };
    const response = await fetch(this.#sluice.url + target, {
      method,
      headers,
      signal: AbortSignal.timeout(client_timeout_ms),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) this.cookies.set(name, value);
    }
    return response;
  }

  async me(): Promise<Me> {
    return (await (await this.ask('GET', '/me')).json()) as Me;
  }
}

void describe('express-session in memory with two workers', () => {
  for (const by of ['cookie', 'address'] as const) {
    void it(`finds each session again by ${by}`, async (t) => {
      const config = `[server]\ntrusted_peers = ["127.0.0.1"]\n`;
      const sluice = await withTwo(t, {
        ...entry('login.js'),
        config,
        flags: ['--sticky', by, '--log-format', 'json'],
      });
      const browsers = Array.from({ length: 12 }, (_, index) => new Browser(sluice, `192.0.2.${17 * index}`));
      const pids = new Set<number>();
      await Promise.all(
        browsers.map(async (browser, index) => {
          assert.equal((await browser.ask('POST', `/login?user=${index}`)).status, 200);
          for (let turn = 0; turn < 20; turn += 1) {
            const me = await browser.me();
            assert.equal(me.user, String(index), `request ${turn} of user ${index}`);
            assert.doesNotMatch(me.cookie, /sluice=/, 'the app sees its own cookies alone');
            pids.add(me.pid);
          }
        }),
      );
      assert.equal(pids.size, 2, 'both workers have users');

      const [browser] = browsers;
      assert.ok(browser);
      const { pid } = await browser.me();
      await browser.ask('POST', '/exit').catch(() => undefined);
      const after = await browser.me();
      assert.notEqual(after.pid, pid);
      assert.equal(after.user, null, 'the session has gone with its worker');
      await browser.ask('POST', '/login?user=again');
      for (let turn = 0; turn < 5; turn += 1) {
        const me: Me = await browser.me();
        if (by === 'cookie') assert.equal(me.user, 'again');
      }
      await eventually(
        () => {
          const sessions = new Set(sluice.logs.map(({ session }) => session));
          return sessions.has('kept') && sessions.has('moved');
        },
        { deadlineMs: 10_000, what: 'log lines of sessions that were kept and moved' },
      );
      const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
      assert.match(metrics, /^sluice_session_requests_total\{session="kept"\} [1-9]/m);
    });
  }

  void it('loses them with neither, or these tests would show nothing', async (t) => {
    const sluice = await withTwo(t, entry('login.js'));
    const browser = new Browser(sluice, '192.0.2.1');
    const hold = new Browser(sluice, '192.0.2.2');
    await browser.ask('POST', '/login?user=1');
    const users = await Promise.all(Array.from({ length: 40 }, () => Promise.all([browser.me(), hold.me()])));
    assert.ok(users.some(([me]) => me.user === null));
  });
});

/** As much of Faye's client as is used here. */
interface FayeClient {
  disable(feature: 'websocket'): void;
  setHeader(name: string, value: string): void;
  addExtension(extension: {
    outgoing(message: { channel: string }, next: (message: unknown) => void): void;
  }): void;
  subscribe(channel: string, listener: (message: unknown) => void): PromiseLike<unknown>;
  publish(channel: string, message: unknown): PromiseLike<unknown>;
  disconnect(): unknown;
}

interface Faye {
  readonly Client: new (url: string) => FayeClient;
}

/** As much of Colyseus' client as is used here. */
interface Joined {
  readonly roomId: string;
  onMessage(type: 'echo', listener: (message: { text: string; pid: number }) => void): void;
  send(type: 'echo', text: string): void;
  leave(): Promise<unknown>;
}

interface Colyseus {
  readonly Client: new (url: string) => { joinOrCreate(room: string): Promise<Joined> };
}

const packages = createRequire(path.join(folder, 'package.json'));
const rooms_clients_count = 12;
const json_log = { flags: ['--log-format', 'json'] };

const notesOf = (sluice: Sluice, library: string): string[] =>
  sluice.logs.map(({ text }) => String(text)).filter((text) => text.startsWith(`${library} `));

void describe('Faye with two workers and no setting', () => {
  for (const transport of ['polling', 'websocket'] as const)
    void it(`serves ${clients_count} clients by ${transport}, each with one handshake`, async (t) => {
      const config = '[server]\ntrusted_peers = ["127.0.0.1"]\n';
      const sluice = await withTwo(t, { ...entry('faye.js'), ...json_log, config });
      const { Client } = packages('faye') as Faye;
      const handshakes = await Promise.all(
        Array.from({ length: clients_count }, async (_, index) => {
          const client = new Client(`${sluice.url}/faye`);
          t.after(() => client.disconnect());
          client.setHeader('X-Forwarded-For', `192.0.2.${17 * index}`);
          if (transport === 'polling') client.disable('websocket');
          let shaken = 0;
          client.addExtension({
            outgoing(message, next) {
              if (message.channel === '/meta/handshake') shaken += 1;
              next(message);
            },
          });
          const heard: unknown[] = [];
          await client.subscribe(`/channel-${index}`, (message) => heard.push(message));
          for (let turn = 0; turn < 5; turn += 1) await client.publish(`/channel-${index}`, { turn });
          await eventually(() => heard.length === 5, {
            deadlineMs: client_timeout_ms,
            what: `the messages of client ${index}, which heard ${heard.length}`,
          });
          return shaken;
        }),
      );
      assert.deepEqual(
        handshakes,
        Array.from({ length: clients_count }, () => 1),
      );
      assert.equal(notesOf(sluice, 'faye').length, 1);
      const workers = (): Set<unknown> =>
        new Set(
          sluice.logs.filter(({ target }) => String(target).startsWith('/faye')).map(({ worker }) => worker),
        );
      // A client hears an answer before the log has its line.
      await eventually(() => workers().size === 2, { what: 'lines of both workers' });
    });
});

void describe('Colyseus with two workers and no setting', () => {
  void it(`connects ${rooms_clients_count} clients to the workers that have their rooms`, async (t) => {
    const sluice = await withTwo(t, { ...entry('rooms.mjs'), ...json_log });
    const { Client } = packages('colyseus.js') as Colyseus;
    const work = new AbortController();
    // Requests go to the worker that is free: without these, the same one might answer all.
    const busy = Array.from({ length: 3 }, async () => {
      while (!work.signal.aborted) await (await fetch(`${sluice.url}/work`)).text();
    });
    const joined = await Promise.all(
      Array.from({ length: rooms_clients_count }, async (_, index) => {
        const room = await new Client(sluice.url).joinOrCreate('chat');
        t.after(() => room.leave());
        const answer = new Promise<{ text: string; pid: number }>((done) => room.onMessage('echo', done));
        room.send('echo', `client ${index}`);
        const { text, pid } = await answer;
        assert.equal(text, `client ${index}`);
        return { pid, room: room.roomId };
      }),
    ).finally(() => work.abort());
    await Promise.all(busy);
    const pids = new Map(joined.map(({ room, pid }) => [room, pid]));
    assert.ok(
      joined.every(({ room, pid }) => pids.get(room) === pid),
      'a room is in one process',
    );
    assert.equal(notesOf(sluice, 'colyseus').length, 1);
  });
});

void describe('what the log says of sessions in memory', () => {
  const login = async (t: TestContext, workers: number, flags: string[] = []): Promise<string[]> => {
    const sluice = await running(t, {
      ...entry('login.js'),
      workers,
      flags: [...json_log.flags, ...flags],
    });
    await eventually(async () => (await sluice.status()).workers.every(({ state }) => state === 'ready'), {
      deadlineMs: 60_000,
      what: 'workers that are ready',
    });
    assert.equal((await fetch(`${sluice.url}/me`)).status, 200);
    return notesOf(sluice, 'express-session');
  };

  void it('says once what to set, for all workers', async (t) => {
    const notes = await login(t, 3);
    assert.equal(notes.length, 1);
    assert.match(String(notes[0]), /sticky\.by = "cookie".*3 workers$/);
  });

  void it('says nothing with one worker', async (t) => assert.deepEqual(await login(t, 1), []));

  void it('says nothing where clients come back by cookie', async (t) =>
    assert.deepEqual(await login(t, 2, ['--sticky', 'cookie']), []));
});
