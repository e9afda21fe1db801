// Reads of 360 values that are in a cache, measured in a process of its own: prints JSON with nanoseconds of CPU time per read.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../packages/graph/package.json', import.meta.url));
const falcor = require('falcor');
const { Model } = require('@sluice/graph');

const [rounds, reads, fields, peers] = process.argv
  .slice(2)
  .map((word, at) => (at < 3 ? Number(word) : word));
const { gql, InMemoryCache } = createRequire(peers)('@apollo/client');
const LISTS = 10;
const TITLES = 36;

/** Names of the values, of which each read takes the next. V8 reads and builds objects faster where it has seen one name. */
const names = ['name', 'year', 'rating', 'studio', 'length', 'country', 'language', 'poster'].slice(
  0,
  fields,
);

function titleOf(id) {
  return Object.fromEntries([...names, 'unread'].map((name) => [name, `${name} ${id}`]));
}

/** Graph of lists whose items are references to titles, or hold the name themselves. */
function graphOf(hasReferences) {
  const graph = { lists: {}, titles: {} };
  for (let list = 0; list < LISTS; list += 1) {
    graph.lists[list] = {};
    for (let item = 0; item < TITLES; item += 1) {
      const id = list * TITLES + item;
      const title = titleOf(id);
      if (hasReferences) graph.titles[id] = title;
      graph.lists[list][item] = hasReferences ? { $type: 'ref', value: ['titles', id] } : title;
    }
  }
  return graph;
}

/** The same as objects that hold each other. */
function treeOf() {
  const tree = { lists: {} };
  for (let list = 0; list < LISTS; list += 1) {
    tree.lists[list] = {};
    for (let item = 0; item < TITLES; item += 1) tree.lists[list][item] = titleOf(list * TITLES + item);
  }
  return tree;
}

const paths = names.map((name) => ['lists', { to: LISTS - 1 }, { to: TITLES - 1 }, name]);
let last = 0;
/** Path of the next read. */
function nextPath() {
  last = last + 1 === paths.length ? 0 : last + 1;
  return paths[last];
}

/** What a function of an app that reads a tree by the same path does: takes the keys from the path, and builds JSON. */
function readTree(tree, pathSet) {
  const json = {};
  copy(tree, pathSet, 0, json);
  return json;
}

function copy(from, pathSet, depth, to) {
  const keys = pathSet[depth];
  if (typeof keys === 'object')
    for (let key = keys.from ?? 0; key <= keys.to; key += 1) take(from, pathSet, depth, key, to);
  else take(from, pathSet, depth, keys, to);
}

function take(from, pathSet, depth, key, to) {
  const value = from[key];
  if (depth === pathSet.length - 1) to[key] = value;
  else copy(value, pathSet, depth + 1, (to[key] ??= {}));
}

/** Loops written for this one path. */
function readByHand(tree) {
  const json = { lists: {} };
  for (let list = 0; list < LISTS; list += 1) {
    const items = (json.lists[list] = {});
    for (let item = 0; item < TITLES; item += 1) items[item] = { name: tree.lists[list][item].name };
  }
  return json;
}

function readFalcor(model) {
  let json;
  model.get(nextPath()).subscribe((value) => (json = value.json));
  return json;
}

/** Cache of Apollo Client with the titles as entities of their own, and the queries for one name each. */
function apolloReader(options) {
  const cache = new InMemoryCache(options);
  const queries = names.map((name) => gql(`{ lists { id items { id ${name} } } }`));
  const listOf = (list) => ({
    __typename: 'List',
    id: list,
    items: Array.from({ length: TITLES }, (_, item) => {
      const id = list * TITLES + item;
      return { __typename: 'Title', id, ...titleOf(id) };
    }),
  });
  const data = { lists: Array.from({ length: LISTS }, (_, list) => listOf(list)) };
  for (const query of queries) cache.writeQuery({ query, data });
  return () => {
    nextPath();
    return cache.readQuery({ query: queries[last] });
  };
}

const tree = treeOf();
const withReferences = { cache: graphOf(true) };
const direct = { cache: graphOf(false) };
const [ours, oursDirect] = [new Model(withReferences), new Model(direct)];
const [theirs, theirsDirect] = [new falcor.Model(withReferences), new falcor.Model(direct)];
const readers = {
  'sluice, references': () => ours.read(nextPath()).json,
  'sluice, no references': () => oursDirect.read(nextPath()).json,
  'falcor, references': () => readFalcor(theirs),
  'falcor, no references': () => readFalcor(theirsDirect),
  'Apollo Client, references': apolloReader({ resultCaching: false }),
  'Apollo Client, the result kept': apolloReader({}),
  'plain tree, by path': () => readTree(tree, nextPath()),
  'plain tree, by hand': () => readByHand(tree),
};

for (const [name, read] of Object.entries(readers)) {
  const json = read();
  const field = name.endsWith('hand') ? 'name' : names[last];
  const list = json.lists[9];
  if ((list.items ?? list)[35][field] !== `${field} 359`)
    throw new Error(`${name} does not read what is there`);
}

const figures = Object.fromEntries(Object.keys(readers).map((name) => [name, []]));
let kept;
for (let round = -2; round < rounds; round += 1)
  for (const [name, read] of Object.entries(readers)) {
    const count = /^(falcor|Apollo Client, ref)/.test(name) ? Math.ceil(reads / 5) : reads;
    const before = process.cpuUsage();
    for (let at = 0; at < count; at += 1) kept = read();
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) figures[name].push(((user + system) * 1000) / count);
  }
console.log(
  JSON.stringify({ figures, last: kept.lists[0][0], falcor: require('falcor/package.json').version }),
);
