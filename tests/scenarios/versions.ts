// What scenarios of reloads share: an app whose next version a test can choose, and clients that never stop asking.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { ask, ownApp, statusWhen } from './scenario.ts';

/** What `apps/versioned.js` does when it is started. */
export interface Version {
  version: string;
  throws?: string;
  never_listens?: boolean;
  listens_after_ms?: number;
  ready_after_ms?: number;
  works_ms?: number;
  fails_at?: string;
  hangs_at?: string;
  dies_at?: string;
  ignores_sigterm?: boolean;
}

export interface WarmUp {
  version: string;
  pid: number;
  url: string;
  headers: Record<string, string>;
}

/** The app, with its first version. */
export class Versions {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-versions-'));
  readonly app = ownApp('versioned.js');
  readonly env: Record<string, string>;

  constructor(context: TestContext, first: Version) {
    this.env = { VERSION_FILE: path.join(this.dir, 'version.json') };
    this.next(first);
    context.after(() => {
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
  }

  /** Workers that start from now on are of this version. */
  next(version: Version): void {
    const file = path.join(this.dir, 'version.json');
    fs.writeFileSync(`${file}.new`, JSON.stringify(version));
    fs.renameSync(`${file}.new`, file);
  }

  /** The requests that warmed workers, in order. */
  get warmUps(): WarmUp[] {
    const file = path.join(this.dir, 'version.json.warm');
    const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
    return lines.map((line) => JSON.parse(line) as WarmUp);
  }
}

/** Clients that ask one request after the other until told to end; half of them with a connection for each. */
export class Load {
  readonly #answers = new Map<string, number>();
  readonly #clients: Promise<void>[];
  readonly #agents: http.Agent[] = [];
  #ended = false;

  constructor(context: TestContext, sluice: Sluice, { clients = 4, target = '/' } = {}) {
    this.#clients = Array.from({ length: clients }, (_, number) => {
      const agent = new http.Agent({ keepAlive: number % 2 === 0, maxSockets: 1 });
      this.#agents.push(agent);
      return this.#client(agent, `${sluice.url}${target}`);
    });
    context.after(() => this.end());
  }

  /** How often each version answered, and how often anything else happened. */
  async end(): Promise<Record<string, number>> {
    this.#ended = true;
    await Promise.all(this.#clients);
    for (const agent of this.#agents) agent.destroy();
    return Object.fromEntries(this.#answers);
  }

  /** Waits until this answer has come so often. */
  async has(answer: string, count = 1): Promise<void> {
    await eventually(() => (this.#answers.get(answer) ?? 0) >= count, { what: `${count} answers ${answer}` });
  }

  async #client(agent: http.Agent, url: string): Promise<void> {
    while (!this.#ended) {
      const answer = await get(agent, url).catch((error: unknown) => String(error));
      this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
    }
  }
}

function get(agent: http.Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, timeout: 15_000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (body += piece));
      response.on('error', reject);
      response.on('end', () => {
        resolve(response.statusCode === 200 ? body : `status ${response.statusCode} ${body}`);
      });
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 15 s')));
    request.on('error', reject);
  });
}

/** The version that answers now. */
export const answering = async (sluice: Sluice): Promise<string> => (await ask(sluice, '/')).body.toString();

/** Waits until so many workers of this generation, and none of another, take requests. */
export async function allOf(sluice: Sluice, generation: number, workers: number): Promise<Snapshot> {
  return statusWhen(
    sluice,
    (now) =>
      now.workers.length === workers &&
      now.workers.every(
        (worker) => worker.generation === generation && (worker.state === 'ready' || worker.state === 'busy'),
      ),
    `${workers} workers of generation ${generation}`,
    20_000,
  );
}

/** Reloads, and expects that to end well. */
export async function reload(sluice: Sluice): Promise<string> {
  const { code, stdout, stderr } = await sluice.cli(['reload']);
  assert.equal(code, 0, stderr);
  return stdout;
}
