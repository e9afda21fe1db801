// A crawl by many users, each with a canary in the cookie, over raw connections: every byte of every answer, of its head and of what a
// cut one had, is searched for the canaries of others. It decodes nothing but chunks, so that a million answers take minutes.
import net from 'node:net';
import type { Random } from '../support/chance.ts';

const USERS = 100;
/** What each canary begins with; nothing else that is sent or answered has it. */
const CANARY = Buffer.from('user-');
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

interface Asked {
  target: string;
  method: string;
  /** Null for one without a cookie, who is to see no canary at all. */
  canary: Buffer | null;
  text: string;
  leavesAfter: number | null;
}

interface Head {
  status: number;
  length: number | null;
  isChunked: boolean;
  closes: boolean;
  cacheStatus: string;
}

export class Crawl {
  readonly leaks: string[] = [];
  /** How many answers had which `Cache-Status`, without its numbers. */
  readonly uses: Record<string, number> = {};
  answers = 0;
  cut = 0;
  readonly #port: () => number;
  readonly #targets: string[];
  readonly #random: Random;

  constructor(port: () => number, targets: string[], random: Random) {
    this.#port = port;
    this.#targets = targets;
    this.#random = random;
  }

  /** Asks on so many connections until there were so many answers, or nobody wants more. */
  async run(lanes: number, answers: number, goesOn: () => boolean = () => true): Promise<void> {
    const lane = async (): Promise<void> => {
      while (this.answers < answers && goesOn()) {
        await this.#connection(() => this.answers < answers && goesOn());
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  /** One connection, until either side ends it. */
  async #connection(goesOn: () => boolean): Promise<void> {
    const socket = net.connect({ port: this.#port(), host: '127.0.0.1', noDelay: true });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {});
    let asked = this.#next();
    let pieces: Buffer[] = [];
    let bytes = 0;
    let head: Head | null = null;
    const ended = (isCut: boolean): void => {
      if (bytes > 0) this.#judge(asked, head, Buffer.concat(pieces), isCut);
      [pieces, bytes, head] = [[], 0, null];
    };
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (asked.leavesAfter !== null && bytes > asked.leavesAfter) return socket.destroy();
      if (pieces.length > 1 && head === null) pieces = [Buffer.concat(pieces)];
      const [first] = pieces;
      if (head === null && first !== undefined) {
        const end = first.indexOf(HEAD_END);
        if (end < 0) return undefined;
        head = readHead(first.toString('latin1', 0, end), end + 4, asked.method);
      }
      if (head === null || !isWhole(head, pieces, bytes)) return undefined;
      const { closes } = head;
      ended(false);
      if (closes || !goesOn()) return socket.destroy();
      asked = this.#next();
      return socket.write(asked.text);
    });
    socket.once('close', () => ended(true));
    socket.write(asked.text);
    await closed;
  }

  #judge(asked: Asked, head: Head | null, answer: Buffer, isCut: boolean): void {
    this.answers += 1;
    if (isCut) this.cut += 1;
    const use = head?.cacheStatus ?? 'none';
    this.uses[use] = (this.uses[use] ?? 0) + 1;
    // A canary could stand across two chunks.
    const texts = head?.isChunked === true ? [answer, withoutChunks(answer)] : [answer];
    for (const text of texts) {
      for (let at = text.indexOf(CANARY); at >= 0; at = text.indexOf(CANARY, at + 1)) {
        const { canary } = asked;
        if (canary === null || !text.subarray(at, at + canary.length).equals(canary))
          this.leaks.push(
            `${String(canary)} ${asked.method} ${asked.target}: ${text.toString('latin1').slice(0, 2000)}`,
          );
      }
    }
  }

  #next(): Asked {
    const random = this.#random;
    const canary = `user-${random(USERS)}-`;
    const target = this.#targets[random(this.#targets.length)] ?? '/';
    const method = ['HEAD', 'POST'][random(40)] ?? 'GET';
    const fields = [`Host: app.test`, `Cookie: canary=${canary}`];
    let hasCanary = true;
    switch (random(12)) {
      case 0:
        fields.push('Range: bytes=2-30');
        break;
      case 1:
        fields.push('If-None-Match: "v1"');
        break;
      case 2:
        fields.push(`Authorization: Basic ${canary}`);
        break;
      case 3:
        fields.pop();
        hasCanary = false;
        break;
      case 4:
        fields.push('Accept-Encoding: gzip', `X-Forwarded-For: ${canary}`, `X-Original-URL: /${canary}`);
        break;
      default:
    }
    if (method === 'POST') fields.push('Content-Length: 0');
    const leavesAfter = random(50) === 0 ? random(600) : null;
    const text = `${method} ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`;
    return { target, method, canary: hasCanary ? Buffer.from(canary) : null, text, leavesAfter };
  }
}

