// The clients of `mixed-faults.test.ts`, who judge every answer, and its reader of a log that grows for half an hour. It
// must not know which faults there are.
import fs from 'node:fs';
import http from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as wait } from 'node:timers/promises';
import { type Random, randomFrom } from '../support/chance.ts';
import type { Sluice } from '../support/sluice.ts';

/** What came instead of an answer. */
export interface Failure {
  method: string;
  target: string;
  what: string;
}

interface Answer {
  status: number;
  code: string;
  retryAfter: string;
  body: string;
}

const ANSWER_DEADLINE_MS = 45_000;

/** Clients that ask until told to end: a third each on kept connections, on kept ones with pauses, and on new ones. */
export class Clients {
  asked = 0;
  shed = 0;
  /** Targets of those that a worker died with. */
  readonly ordersLost: string[] = [];
  readonly answers: Record<string, number> = {};
  /** What has no excuse, or one that only the log can give. */
  readonly failures: Failure[] = [];
  readonly #url: string;
  readonly #clients: Promise<void>[];
  #ended = false;

  constructor(sluice: Sluice, count: number, random: Random) {
    this.#url = sluice.url;
    this.#clients = Array.from({ length: count }, (_, number) =>
      this.#client(number, randomFrom(random(2 ** 31))),
    );
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#clients);
  }

  /** One request that never ends by itself. */
  loop(): void {
    this.#clients.push(this.#judged('GET', `/loop?n=${this.asked}`, new http.Agent(), ''));
  }

  async #client(number: number, random: Random): Promise<void> {
    const agent = new http.Agent({ keepAlive: number % 3 !== 0, maxSockets: 1 });
    while (!this.#ended) {
      // Each target is asked for once: two random kills must not make a poison of one that many ask for.
      const id = `n=${this.asked}&ms=${random(12)}`;
      const kind = random(10);
      if (kind < 4) await this.#judged('POST', `/order?${id}`, agent, 'x'.repeat(1 + random(3_000)));
      else if (kind < 5) await this.#judged('GET', `/begun?${id}`, agent, '');
      else await this.#judged('GET', `/page?${id}`, agent, '');
      if (number % 3 === 1) await wait(random(200));
    }
    agent.destroy();
  }

  async #judged(method: string, target: string, agent: http.Agent, body: string): Promise<void> {
    this.asked += 1;
    let what: string;
    try {
      const answer = await this.#answerTo(method, target, agent, body);
      what = `${answer.status} ${answer.code}`.trim();
      if (answer.status === 503 && answer.code !== 'SLU-DRAINING' && /^[1-9]\d*$/.test(answer.retryAfter)) {
        this.shed += 1;
        await wait(50);
      } else if (method === 'POST' && what === '502 SLU-WORKER-DIED') {
        this.ordersLost.push(target);
      } else if (target.startsWith('/loop') && /^50[24] SLU-WORKER-(STUCK|DIED)$/.test(what)) {
        what = `loop ${what}`;
      } else if (answer.status !== 200 || answer.body !== expected(target, body)) {
        this.failures.push({ method, target, what: `${what} ${JSON.stringify(answer.body)}` });
      }
    } catch (error) {
      what = target.startsWith('/begun') && error instanceof Cut ? 'cut' : String(error);
      if (what !== 'cut') this.failures.push({ method, target, what });
    }
    const kind = `${method} ${what}`;
    this.answers[kind] = (this.answers[kind] ?? 0) + 1;
  }

  #answerTo(method: string, target: string, agent: http.Agent, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-length': body.length };
      const request = http.request(`${this.#url}${target}`, { method, agent, headers }, (response) => {
        const field = (name: string) => String(response.headers[name] ?? '');
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (received += piece));
        response.on('error', () => {
          reject(new Cut(`cut after ${JSON.stringify(received)}`));
        });
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          resolve({
            status,
            code: field('x-sluice-error'),
            retryAfter: field('retry-after'),
            body: received,
          });
        });
      });
      request.setTimeout(ANSWER_DEADLINE_MS, () => request.destroy(new Error('no answer in time')));
      request.on('error', reject);
      request.end(body);
    });
  }
}

/** An answer that had begun has ended early. */
class Cut extends Error {}

function expected(target: string, body: string): string {
  if (target.startsWith('/order')) return `${body.length}\n`;
  return target.startsWith('/begun') ? 'half half\n' : 'page\n';
}

/** The gateway's log, read piece by piece; of the access log only what failed is kept. */
export class Log {
  readonly events: Record<string, number> = {};
  readonly #file: number;
  readonly #triedTwice = new Set<string>();

  constructor(file: string) {
    this.#file = fs.openSync(file, 'r');
  }

  /** Reads what there is. The last line is whole once the gateway has gone. */
  read(): void {
    const [piece, decoder] = [Buffer.alloc(1 << 20), new StringDecoder('utf8')];
    let rest = '';
    for (;;) {
      const count = fs.readSync(this.#file, piece);
      if (count === 0) break;
      const lines = (rest + decoder.write(piece.subarray(0, count))).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#line(line);
    }
    fs.closeSync(this.#file);
  }

  /** Whether two workers died with this GET, so that it was promised no third. */
  diedTwice({ method, target, what }: Failure): boolean {
    return method === 'GET' && what.startsWith('502 SLU-WORKER-DIED') && this.#triedTwice.has(target);
  }

  #line(text: string): void {
    if (!text.startsWith('{') || !text.endsWith('}')) return;
    const line = JSON.parse(text) as Record<string, unknown>;
    const event = String(line['event']);
    this.events[event] = (this.events[event] ?? 0) + 1;
    if (event === 'access' && line['tries'] === 2) this.#triedTwice.add(String(line['target']));
  }
}
