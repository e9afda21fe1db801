/**
 * Three ways to merge one prop into 100, 100 times: a spread, a chain of prototypes with a flat copy at times, and a write in place.
 *
 *   npx tsx bench/screens/merges.ts [--longest 16]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { all, PRELUDE } from './prelude.js';
import { run } from './engines.js';

const { values } = parseArgs({
  options: { longest: { type: 'string', default: '16' }, rounds: { type: 'string', default: '7' } },
});

const SCRIPT = `
var longest = ${Number(values.longest)};
var names = [];
for (var i = 0; i < 100; i++) names.push('p' + i);
var top = new Function('n', 'return {' + names.map(function (name, at) { return name + ':' + (at === 0 ? 'n' : at); }).join(',') + '}');
var read = new Function('p', 'return ' + names.map(function (name) { return 'p.' + name; }).join('+'));
function flat(props) {
  var levels = [];
  while (props.$level > 0) { levels.push(props); props = Object.getPrototypeOf(props); }
  var all = Object.assign({}, props);
  for (var at = levels.length - 1; at >= 0; at--) Object.assign(all, levels[at]);
  all.$level = 0;
  return all;
}
var ways = {
  spread: function (props, depth) { return { ...props, depth: depth }; },
  chain: function (props, depth) {
    var below = props.$level === undefined || props.$level >= longest ? flat(props) : props;
    var own = { depth: depth, $level: below.$level + 1 };
    return Object.setPrototypeOf(own, below);
  },
  written: function (props, depth) { props.depth = depth; return props; },
};
var times = {};
for (var way in ways) {
  var merge = ways[way];
  var all = [];
  for (var sample = 0; sample < 30; sample++) {
    var start = now_ms();
    for (var n = 0; n < 5; n++) {
      var props = top(n);
      for (var depth = 0; depth < 100; depth++) {
        props = merge(props, depth);
        if (props.p5 !== 5) throw new Error('lost');
      }
      if (read(props) !== 4950 + n) throw new Error('wrong');
    }
    all.push((now_ms() - start) / 5);
  }
  all.sort(function (a, b) { return a - b; });
  times[way] = all[15];
}
report(JSON.stringify(times));
`;

const directory = mkdtempSync(join(tmpdir(), 'sluice-merges-'));
try {
  const script = join(directory, 'merges.js');
  writeFileSync(script, PRELUDE + SCRIPT);
  for (const engine of all()) {
    const rounds = Array.from({ length: Number(values.rounds) }, () =>
      run<Record<string, number>>(engine, script),
    );
    // Other work of the machine only adds time.
    const fastest = (way: string): string =>
      Math.min(...rounds.map((one) => one[way] ?? Number.NaN)).toFixed(3);
    console.log(`| ${engine.name} | ${fastest('spread')} | ${fastest('chain')} | ${fastest('written')} |`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
