// Requests that must be refused: what is sent, and the error that comes back before the connection is closed.

import { bounds } from '../support/bounds.ts';

/** The status that each error code stands for. */
export const statusOf = {
  'SLU-BODY-TOO-LARGE': 413,
  'SLU-CHUNK-MALFORMED': 400,
  'SLU-CODING-UNKNOWN': 501,
  'SLU-EXPECTATION-UNKNOWN': 417,
  'SLU-HEAD-MALFORMED': 400,
  'SLU-HEADER-ALIAS': 400,
  'SLU-HEADERS-TOO-LARGE': 431,
  'SLU-HEADERS-TOO-MANY': 431,
  'SLU-HOST-INVALID': 400,
  'SLU-LENGTH-INVALID': 400,
  'SLU-METHOD-UNSUPPORTED': 501,
  'SLU-TARGET-INVALID': 400,
  'SLU-TARGET-TOO-LONG': 414,
  'SLU-VERSION-UNSUPPORTED': 505,
} as const;

type Code = keyof typeof statusOf;

/** What is special about a request, the bytes that are, and the error where it is not that of the whole group. */
type Row = [string, string, Code?];

export interface Refused {
  name: string;
  send: string;
  code: Code;
  /** Requests before the refused one that are answered. */
  answered?: number;
}

/** Limits that the requests below are written for. */
export const limits: Record<string, string> = {
  SLUICE_SERVER_BODY_BYTES_MAX: '1000',
  SLUICE_SERVER_HEADERS_BYTES_MAX: '4000',
  ...bounds({ request_line_bytes_max: 2000, headers_count_max: 20 }),
};

const get = (lines: string, target = '/refused'): string =>
  `GET ${target} HTTP/1.1\r\nHost: app\r\n${lines}\r\n`;
const post = (lines: string, body: string): string =>
  `POST /refused HTTP/1.1\r\nHost: app\r\n${lines}\r\n${body}`;
const chunked = (body: string): string => post('Transfer-Encoding: chunked\r\n', body);
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: app\r\n\r\n';

