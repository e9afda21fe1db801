// Makes mistakes with answers. Each carries the word that its request came with, and nobody else's.
const { createServer } = require('node:http');

const faults = {
  // Counts characters, and writes in two pieces: the announced length ends within the second one.
  long: (response, word, gapMs) => {
    const text = `é${'é'.repeat(200)}${word}`;
    response.setHeader('content-length', text.length);
    response.write(text.slice(0, text.length / 2));
    setTimeout(() => response.end(text.slice(text.length / 2)), gapMs);
  },
  // All that was announced at once, and the rest later.
  late: (response, word, gapMs) => {
    response.setHeader('content-length', word.length);
    response.write(word);
    setTimeout(() => {
      response.write(`HTTP/1.1 200 OK\r\ncontent-length: ${word.length}\r\n\r\n${word}`);
      response.end();
    }, gapMs);
  },
  short: (response, word) => {
    response.writeHead(200, { 'content-length': word.length + 10 });
    response.end(word);
  },
  raw: (response, word) => {
    response.socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${word.length}\r\n\r\n${word}`);
  },
  // An honest answer, and something behind it on the connection itself.
  behind: (response, word, gapMs) => {
    const { socket } = response;
    response.end(word);
    setTimeout(() => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${word.length}\r\n\r\n${word}`);
    }, gapMs);
  },
  hints: (response, word) => {
    response.writeEarlyHints({ link: `</${word}.css>; rel=preload` }, () => response.end(word));
  },
  head: (response, word) => {
    response.writeHead(200, { 'content-length': 5 });
    response.write(`${word} too much`);
    response.end();
  },
};

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  const fault = faults[pathname.slice(1)];
  const word = searchParams.get('word') ?? '';
  if (fault === undefined) response.end(`good ${word}`);
  else fault(response, word, Number(searchParams.get('gap') ?? 4));
}).listen(process.env.PORT ?? 3000);
