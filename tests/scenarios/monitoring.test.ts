// The Grafana dashboard and the alert rules of docs/monitoring ask for metrics, labels and words that a gateway has.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { parse as parseYaml } from 'yaml';
import { app, repositoryDir } from '../support/sluice.ts';
import { eventually } from '../support/eventually.ts';
import { programNamed } from '../support/programs.ts';
import { ask, running } from './scenario.ts';

const folder = path.join(repositoryDir, 'docs/monitoring');
const read = (name: string): string => fs.readFileSync(path.join(folder, name), 'utf8');

interface Selector {
  readonly metric: string;
  readonly matchers: { label: string; isPattern: boolean; isNegative: boolean; value: string }[];
}

interface Query {
  readonly from: string;
  readonly expression: string;
  /** What Grafana fills in is filled in. */
  readonly selectors: Selector[];
  /** Labels by which it groups. */
  readonly labels: string[];
}

/** Labels that Prometheus adds to what it scrapes. */
const OF_PROMETHEUS = new Set(['job', 'instance', 'le']);
/** Labels all of whose words are on the page from the start. */
const ENUMERATED = ['state', 'run', 'result', 'export', 'expected', 'alarm'];
const GRAFANAS = { $__rate_interval: '5m', $job: 'sluice', $instance: '.*' };

function query(from: string, written: string): Query {
  let expression = written;
  for (const [name, value] of Object.entries(GRAFANAS)) expression = expression.replaceAll(name, value);
  const selectors: Selector[] = [];
  const labels: string[] = [];
  const text = (node: { from: number; to: number }): string => expression.slice(node.from, node.to);
  parser.parse(expression).iterate({
    enter(node) {
      assert.ok(!node.type.isError, `${from}: no PromQL at ${node.from}: ${expression}`);
      if (node.name === 'VectorSelector') {
        const name = node.node.getChild('Identifier');
        assert.ok(name, `${from}: a selector without a metric`);
        selectors.push({ metric: text(name), matchers: [] });
      }
      if (node.name === 'UnquotedLabelMatcher') {
        const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((kind) =>
          node.node.getChild(kind),
        );
        assert.ok(label && operator && value, `${from}: ${text(node)}`);
        selectors.at(-1)?.matchers.push({
          label: text(label),
          isPattern: text(operator).includes('~'),
          isNegative: text(operator).startsWith('!'),
          value: text(value).slice(1, -1),
        });
      }
      if (node.name === 'GroupingLabels') {
        for (const label of node.node.getChildren('LabelName')) labels.push(text(label));
      }
    },
  });
  return { from, expression, selectors, labels };
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(read('grafana.json')) as {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
};
const rules = parseYaml(read('alerts.yml')) as {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};
const queries: Query[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => query(`panel ${title}`, expr)),
  ),
  ...dashboard.annotations.list.map(({ name, expr }) => query(`annotation ${name}`, expr)),
  ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => query(`alert ${alert}`, expr))),
];

/** Metric → label → its values now. */
type Page = Map<string, Map<string, Set<string>>>;

function pageOf(text: string): Page {
  const page: Page = new Map();
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type?.[1] !== undefined) {
      const names = type[2] === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const suffix of names) page.set(type[1] + suffix, new Map());
    }
    const sample = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line);
    if (sample?.[1] === undefined) continue;
    const labels = page.get(sample[1]);
    assert.ok(labels, line);
    for (const [, label = '', value = ''] of (sample[2] ?? '').matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
  }
  return page;
}

void test('every query is about metrics, labels and words that a gateway has', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
  await ask(sluice, '/');
  await ask(sluice, '/', { headers: 'Transfer-Encoding: nonsense\r\n' });
  const page = pageOf(await (await fetch(`${sluice.admin}/metrics`)).text());
  const catalogue = fs.readFileSync(path.join(repositoryDir, 'docs/reference/metrics.md'), 'utf8');
  const log = fs.readFileSync(path.join(repositoryDir, 'docs/reference/log.md'), 'utf8');
  const errors = fs.readFileSync(path.join(repositoryDir, 'docs/reference/errors.md'), 'utf8');
  // Ends of components, which only `@sluice/render` knows.
  const outcomes = fs.readFileSync(path.join(repositoryDir, 'packages/host/src/render-host.ts'), 'utf8');
  const wordsOf = (label: string): string =>
    catalogue.split('\n').find((line) => line.startsWith(`| \`${label}\` `)) ?? '';
  const labelsOf = (metric: string): string[] => {
    const name = metric.replace(/_(bucket|sum|count)$/, '');
    const row = catalogue
      .split('\n')
      .find((line) => line.startsWith(`| \`${metric}\``) || line.startsWith(`| \`${name}\``));
    return [...(row?.split('|')[3] ?? '').matchAll(/`([a-z]+)`/g)].map(([, label = '']) => label);
  };
  assert.ok(queries.length > 40, `${queries.length} queries`);
  for (const { from, selectors, labels } of queries) {
    assert.ok(selectors.length > 0, from);
    const known = new Set(selectors.flatMap(({ metric }) => labelsOf(metric)));
    for (const label of labels)
      assert.ok(OF_PROMETHEUS.has(label) || known.has(label), `${from}: by ${label}`);
    for (const { metric, matchers } of selectors) {
      if (metric === 'up') continue;
      assert.ok(page.has(metric), `${from}: there is no ${metric}`);
      for (const { label, isPattern, isNegative, value } of matchers) {
        if (OF_PROMETHEUS.has(label)) continue;
        assert.ok(labelsOf(metric).includes(label), `${from}: ${metric} has no label ${label}`);
        for (const word of isPattern ? value.split('|') : [value]) {
          const words = page.get(metric)?.get(label);
          if (ENUMERATED.includes(label)) assert.ok(words?.has(word), `${from}: ${label}="${word}"`);
          else if (label === 'code')
            assert.ok(errors.includes(`\n### ${word}\n`), `${from}: ${label}="${word}"`);
          else if (metric.startsWith('sluice_component_'))
            assert.ok(outcomes.includes(`| '${word}'`), `${from}: ${label}="${word}"`);
          else if (label === 'outcome') assert.ok(log.includes(`\`${word}\``), `${from}: ${label}="${word}"`);
          else assert.ok(wordsOf(label).includes(`\`${word}\``), `${from}: ${label}="${word}"`);
        }
        assert.ok(!isNegative || !isPattern, from);
      }
    }
  }
});

