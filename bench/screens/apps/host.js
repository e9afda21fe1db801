// The plain host of all peers: it writes the commands of the stream into one buffer, as @sluice/screens does, so that work is equal.
import { COMMAND, PROPERTIES } from '../../../packages/screens/src/stream/codes.ts';

// Enough for the largest batch of the peers; its bytes count in their heaps.
const words = new Int32Array(1 << 14);
const floats = new Float32Array(words.buffer);
const colors = new Map();
const choices = new Map();
let length = 0;
let strings = [];
let last = 0;

const facts = new Map();
for (const name of Object.keys(PROPERTIES)) {
  const { code, type, values } = PROPERTIES[name];
  facts.set(name, { code, type });
  if (values !== undefined)
    for (let at = 0; at < values.length; at += 1) choices.set(`${name} ${values[at]}`, at);
}

/** Words and strings of the batch, which begins anew. */
export function takeBatch() {
  const taken = length + strings.length;
  length = 0;
  strings = [];
  return taken;
}

/** Number of a new widget. */
export function create() {
  last += 1;
  words[length++] = COMMAND.CREATE;
  words[length++] = last;
  return last;
}

/** Places a widget before a sibling (0: at the end). */
export function place(parent, id, before) {
  words[length++] = COMMAND.PLACE;
  words[length++] = parent;
  words[length++] = id;
  words[length++] = before;
}

/** Removes a widget with all below it. */
export function remove(id) {
  words[length++] = COMMAND.REMOVE;
  words[length++] = id;
}

function colorOf(text) {
  let color = colors.get(text);
  if (color === undefined) {
    const hex = text.slice(1);
    color = Number.parseInt(hex.length === 6 ? `${hex}ff` : hex, 16) | 0;
    colors.set(text, color);
  }
  return color;
}

/** Sets a property; undefined resets it. */
export function set(id, name, value) {
  const fact = facts.get(name);
  if (fact === undefined) return;
  const { code, type } = fact;
  let command = COMMAND.INTEGER;
  if (value === undefined) command = COMMAND.RESET;
  else if (type === 'text') command = COMMAND.STRING;
  else if (type === 'number' || type === 'length')
    command = typeof value === 'string' ? COMMAND.PERCENT : COMMAND.NUMBER;
  words[length++] = command | (code << 8);
  words[length++] = id;
  if (command === COMMAND.RESET) return;
  if (command === COMMAND.STRING) {
    words[length++] = strings.length;
    strings.push(value);
  } else if (command === COMMAND.INTEGER) {
    words[length++] =
      type === 'color' ? colorOf(value) : type === 'choice' ? choices.get(`${name} ${value}`) : Number(value);
  } else floats[length++] = Number.parseFloat(value);
}

/** Sets what differs between two styles. */
export function setStyle(id, before, now) {
  if (before === now) return;
  if (before !== undefined)
    for (const name in before) if (now === undefined || !(name in now)) set(id, name, undefined);
  if (now !== undefined)
    for (const name in now) if (before === undefined || before[name] !== now[name]) set(id, name, now[name]);
}
