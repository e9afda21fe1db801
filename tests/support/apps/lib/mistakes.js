// Mistakes that apps make with their answers, each by a name. Every byte of an answer repeats the canary that its request
// came with, so that whoever finds another request's canary in an answer has found that request's bytes.
'use strict';

/** What bodies are made of: one character of it has two bytes, so that counting characters counts wrong. */
const unitOf = (canary) => `${canary}é;`;

/** So many bytes of the canary, over and over. */
function repeated(canary, bytes) {
  const unit = Buffer.from(unitOf(canary));
  return Buffer.alloc(bytes, unit);
}

/** A whole answer as bytes, for those that write past `response`. */
function wholeAnswer(canary, bytes, status = '200 OK') {
  const head = `HTTP/1.1 ${status}\r\nx-canary: ${canary}\r\ncontent-length: ${bytes}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), repeated(canary, bytes)]);
}

const later = (ms, act) => setTimeout(act, ms);

/** Announces `bytes`, and sends all of them but not `end()`. */
function announced({ response, canary, bytes }) {
  response.writeHead(200, { 'x-canary': canary, 'content-length': bytes });
  response.write(repeated(canary, bytes));
}

const mistakes = {
  // Late.
  'late-end': (asked) => {
    announced(asked);
    later(asked.gap_ms, () => asked.response.end());
  },
  'late-bytes': (asked) => {
    const { response, canary, bytes, gap_ms } = asked;
    const text = unitOf(canary).repeat(Math.ceil(bytes / unitOf(canary).length));
    // Characters, where bytes are wanted.
    response.writeHead(200, { 'x-canary': canary, 'content-length': text.length });
    const whole = Buffer.from(text);
    response.write(whole.subarray(0, text.length));
    later(gap_ms, () => response.end(whole.subarray(text.length)));
  },
  'late-answer': (asked) => {
    announced(asked);
    later(asked.gap_ms, () => asked.response.end(wholeAnswer(asked.canary, asked.bytes)));
  },
  'late-writes': (asked) => {
    asked.response.on('error', () => {});
    announced(asked);
    for (let at = 1; at <= 5; at++) later(at * asked.gap_ms, () => asked.response.write(asked.canary));
    later(6 * asked.gap_ms, () => asked.response.end());
  },
  'late-raw-answer': ({ response, canary, bytes, gap_ms }) => {
    const { socket } = response;
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes));
    later(gap_ms, () => socket.write(wholeAnswer(canary, bytes)));
  },
  'late-interim': ({ response, canary, bytes, gap_ms }) => {
    const { socket } = response;
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes));
    later(gap_ms, () => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: <${canary}>\r\n\r\n`));
  },
  'write-after-end': ({ response, canary, bytes, gap_ms }) => {
    response.on('error', () => {});
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes));
    response.write(canary);
    later(gap_ms, () => response.write(repeated(canary, bytes)));
  },
  'write-after-close': ({ response, canary, bytes, gap_ms }) => {
    const { socket } = response;
    response.on('error', () => {});
    const write = () => {
      response.write(repeated(canary, bytes));
      if (!socket.destroyed) socket.write(wholeAnswer(canary, bytes));
    };
    response.on('close', () => later(gap_ms, write));
    response.writeHead(200, { 'x-canary': canary });
    response.write(canary);
    later(3 * gap_ms, () => response.end());
  },

  // Too short, too long.
  short: ({ response, canary, bytes }) => {
    response.writeHead(200, { 'x-canary': canary, 'content-length': 2 * bytes });
    response.end(repeated(canary, bytes));
  },
  'short-late-end': ({ response, canary, bytes, gap_ms }) => {
    response.writeHead(200, { 'x-canary': canary, 'content-length': 2 * bytes });
    response.write(repeated(canary, bytes));
    later(gap_ms, () => response.end());
  },
  long: ({ response, canary, bytes }) => {
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes });
    response.end(repeated(canary, 2 * bytes));
  },
  'long-by-an-answer': ({ response, canary, bytes }) => {
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes });
    response.end(Buffer.concat([repeated(canary, bytes), wholeAnswer(canary, bytes)]));
  },

  // Twice.
  double: ({ response, canary, bytes }) => {
    response.on('error', () => {});
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes));
    try {
      response.writeHead(500, { 'x-canary': canary }).end(repeated(canary, bytes));
    } catch {
      // Node says that the headers are sent; such an app has caught that and goes on.
      response.end(repeated(canary, bytes));
    }
  },
  'raw-twice': ({ response, canary, bytes }) => {
    const answer = wholeAnswer(canary, bytes);
    response.socket.write(Buffer.concat([answer, answer]));
  },
  'raw-then-own': ({ response, canary, bytes }) => {
    response.socket.write(wholeAnswer(canary, bytes));
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes));
  },
  'own-then-raw': ({ response, canary, bytes }) => {
    const { socket } = response;
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes));
    socket.write(wholeAnswer(canary, bytes));
  },

  // Past `response`, or not HTTP.
  raw: ({ response, canary, bytes }) => response.socket.write(wholeAnswer(canary, bytes)),
  'raw-in-body': ({ response, canary, bytes, gap_ms }) => {
    response.writeHead(200, { 'x-canary': canary, 'transfer-encoding': 'chunked' });
    response.write(repeated(canary, bytes));
    response.socket.write(canary);
    later(gap_ms, () => response.end());
  },
  garbage: ({ response, canary }) => response.socket.write(`${canary} is not HTTP\r\n\r\n`),
  'two-lengths': ({ response, canary, bytes }) =>
    response.socket.write(
      `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\ncontent-length: 1\r\n\r\n${repeated(canary, bytes)}`,
    ),
  'length-and-chunks': ({ response, canary }) =>
    response.socket.write(
      `HTTP/1.1 200 OK\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n17\r\n${canary}\r\n0\r\n\r\n`,
    ),
  'body-of-head': ({ response, canary, bytes }) => response.socket.write(wholeAnswer(canary, bytes)),
  'body-of-204': ({ response, canary, bytes }) =>
    response.socket.write(wholeAnswer(canary, bytes, '204 No Content')),
  'body-of-304': ({ response, canary, bytes }) =>
    response.socket.write(wholeAnswer(canary, bytes, '304 Not Modified')),
  'late-body-of-204': ({ response, canary, bytes, gap_ms }) => {
    const { socket } = response;
    response.writeHead(204, { 'x-canary': canary }).end();
    later(gap_ms, () => socket.write(repeated(canary, bytes)));
  },
  'half-a-head': ({ response, canary }) => response.socket.write(`HTTP/1.1 200 OK\r\nx-canary: ${canary}`),
  trailers: ({ response, canary, bytes }) => {
    response.writeHead(200, { 'x-canary': canary, trailer: 'x-end' });
    response.write(repeated(canary, bytes));
    response.addTrailers({ 'x-end': canary });
    response.end();
  },

  // Never, or not to the end.
  none: () => {},
  'head-only': ({ response, canary, bytes }) => {
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes });
    response.flushHeaders();
  },
  close: ({ response }) => response.socket.destroy(),
  'close-in-body': (asked) => {
    asked.response.writeHead(200, { 'x-canary': asked.canary, 'content-length': 2 * asked.bytes });
    asked.response.write(repeated(asked.canary, asked.bytes), () => asked.response.socket?.destroy());
  },
  'half-close-in-body': ({ response, canary, bytes }) => {
    response.writeHead(200, { 'x-canary': canary, 'content-length': 2 * bytes });
    response.write(repeated(canary, bytes), () => response.socket?.end());
  },
  'chunk-cut': ({ response, canary }) =>
    response.socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n${canary}`),
  'stops-on-close': ({ request, response, canary, gap_ms }) => {
    response.writeHead(200, { 'x-canary': canary });
    const timer = setInterval(() => response.write(canary), gap_ms);
    request.once('close', () => clearInterval(timer));
    response.once('close', () => clearInterval(timer));
    later(20 * gap_ms, () => response.end());
  },
  // Answers before it has read what was sent to it.
  unread: ({ response, canary, bytes }) =>
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes)),

  // Deadly: the process does not survive them.
  'throws-after-head': ({ response, canary, bytes }) => {
    response.writeHead(200, { 'x-canary': canary, 'content-length': 2 * bytes });
    response.write(repeated(canary, bytes), () => {
      throw new Error('thrown on purpose');
    });
  },
  'exits-before-head': () => process.exit(7),
};

/** Answers without a mistake, for those beside whom the mistakes are made. */
const innocent = {
  '/whole/length': ({ response, canary, bytes }) =>
    response.writeHead(200, { 'x-canary': canary, 'content-length': bytes }).end(repeated(canary, bytes)),
  '/whole/chunked': ({ response, canary, bytes, gap_ms }) => {
    response.writeHead(200, { 'x-canary': canary });
    const whole = repeated(canary, bytes);
    response.write(whole.subarray(0, bytes >> 1));
    later(gap_ms, () => response.end(whole.subarray(bytes >> 1)));
  },
  '/whole/posted': async ({ request, response, canary }) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    response.writeHead(200, { 'x-canary': canary }).end(Buffer.concat(pieces));
  },
};

/** The handler of this path, bound to the request, or nothing where the path is another's. */
function answerOf(request, response) {
  const url = new URL(request.url, 'http://app');
  const name = url.pathname.startsWith('/mistake/') ? url.pathname.slice('/mistake/'.length) : undefined;
  const table = name === undefined ? innocent : mistakes;
  const key = name ?? url.pathname;
  if (!Object.hasOwn(table, key)) return undefined;
  const number = (key, fallback) => Number(url.searchParams.get(key) ?? fallback);
  const asked = {
    request,
    response,
    canary: url.searchParams.get('canary') ?? 'canary-0000000000000000',
    bytes: number('bytes', 200),
    gap_ms: number('gap_ms', 4),
  };
  return () => table[key](asked);
}

/** Upgrades: `unanswered` stays open without a word, the others are refused raw and left open, or taken and echoed late. */
function upgrade(request, socket) {
  socket.on('error', () => {});
  const url = new URL(request.url, 'http://app');
  const canary = url.searchParams.get('canary') ?? '';
  if (url.pathname === '/mistake/upgrade-unanswered') return;
  if (url.pathname === '/mistake/upgrade-refused-open') {
    socket.write(wholeAnswer(canary, 100, '400 Bad Request'));
    return;
  }
  if (url.pathname === '/mistake/upgrade-late-bytes') {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    later(4, () => socket.write(canary, () => socket.destroy()));
    return;
  }
  socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
}

module.exports = { answerOf, upgrade };
