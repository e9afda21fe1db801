// The known way to see uninterrupted runs, whatever it costs: each callback of a full async_hooks hook, promises included. A run is
// what follows a callback without another call of the event loop: ticks, microtasks and nested callbacks. ALL_RUNS_FILE
// with the pid behind it gets the counts four times a second.
'use strict';

const { createHook } = require('node:async_hooks');
const fs = require('node:fs');

const file = process.env.ALL_RUNS_FILE;
const BOUNDS_MS = [1, 10, 100, 1000];
/** Continues the run of the callback before it. */
const CONTINUES = new Set(['PROMISE', 'TickObject', 'Microtask', 'AsyncResource']);

const counts = BOUNDS_MS.map(() => 0);
const types = new Map();
const now = performance.now.bind(performance);
/** Node's parser calls up to three times for what it has read at once, and microtasks get their turn after the last. */
const READ_MS_MAX = 0.1;
let [depth, began, ended, owner] = [0, 0, 0, 0];

function close() {
  const ms = ended - began;
  let at = -1;
  while (at + 1 < BOUNDS_MS.length && ms >= BOUNDS_MS[at + 1]) at += 1;
  if (at >= 0) counts[at] += 1;
}

createHook({
  init: (id, type) => void types.set(id, type),
  before: (id) => {
    if (depth++ > 0) return;
    if (CONTINUES.has(types.get(id))) return;
    if (id === owner && types.get(id) === 'HTTPINCOMINGMESSAGE' && now() - ended < READ_MS_MAX) return;
    close();
    owner = id;
    began = now();
    ended = began;
  },
  after: () => {
    depth -= 1;
    if (depth === 0) ended = now();
  },
  destroy: (id) => void types.delete(id),
}).enable();

setInterval(() => fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify(counts)), 250).unref();