void test('a stall of an event loop, open files and times by class are on the page', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  const page = async (): Promise<string> => (await fetch(`${sluice.admin}/metrics`)).text();
  const value = async (series: string, of = page()): Promise<number> => {
    const text = await of;
    const line = text.split('\n').find((sample) => sample.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1) ?? Number.NaN);
  };
  await ask(sluice, '/spin?ms=400');
  // The worker says at its next beat what the gateway has seen of the stall.
  await eventually(
    async () => {
      const now = page();
      const [within, all] = await Promise.all(
        ['0.25', '+Inf'].map((le) => value(`sluice_event_loop_delay_seconds_bucket{le="${le}"}`, now)),
      );
      return Number(within) < Number(all);
    },
    { what: 'the stall among the delays of seconds' },
  );
  await eventually(
    async () => (await value('sluice_class_service_time_seconds_count{class="GET /spin"}')) === 1,
    { what: 'the request among the times of its class' },
  );
  assert.equal(await value('sluice_class_service_time_seconds_bucket{class="GET /spin",le="0.25"}'), 0);
  assert.ok((await value('sluice_class_cpu_seconds_total{class="GET /spin"}')) >= 0.3);
  // The gauges are of the last interval, which a slow reader may miss.
  await eventually(
    async () => {
      await ask(sluice, '/spin?ms=400');
      const now = page();
      const [delay, used] = await Promise.all([
        value('sluice_worker_event_loop_delay_seconds{place="0"}', now),
        value('sluice_worker_event_loop_utilization_ratio{place="0"}', now),
      ]);
      return delay >= 0.3 && used > 0;
    },
    { what: 'the stall' },
  );
  if (process.platform !== 'linux') return t.skip('descriptors are known on Linux alone');
  for (const of of ['gateway_', 'worker_']) {
    const place = of === 'worker_' ? '{place="0"}' : '';
    const open = await value(`sluice_${of}open_descriptors${place}`);
    assert.ok(open > 3 && open < (await value(`sluice_${of}descriptors_max${place}`)), `${of}: ${open}`);
  }
});

void test('each alert fires in its trouble, and none in a service in order', (t) => {
  const program = programNamed('promtool');
  if (program === undefined) return t.skip('promtool is not installed (tests/scenarios/install.sh)');
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ]) {
    const ended: SpawnSyncReturns<string> = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
    assert.equal(ended.status, 0, `${ended.stdout}${ended.stderr}`);
  }
  const [one, fleet] = rules.groups;
  assert.ok(one && fleet && rules.groups.length === 2);
  const tests = read('alerts.test.yml');
  assert.ok(tests.includes(`value: ${one.rules.length} }`), 'the test counts all alerts of one instance');
  assert.ok(tests.includes(fleet.rules.map(({ alert }) => alert).join('|')), 'and names those of a fleet');
});

void test('the ends of components that leave a hole are the same to the rule, the panel and the alarm', () => {
  const source = (name: string): string => fs.readFileSync(path.join(repositoryDir, name), 'utf8');
  const [, type = ''] =
    /export type Outcome =([^;]*);/.exec(source('packages/host/src/render-host.ts')) ?? [];
  const all = [...type.matchAll(/^ *\| '([a-z-]+)'/gm)].map(([, word]) => word);
  const [, wanted = ''] =
    /const WANTED: [^=]*= \[([^\]]*)\]/.exec(source('gateway/vitals/src/components.rs')) ?? [];
  const kept = new Set([...wanted.matchAll(/"([a-z-]+)"/g)].map(([, word]) => word));
  assert.ok(all.length > 10 && [...kept].every((word) => all.includes(word)), [...kept].join(' '));
  const holes = new Set(all.filter((word) => !kept.has(word ?? '')));
  const asking = queries.filter(({ expression }) =>
    /sluice_component_renders_total\{[^}]*outcome/.test(expression),
  );
  assert.equal(asking.length, 3);
  for (const { from, expression } of asking) {
    const [, words = ''] = /outcome=~"([^"]*)"/.exec(expression) ?? [];
    assert.deepEqual(new Set(words.split('|')), holes, from);
  }
});