const lengths: Refused[] = (
  [
    ['two lengths that agree', 'Content-Length: 5\r\nContent-Length: 5\r\n'],
    ['two lengths that conflict', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
    ['a list of lengths that agree', 'Content-Length: 5, 5\r\n'],
    ['a list of lengths that conflict', 'Content-Length: 5,6\r\n'],
    ['a length with a plus', 'Content-Length: +5\r\n'],
    ['a length with a minus', 'Content-Length: -5\r\n'],
    ['a negative zero', 'Content-Length: -0\r\n'],
    ['a length in hexadecimal', 'Content-Length: 0x5\r\n'],
    ['a length with an exponent', 'Content-Length: 5e0\r\n'],
    ['a length with a fraction', 'Content-Length: 5.0\r\n'],
    ['a length with a space inside', 'Content-Length: 5 5\r\n'],
    ['a length with an underscore', 'Content-Length: 5_0\r\n'],
    ['a length in quotes', 'Content-Length: "5"\r\n'],
    ['an empty length', 'Content-Length:\r\n'],
    ['a length beyond 64 bits', 'Content-Length: 18446744073709551621\r\n'],
    ['a length after a tab', 'Content-Length:\t5\r\n'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'],
    ['a length and an unknown coding', 'Content-Length: 5\r\nTransfer-Encoding: identity\r\n'],
    ['white space between name and colon', 'Content-Length : 5\r\n', 'SLU-HEAD-MALFORMED'],
    ['a tab between name and colon', 'Content-Length\t: 5\r\n', 'SLU-HEAD-MALFORMED'],
  ] as Row[]
).map(([name, lines, code = 'SLU-LENGTH-INVALID']) => ({
  name,
  send: post(lines, `hello${smuggled}`),
  code,
}));

const codings: Refused[] = (
  [
    ['an unknown coding', 'xchunked', 'SLU-CODING-UNKNOWN'],
    ['identity', 'identity', 'SLU-CODING-UNKNOWN'],
    ['gzip before chunked', 'gzip, chunked', 'SLU-CODING-UNKNOWN'],
    ['chunked before gzip', 'chunked, gzip'],
    ['chunked twice in a list', 'chunked, chunked'],
    ['chunked with an empty element', 'chunked,'],
    ['an empty element before chunked', ', chunked'],
    ['chunked in quotes', '"chunked"'],
    ['chunked with a parameter', 'chunked;q=1'],
    ['chunked with a vertical tab', '\x0bchunked', 'SLU-HEAD-MALFORMED'],
    ['chunked with a NUL', 'chunked\x00', 'SLU-HEAD-MALFORMED'],
    ['chunked with a letter beyond ASCII', 'chun\xe9ked'],
    ['chunked after a tab', '\tchunked'],
    ['chunked before a tab', 'chunked\t'],
    ['an empty coding', ''],
    ['a folded coding', '\r\n chunked', 'SLU-HEAD-MALFORMED'],
    ['chunked folded with another', 'chunked\r\n , identity', 'SLU-HEAD-MALFORMED'],
    ['a bare CR before chunked', '\rchunked', 'SLU-HEAD-MALFORMED'],
    ['a bare LF before chunked', '\nchunked', 'SLU-HEAD-MALFORMED'],
  ] as Row[]
).map(([name, value, code = 'SLU-LENGTH-INVALID']) => ({
  name: `transfer coding: ${name}`,
  send: post(`Transfer-Encoding: ${value}\r\n`, `0\r\n\r\n${smuggled}`),
  code,
}));

const codingLines: Refused[] = (
  [
    ['two lines of chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
    ['chunked and identity in two lines', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
    ['white space before its colon', 'Transfer-Encoding : chunked\r\n', 'SLU-HEAD-MALFORMED'],
    ['its name after white space', ' Transfer-Encoding: chunked\r\n', 'SLU-HEAD-MALFORMED'],
    [
      'its name after a line that is folded',
      'X-A: b\r\n Transfer-Encoding: chunked\r\n',
      'SLU-HEAD-MALFORMED',
    ],
    ['an underscore in its name', 'Transfer_Encoding: chunked\r\n', 'SLU-HEADER-ALIAS'],
    ['a NUL in its name', 'Transfer-Encoding\x00: chunked\r\n', 'SLU-HEAD-MALFORMED'],
    ['a bare CR before its name', 'X-A: b\rTransfer-Encoding: chunked\r\n', 'SLU-HEAD-MALFORMED'],
    ['a bare LF before its name', 'X-A: b\nTransfer-Encoding: chunked\r\n', 'SLU-HEAD-MALFORMED'],
  ] as Row[]
).map(([name, lines, code = 'SLU-LENGTH-INVALID']) => ({
  name: `transfer coding: ${name}`,
  send: post(lines, `0\r\n\r\n${smuggled}`),
  code,
}));

const chunks: Refused[] = (
  [
    ['a bare semicolon', '5;\r\nhello\r\n0\r\n\r\n'],
    ['a semicolon and a space', '5; \r\nhello\r\n0\r\n\r\n'],
    ['an extension without a name', '5;=b\r\nhello\r\n0\r\n\r\n'],
    ['an extension without a value', '5;a=\r\nhello\r\n0\r\n\r\n'],
    ['an extension with a space inside', '5;a=b c\r\nhello\r\n0\r\n\r\n'],
    ['an extension that is an open string', '5;a="b\r\nhello\r\n0\r\n\r\n'],
    ['an extension with a control byte', '5;a=\x01\r\nhello\r\n0\r\n\r\n'],
    ['an extension with a bare LF', '5;a\nhello\r\n0\r\n\r\n'],
    ['an extension with a bare CR', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
    ['an extension without end', `5;a=${'b'.repeat(20_000)}`],
    ['trailing white space', '5 \r\nhello\r\n0\r\n\r\n'],
    ['a trailing tab', '5\t\r\nhello\r\n0\r\n\r\n'],
    ['white space before an extension', '5 ;a\r\nhello\r\n0\r\n\r\n'],
    ['leading white space', ' 5\r\nhello\r\n0\r\n\r\n'],
    ['a prefix of hexadecimal', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a plus', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a minus', '-5\r\nhello\r\n0\r\n\r\n'],
    ['an underscore', '0_5\r\nhello\r\n0\r\n\r\n'],
    ['an empty size', '\r\nhello\r\n0\r\n\r\n'],
    ['a size that is no number', 'five\r\nhello\r\n0\r\n\r\n'],
    ['a size beyond 64 bits', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
    ['a bare LF after the size', '5\nhello\r\n0\r\n\r\n'],
    ['a bare CR after the size', '5\rhello\r\n0\r\n\r\n'],
    ['no line end after the data', '5\r\nhello0\r\n\r\n'],
    ['a bare LF after the data', '5\r\nhello\n0\r\n\r\n'],
    ['more data than announced', '5\r\nhello!\r\n0\r\n\r\n'],
    ['less data than announced', '6\r\nhello\r\n0\r\n\r\n'],
    ['a bare LF after the last chunk', '5\r\nhello\r\n0\n\n'],
    ['a trailer without a colon', '0\r\nnonsense\r\n\r\n', 'SLU-HEAD-MALFORMED'],
    ['a trailer with white space in its name', '0\r\na b: c\r\n\r\n', 'SLU-HEAD-MALFORMED'],
    ['a trailer with a control byte', '0\r\na: \x00\r\n\r\n', 'SLU-HEAD-MALFORMED'],
    ['a folded trailer', '0\r\na: b\r\n c\r\n\r\n', 'SLU-HEAD-MALFORMED'],
    ['a trailer that ends with a bare LF', '0\r\na: b\n\r\n', 'SLU-HEAD-MALFORMED'],
  ] as Row[]
).map(([name, body, code = 'SLU-CHUNK-MALFORMED']) => ({
  name: `chunk: ${name}`,
  send: chunked(`${body}${smuggled}`),
  code,
}));

const hosts: Refused[] = (
  [
    ['missing', ''],
    ['sent twice alike', 'Host: app\r\nHost: app\r\n'],
    ['sent twice and different', 'Host: app\r\nHost: evil\r\n'],
    ['empty', 'Host:\r\n'],
    ['two names', 'Host: app evil\r\n'],
    ['a list', 'Host: app, evil\r\n'],
    ['with a path', 'Host: app/evil\r\n'],
    ['with user information', 'Host: user@app\r\n'],
    ['with a password', 'Host: user:secret@app\r\n'],
    ['with a port beyond 65535', 'Host: app:65536\r\n'],
    ['with an empty port', 'Host: app:\r\n'],
    ['with a port that is no number', 'Host: app:http\r\n'],
    ['with two ports', 'Host: app:80:80\r\n'],
    ['with a bracket that is not closed', 'Host: [::1\r\n'],
    ['with no address in its brackets', 'Host: [app]\r\n'],
    ['with text after the bracket', 'Host: [::1]evil\r\n'],
    ['an IPv6 address without brackets', 'Host: ::1\r\n'],
    ['with a control byte', 'Host: app\x01\r\n', 'SLU-HEAD-MALFORMED'],
    ['with a NUL', 'Host: app\x00evil\r\n', 'SLU-HEAD-MALFORMED'],
    ['with a byte beyond ASCII', 'Host: \xe4pp\r\n'],
    ['with a percent sign', 'Host: app%2fevil\r\n'],
    ['with a question mark', 'Host: app?evil\r\n'],
    ['with a hash', 'Host: app#evil\r\n'],
    ['with a backslash', 'Host: app\\evil\r\n'],
    ['with an empty label', 'Host: app..evil\r\n'],
    ['an IPv4 address out of range', 'Host: 256.1.1.1\r\n'],
    ['after white space before the colon', 'Host : app\r\n', 'SLU-HEAD-MALFORMED'],
    ['folded', 'Host:\r\n app\r\n', 'SLU-HEAD-MALFORMED'],
    ['longer than any name', `Host: ${'a.'.repeat(200)}a\r\n`],
  ] as Row[]
).map(([name, lines, code = 'SLU-HOST-INVALID']) => ({
  name: `Host ${name}`,
  send: `GET /refused HTTP/1.1\r\n${lines}\r\n`,
  code,
}));

const targets: Refused[] = (
  [
    ['another authority', 'GET http://evil/refused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['another port', 'GET http://app:81/refused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['user information', 'GET http://user@app/refused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['an empty authority', 'GET http:///refused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['another scheme', 'GET ftp://app/refused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['no scheme and no slash', 'GET refused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['an authority alone', 'GET app:80 HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a star for GET', 'GET * HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a star for POST', 'POST * HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a fragment', 'GET /refused#there HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a space', 'GET /ref used HTTP/1.1'],
    ['two spaces after the method', 'GET  /refused HTTP/1.1'],
    ['two spaces before the version', 'GET /refused  HTTP/1.1'],
    ['a tab for a space', 'GET\t/refused HTTP/1.1'],
    ['a tab before the version', 'GET /refused\tHTTP/1.1'],
    ['a space after the version', 'GET /refused HTTP/1.1 '],
    ['a space before the method', ' GET /refused HTTP/1.1'],
    ['a NUL', 'GET /ref\x00used HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a control byte', 'GET /ref\x01used HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a DEL', 'GET /ref\x7fused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a byte beyond ASCII', 'GET /ref\xffused HTTP/1.1', 'SLU-TARGET-INVALID'],
    ['a bare CR', 'GET /ref\rused HTTP/1.1'],
    ['a bare LF', 'GET /ref\nused HTTP/1.1'],
    ['no target', 'GET HTTP/1.1'],
    ['an empty target', 'GET  HTTP/1.1'],
    ['no version', 'GET /refused'],
    ['HTTP/2.0', 'GET /refused HTTP/2.0', 'SLU-VERSION-UNSUPPORTED'],
    ['HTTP/3.0', 'GET /refused HTTP/3.0', 'SLU-VERSION-UNSUPPORTED'],
    ['HTTP/1.2', 'GET /refused HTTP/1.2', 'SLU-VERSION-UNSUPPORTED'],
    ['HTTP/0.9', 'GET /refused HTTP/0.9', 'SLU-VERSION-UNSUPPORTED'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0', 'SLU-VERSION-UNSUPPORTED'],
    ['a version in lower case', 'GET /refused http/1.1'],
    ['a version of two digits', 'GET /refused HTTP/1.10'],
    ['a version with a comma', 'GET /refused HTTP/1,1'],
    ['a version without a dot', 'GET /refused HTTP/1'],
    ['another protocol', 'GET /refused ICAP/1.0'],
    ['CONNECT', 'CONNECT app:443 HTTP/1.1', 'SLU-METHOD-UNSUPPORTED'],
    ['CONNECT with a path', 'CONNECT /refused HTTP/1.1', 'SLU-METHOD-UNSUPPORTED'],
    ['TRACE', 'TRACE /refused HTTP/1.1', 'SLU-METHOD-UNSUPPORTED'],
    ['a method that is no token', 'G(T /refused HTTP/1.1'],
    ['a method that is too long', `${'G'.repeat(200)} /refused HTTP/1.1`, 'SLU-METHOD-UNSUPPORTED'],
    ['a method that Node.js does not know', 'FOO /refused HTTP/1.1', 'SLU-METHOD-UNSUPPORTED'],
    ['bytes of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ] as Row[]
).map(([name, line, code = 'SLU-HEAD-MALFORMED']) => ({
  name: `request line: ${name}`,
  send: `${line}\r\nHost: app\r\n\r\n`,
  code,
}));

const fields: Refused[] = (
  [
    ['a NUL in a value', 'X-A: a\x00b\r\n'],
    ['a control byte in a value', 'X-A: a\x01b\r\n'],
    ['an escape in a value', 'X-A: \x1b[2J\r\n'],
    ['a DEL in a value', 'X-A: a\x7fb\r\n'],
    ['a bare CR in a value', 'X-A: a\rb\r\n'],
    ['a bare CR at the end of a value', 'X-A: a\r\r\n'],
    ['a bare LF in a value', 'X-A: a\nX-B: b\r\n'],
    ['a control byte in a name', 'X-\x01A: a\r\n'],
    ['a space in a name', 'X A: a\r\n'],
    ['a space after a name', 'X-A : a\r\n'],
    ['a byte beyond ASCII in a name', 'X-\xc4: a\r\n'],
    ['a separator in a name', 'X(A): a\r\n'],
    ['an empty name', ': a\r\n'],
    ['no colon', 'X-A\r\n'],
    ['a folded value', 'X-A: a\r\n b\r\n'],
    ['a value folded with a tab', 'X-A: a\r\n\tb\r\n'],
    ['an alias of Content-Length', 'Content_Length: 5\r\n', 'SLU-HEADER-ALIAS'],
    ['an alias of X-Forwarded-For', 'X_Forwarded_For: 6.6.6.6\r\n', 'SLU-HEADER-ALIAS'],
    ['an alias of X-Forwarded-For by half', 'X-Forwarded_For: 6.6.6.6\r\n', 'SLU-HEADER-ALIAS'],
    ['an alias of the private header', 'X_Sluice_Request: id=1\r\n', 'SLU-HEADER-ALIAS'],
    ['an alias of a header that is there', 'User-Agent: a\r\nUser_Agent: b\r\n', 'SLU-HEADER-ALIAS'],
    ['two aliases of each other', 'X_A-B: a\r\nX-A_B: b\r\n', 'SLU-HEADER-ALIAS'],
    ['an alias of the word for a warm-up', 'Sluice_Warm_Up: 1\r\n', 'SLU-HEADER-ALIAS'],
    ['a Connection option that is no token', 'Connection: a b\r\n'],
  ] as Row[]
).map(([name, lines, code = 'SLU-HEAD-MALFORMED']) => ({ name: `field: ${name}`, send: get(lines), code }));

const sizes: Refused[] = [
  { name: 'size: request line', send: get('', `/${'a'.repeat(4500)}`), code: 'SLU-TARGET-TOO-LONG' },
  {
    name: 'size: request line that never ends',
    send: `GET /${'a'.repeat(5000)}`,
    code: 'SLU-TARGET-TOO-LONG',
  },
  { name: 'size: one header', send: get(`X-A: ${'a'.repeat(5000)}\r\n`), code: 'SLU-HEADERS-TOO-LARGE' },
  {
    name: 'size: one header that never ends',
    send: `GET / HTTP/1.1\r\nHost: app\r\nX: ${'a'.repeat(9000)}`,
    code: 'SLU-HEADERS-TOO-LARGE',
  },
  {
    name: 'size: headers together',
    send: get(`X-A: ${'a'.repeat(300)}\r\n`.repeat(15)),
    code: 'SLU-HEADERS-TOO-LARGE',
  },
  { name: 'size: number of headers', send: get('X-A: a\r\n'.repeat(25)), code: 'SLU-HEADERS-TOO-MANY' },
  {
    name: 'size: number of headers without end',
    send: `GET / HTTP/1.1\r\n${'a:\r\n'.repeat(500)}`,
    code: 'SLU-HEADERS-TOO-MANY',
  },
  { name: 'size: declared length', send: post('Content-Length: 1001\r\n', ''), code: 'SLU-BODY-TOO-LARGE' },
  {
    name: 'size: declared length, refused before it is asked for',
    send: post('Content-Length: 1001\r\nExpect: 100-continue\r\n', ''),
    code: 'SLU-BODY-TOO-LARGE',
  },
  {
    name: 'size: chunks together',
    send: chunked(`200\r\n${'a'.repeat(512)}\r\n`.repeat(3)),
    code: 'SLU-BODY-TOO-LARGE',
  },
  { name: 'size: one chunk', send: chunked('FFFFFFFFFFFFFFFF\r\nhello'), code: 'SLU-BODY-TOO-LARGE' },
  {
    name: 'size: trailers',
    send: chunked(`0\r\nX-A: ${'a'.repeat(9000)}\r\n\r\n`),
    code: 'SLU-HEADERS-TOO-LARGE',
  },
  {
    name: 'size: number of trailers',
    send: chunked(`0\r\n${'a: b\r\n'.repeat(500)}\r\n`),
    code: 'SLU-HEADERS-TOO-MANY',
  },
];

const others: Refused[] = [
  {
    name: 'expectation: unknown',
    send: post('Content-Length: 0\r\nExpect: the-best\r\n', ''),
    code: 'SLU-EXPECTATION-UNKNOWN',
  },
  {
    name: 'expectation: twice',
    send: post('Content-Length: 0\r\nExpect: 100-continue, x\r\n', ''),
    code: 'SLU-EXPECTATION-UNKNOWN',
  },
  { name: 'only line feeds', send: 'GET /refused HTTP/1.1\nHost: app\n\n', code: 'SLU-HEAD-MALFORMED' },
  {
    name: 'a line feed after the request line',
    send: 'GET /refused HTTP/1.1\nHost: app\r\n\r\n',
    code: 'SLU-HEAD-MALFORMED',
  },
  {
    name: 'a line feed for the empty line',
    send: 'GET /refused HTTP/1.1\r\nHost: app\r\n\n',
    code: 'SLU-HEAD-MALFORMED',
  },
  {
    name: 'a field before Host that starts with a space',
    send: 'GET / HTTP/1.1\r\n Host: app\r\n\r\n',
    code: 'SLU-HEAD-MALFORMED',
  },
  {
    name: 'HTTP/1.0 with chunks',
    send: `POST /refused HTTP/1.0\r\nHost: app\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    code: 'SLU-LENGTH-INVALID',
  },
  {
    name: 'pipelined after a good one: two lengths',
    send: `GET /good HTTP/1.1\r\nHost: app\r\n\r\n${post('Content-Length: 5\r\nContent-Length: 0\r\n', `hello${smuggled}`)}`,
    code: 'SLU-LENGTH-INVALID',
    answered: 1,
  },
  {
    name: 'pipelined after a good one with chunks: garbage',
    send: `POST /good HTTP/1.1\r\nHost: app\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nXGET /smuggled\r\n\r\n`,
    code: 'SLU-HEAD-MALFORMED',
    answered: 1,
  },
];

export const refused: Refused[] = [
  ...lengths,
  ...codings,
  ...codingLines,
  ...chunks,
  ...hosts,
  ...targets,
  ...fields,
  ...sizes,
  ...others,
];
