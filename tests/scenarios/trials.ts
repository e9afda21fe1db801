// What scenarios of releases on trial share: a site with many visitors, and the version that each gets.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ownApp, running } from './scenario.ts';
import { allOf } from './versions.ts';

export interface Version {
  version: string;
  units?: number;
  fails_every?: number;
  dies_after?: number;
  leaks_bytes?: number;
  fails_at?: string;
  heading?: string;
}

export interface Trial {
  generation: number;
  state: string;
  reason: string | null;
  share: number | null;
  requests: number;
  requests_present: number;
  compared_s: number;
  lasts_s: number;
  html: {
    compared: number;
    differing: number;
    unclear: number;
    classes: {
      class: string;
      compared: number;
      differing: number;
      path: string | null;
      trial: string | null;
    }[];
  } | null;
  findings: { measure: string; verdict: string; change: number | null; sure: number }[];
}

const FIRST: Version = { version: 'one' };
export const VISITORS = 200;
export const byAddress = '[server]\ntrusted_peers = ["127.0.0.1"]\n';
const address = (visitor: number): string => `10.0.${visitor >> 8}.${visitor & 255}`;

export class Site {
  readonly file: string;
  readonly sluice: Sluice;

  private constructor(file: string, sluice: Sluice) {
    this.file = file;
    this.sluice = sluice;
  }

  /** The version that workers of now on would be of. */
  get current(): Version {
    return JSON.parse(fs.readFileSync(this.file, 'utf8')) as Version;
  }

  static async start(
    t: TestContext,
    { config = byAddress, workers = 2, version = FIRST } = {},
  ): Promise<Site> {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-trial-'));
    t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    const file = path.join(dir, 'version.json');
    fs.writeFileSync(file, JSON.stringify(version));
    const sluice = await running(t, {
      entry: ownApp('trial.cjs'),
      workers,
      config,
      env: { VERSION_FILE: file },
    });
    await allOf(sluice, 1, workers);
    return new Site(file, sluice);
  }

  next(version: Version): void {
    fs.writeFileSync(`${this.file}.new`, JSON.stringify(version));
    fs.renameSync(`${this.file}.new`, this.file);
  }

  async trial(): Promise<Trial | null> {
    const { code, stdout, stderr } = await this.sluice.cli(['canary', '--json']);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Trial | null;
  }

  async until(state: string): Promise<Trial> {
    return eventually(
      async () => {
        const trial = await this.trial();
        return trial?.state === state ? trial : undefined;
      },
      { deadlineMs: 40_000, what: `a trial that is ${state}` },
    );
  }
}

export interface Got {
  status: number;
  version: string;
  cookie: string;
  body: string;
}

export function get(
  site: Site,
  target: string,
  headers: http.OutgoingHttpHeaders,
  agent: http.Agent,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.get(
      `${site.sluice.url}${target}`,
      { agent, headers, timeout: 20_000 },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (body += piece));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            version: String(response.headers['x-version']),
            cookie: (response.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; '),
            body,
          });
        });
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer within 20 s')));
    request.on('error', reject);
  });
}

/** Visitors who ask one page after the other until told to end. */
export class Visitors {
  readonly failures: string[] = [];
  statuses = new Map<number, number>();
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  readonly #clients: Promise<void>[];
  #ended = false;

  /** Without `each`, the same visitors come again and again; with it, each asks so often and another one comes. */
  constructor(t: TestContext, site: Site, { each = 0 } = {}) {
    this.#clients = Array.from({ length: 4 }, (_, at) => this.#client(site, at, each));
    t.after(() => this.end());
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }

  async #client(site: Site, at: number, each: number): Promise<void> {
    for (let number = at; !this.#ended; number += 7) {
      const visitor = each > 0 ? Math.floor(number / each) % 65_536 : number % VISITORS;
      const headers = { 'x-forwarded-for': address(visitor) };
      try {
        const { status } = await get(site, `/page${number % 3}`, headers, this.#agent);
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      } catch (error) {
        this.failures.push(String(error));
      }
    }
  }

  /** Nothing but answers of the app came. */
  assertWhole(): void {
    assert.deepEqual(this.failures, []);
    assert.deepEqual([...this.statuses.keys()], [200]);
  }
}

export const agent = new http.Agent({ keepAlive: true, timeout: 5_000 });

/** The version that each visitor gets, in the order of their numbers. */
export async function versionsOf(site: Site, target = '/'): Promise<string[]> {
  const versions: string[] = [];
  for (let visitor = 0; visitor < VISITORS; visitor += 1) {
    versions.push((await get(site, target, { 'x-forwarded-for': address(visitor) }, agent)).version);
  }
  return versions;
}

export const count = (versions: string[], version: string): number =>
  versions.filter((one) => one === version).length;
