/**
 * 100 wrappers around one widget, each passing on 100 props: how long it takes until one prop that changed at the top has reached the bottom.
 * Stock React (react-reconciler with a plain host, production builds, spreads by `jsx`) against compiled code, in the same run.
 *
 *   npx tsx bench/screens/wrappers.ts [--wrappers 100] [--props 100] [--kinds pass,merge,rest,hook] [--off merges,…] [--rounds 7]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { PASSES, esbuildPlugin } from '../../packages/compiler/src/screens/index.js';
import { run } from './engines.js';
import { PRELUDE, all } from './prelude.js';

const { values } = parseArgs({
  options: {
    wrappers: { type: 'string', default: '100' },
    props: { type: 'string', default: '100' },
    off: { type: 'string', default: '' },
    kinds: { type: 'string', default: 'pass,merge,rest,hook' },
    keep: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '7' },
  },
});
const wrappers = Number(values.wrappers);
const props = Number(values.props);
const rounds = Number(values.rounds);
const passes = Object.fromEntries(PASSES.map((pass) => [pass, !values.off.split(',').includes(pass)]));
const names = Array.from({ length: props }, (_, index) => `p${index}`);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Ways in which a wrapper passes its props on. */
const KINDS = {
  pass: (inner: string) => `props => <${inner} {...props} />`,
  merge: (inner: string) => `props => <${inner} {...props} depth={props.depth + 1} />`,
  rest: (inner: string) => `({ depth, ...others }) => <${inner} {...others} depth={depth + 1} />`,
  hook: (inner: string) =>
    `props => { useState(0); return <${inner} {...props} depth={props.depth + 1} />; }`,
} as const;
type Kind = keyof typeof KINDS;

function app(kind: Kind): string {
  const all = Array.from(
    { length: wrappers },
    (_, index) => `const W${index} = ${KINDS[kind](index + 1 === wrappers ? 'Leaf' : `W${index + 1}`)};`,
  );
  return `
import { useState } from 'react';
import { Widget } from '@sluice/screens';
const Leaf = (props) => <Widget text={String(${names.map((name) => `props.${name}`).join(' + ')} + props.depth)} />;
${all.toReversed().join('\n')}
export const App = ({ n }) => <W0 ${names.map((name, index) => `${name}={${index === 0 ? 'n' : index}}`).join(' ')} depth={0} />;
export const Frozen = ({ n }) => {
  const all = { ${names.map((name, index) => `${name}: ${index === 0 ? 'n' : index}`).join(', ')}, depth: 0 };
  return jsx(W0, Object.freeze(all));
};
import { jsx } from 'react/jsx-runtime';
`;
}

const DRIVER = `
import Reconciler from 'react-reconciler';
import { createElement } from 'react';
import { App, Frozen } from './app.jsx';
let shown = '';
let priority = 0;
const nothing = () => {};
const host = {
  supportsMutation: true, isPrimaryRenderer: true, noTimeout: -1, scheduleTimeout: nothing, cancelTimeout: nothing,
  getRootHostContext: () => null, getChildHostContext: (context) => context, getPublicInstance: (one) => one,
  prepareForCommit: () => null, resetAfterCommit: nothing, preparePortalMount: nothing, shouldSetTextContent: () => false,
  createInstance: (type, props) => { shown = props.text; return { type, props }; }, createTextInstance: (text) => ({ text }),
  appendInitialChild: nothing, finalizeInitialChildren: () => false, appendChild: nothing, appendChildToContainer: nothing,
  insertBefore: nothing, insertInContainerBefore: nothing, removeChild: nothing, removeChildFromContainer: nothing,
  commitUpdate: (one, type, before, props) => { shown = props.text; one.props = props; }, commitTextUpdate: nothing,
  commitMount: nothing, clearContainer: nothing, detachDeletedInstance: nothing,
  getCurrentUpdatePriority: () => priority, setCurrentUpdatePriority: (to) => { priority = to; },
  resolveUpdatePriority: () => priority || 32, resolveEventType: () => null, resolveEventTimeStamp: () => -1.1,
  trackSchedulerEvent: nothing, shouldAttemptEagerTransition: () => false, maySuspendCommit: () => false,
  maySuspendCommitOnUpdate: () => false, maySuspendCommitInSyncRender: () => false,
  NotPendingTransition: null, HostTransitionContext: { $$typeof: Symbol.for('react.context'), _currentValue: null, _currentValue2: null },
  resetFormInstance: nothing, requestPostPaintCallback: nothing, preloadInstance: () => true, startSuspendingCommit: nothing,
  suspendInstance: nothing, waitForCommitToBeReady: () => null, getInstanceFromNode: () => null,
  beforeActiveInstanceBlur: nothing, afterActiveInstanceBlur: nothing, getInstanceFromScope: () => null, prepareScopeUpdate: nothing,
};
const renderer = Reconciler(host);
function measure(Component) {
  const container = renderer.createContainer({}, 0, null, false, null, '', (error) => { throw error; }, nothing, nothing, null);
  const times = [];
  for (let sample = 0; sample < 25; sample++) {
    // A clock may have steps of 20 µs.
    const start = now_ms();
    for (let n = 0; n < 10; n++) { renderer.updateContainerSync(createElement(Component, { n }), container, null, null); renderer.flushSyncWork(); };
    const time = (now_ms() - start) / 10;
    const expected = String(9 + SUM);
    if (shown !== expected) throw new Error('shown ' + shown + ', not ' + expected);
    if (sample >= 5) times.push(time);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}
report(JSON.stringify({ plain: measure(App), frozen: measure(Frozen) }));
`;