function readHead(text: string, end: number, method: string): Head {
  const status = Number(text.slice(9, 12));
  const has = (pattern: RegExp): string | undefined => pattern.exec(text)?.[1];
  const hasBody = method !== 'HEAD' && status !== 304 && status !== 204;
  const length = has(/\r\ncontent-length: (\d+)/i);
  return {
    status,
    length: hasBody ? (length === undefined ? null : end + Number(length)) : end,
    isChunked: hasBody && /\r\ntransfer-encoding: chunked/i.test(text),
    closes: /\r\nconnection: close/i.test(text),
    cacheStatus: (has(/\r\ncache-status: ([^\r]*)/i) ?? 'none').replaceAll(/=-?\d+/g, ''),
  };
}

function isWhole(head: Head, pieces: Buffer[], bytes: number): boolean {
  if (head.isChunked) {
    const tail = Buffer.concat(pieces.slice(-2));
    return tail.length >= LAST_CHUNK.length && tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  }
  return head.length !== null && bytes >= head.length;
}

/** The body of a chunked answer, as far as it came. */
function withoutChunks(answer: Buffer): Buffer {
  const body: Buffer[] = [];
  let at = answer.indexOf(HEAD_END) + HEAD_END.length;
  while (at < answer.length) {
    const end = answer.indexOf('\r\n', at);
    const length = end < 0 ? Number.NaN : Number.parseInt(answer.toString('latin1', at, end), 16);
    if (!(length > 0)) break;
    body.push(answer.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(body);
}

const FOR_ALL = 'cc=public,max-age=1,stale-while-revalidate=2,stale-if-error=30';

/** What `apps/pages.js` answers for one, for those with the same cookie, and for all. */
export const TARGETS = [
  '/user',
  '/user?cc=private,max-age=60',
  '/user?cc=max-age=60',
  '/user?cc=no-cache',
  '/user?cc=no-store',
  '/user?cc=public,max-age=60&h=set-cookie:a=b',
  '/user?cc=public,max-age=60&h=vary:*',
  '/user?h=expires:Thu,%2001%20Jan%202099%2000:00:00%20GMT',
  // Varied.
  '/user?cc=public,max-age=2&h=vary:cookie',
  // For longer, so that it is written to disk.
  '/user?cc=public,max-age=60&h=vary:cookie',
  '/user?cc=s-maxage=1,stale-while-revalidate=1&h=vary:accept,cookie',
  // For all.
  ...[0, 1, 2, 3].map((at) => `/page?${FOR_ALL}&at=${at}`),
  ...[0, 1, 2, 3, 4, 5].map((at) => `/large?bytes=30000&cc=s-maxage=60&at=${at}`),
  `/stream?ms=20&${FOR_ALL}`,
  `/failing?${FOR_ALL}`,
  `/validated?${FOR_ALL}`,
  `/truncated?${FOR_ALL}`,
  `/large?bytes=20000&${FOR_ALL}`,
  // For one or for all, as it comes.
  ...[0, 1, 2].map((at) => `/moody?${FOR_ALL}&at=${at}`),
  `/moody?${FOR_ALL}&h=vary:accept`,
  // For all, with each user's own parts put in.
  '/composed',
  '/composed?at=1',
];