/** Our own reconciler, where it is built. */
const OWN_DRIVER = `
import { createRoot } from '@sluice/screens';
import { createElement } from 'react';
import { App, Frozen } from './app.jsx';
let shown = '';
const surface = {
  width: 1280, height: 720, now: now_ms, listen() {}, requestIdle() {},
  commit(words, length, strings) { for (const one of strings) if (one !== undefined && /^\\d+$/.test(one)) shown = one; },
};
function measure(Component) {
  const root = createRoot(surface);
  const times = [];
  for (let sample = 0; sample < 25; sample++) {
    // A clock may have steps of 20 µs.
    const start = now_ms();
    for (let n = 0; n < 10; n++) { root.render(createElement(Component, { n })); root.flush(); };
    const time = (now_ms() - start) / 10;
    const expected = String(9 + SUM);
    if (shown !== expected) throw new Error('shown ' + shown + ', not ' + expected);
    if (sample >= 5) times.push(time);
  }
  root.unmount();
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}
report(JSON.stringify({ plain: measure(App), frozen: measure(Frozen) }));
`;

const found = all();
const directory = mkdtempSync(join(tmpdir(), 'sluice-wrappers-'));
const sum = (kind: Kind): number => (props * (props - 1)) / 2 + (kind === 'pass' ? 0 : wrappers);

async function bundle(kind: Kind, how: 'stock' | 'compiled' | 'own'): Promise<string> {
  const entry = join(directory, `${kind}-${how}-entry.jsx`);
  writeFileSync(join(directory, 'app.jsx'), app(kind));
  writeFileSync(entry, how === 'own' ? OWN_DRIVER : DRIVER);
  const outfile = join(directory, `${kind}-${how}.js`);
  const plugin = esbuildPlugin({ react: 19, passes, include: /app\.jsx$/ });
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'iife',
    jsx: 'automatic',
    target: 'es2022',
    logLevel: 'error',
    banner: { js: PRELUDE },
    define: { 'process.env.NODE_ENV': '"production"', SUM: String(sum(kind)) },
    nodePaths: [join(root, 'node_modules')],
    alias: {
      react: join(root, 'node_modules/react'),
      '@sluice/screens/runtime': join(root, 'packages/screens/src/runtime.ts'),
      ...(how === 'own'
        ? { '@sluice/screens': join(root, 'packages/screens/src/index.ts') }
        : { '@sluice/screens': join(directory, 'widget.js') }),
    },
    plugins: how === 'stock' ? [] : [plugin as never],
  });
  return outfile;
}

interface Figures {
  readonly plain: number;
  readonly frozen: number;
}

const middle = (all: readonly number[]): number =>
  [...all].sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;

try {
  writeFileSync(join(directory, 'widget.js'), "export const Widget = 'sluice-widget';");
  const version = (createRequire(import.meta.url)('react/package.json') as { version: string }).version;
  console.log(
    `React ${version}; ${wrappers} wrappers, ${props} props; off: ${values.off || 'nothing'}; medians of ${rounds} runs, ms per update`,
  );
  const hasOwn = await import('../../packages/screens/src/index.js')
    .then((all) => 'createRoot' in all)
    .catch(() => false);
  for (const kind of values.kinds.split(',') as Kind[]) {
    const scripts = {
      stock: await bundle(kind, 'stock'),
      compiled: await bundle(kind, 'compiled'),
      ...(hasOwn ? { own: await bundle(kind, 'own') } : {}),
    };
    for (const engine of found) {
      const times = new Map<string, Figures[]>();
      // In turns, so that what else the machine does meets all of them.
      for (let round = 0; round < rounds; round++) {
        for (const [name, script] of Object.entries(scripts)) {
          const all = times.get(name) ?? [];
          all.push(run<Figures>(engine, script));
          times.set(name, all);
        }
      }
      const of = (name: string, which: keyof Figures): number[] =>
        (times.get(name) ?? []).map((one) => one[which]);
      const line = (['plain', 'frozen'] as const).map((which) => {
        const stock = of('stock', which);
        const others = [...times.keys()].filter((name) => name !== 'stock');
        const parts = others.map((name) => {
          const own = of(name, which);
          const ratio = middle(stock) / middle(own);
          // Other work of the machine costs the side more that allocates more.
          const fastest = Math.min(...stock) / Math.min(...own);
          return `${name} ${middle(own).toFixed(3)} (${ratio.toFixed(1)}×, of the fastest runs ${fastest.toFixed(1)}×)`;
        });
        return `${which}: stock ${middle(stock).toFixed(3)}, ${parts.join(', ')}`;
      });
      console.log(`${kind.padEnd(5)} ${engine.name.padEnd(26)} ${line.join(' | ')}`);
    }
  }
} finally {
  if (!values.keep) rmSync(directory, { recursive: true, force: true });
}
