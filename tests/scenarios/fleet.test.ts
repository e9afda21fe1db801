// Three instances and a real Prometheus: the dashboard, the alert rules and the queries of the autoscalers find all of them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { programNamed } from '../support/programs.ts';
import { type Sluice, app, repositoryDir } from '../support/sluice.ts';
import { ask, running } from './scenario.ts';

const INSTANCES = 3;
/** Panels of the fleet that show nothing here: the app renders no components. */
const EMPTY = ['Holes by instance'];

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Rule {
  readonly health: string;
}

const read = (name: string): string => fs.readFileSync(path.join(repositoryDir, name), 'utf8');

/** Instances as pods of one app, as the chart's PodMonitor names them. */
function configFor(instances: readonly Sluice[]): string {
  const targets = instances.map((sluice, at) => ({
    targets: [new URL(sluice.admin).host],
    labels: { namespace: 'shop', pod: `shop-${at}`, instance: `shop-${at}` },
  }));
  // JSON is YAML.
  return JSON.stringify({
    global: { scrape_interval: '250ms', evaluation_interval: '250ms' },
    rule_files: [path.join(repositoryDir, 'docs/monitoring/alerts.yml')],
    scrape_configs: [{ job_name: 'sluice/shop', static_configs: targets }],
  });
}

/** Starts Prometheus; asks it for what its API has at this path. */
async function prometheus(
  t: TestContext,
  program: string,
  config: string,
): Promise<(where: string) => Promise<unknown>> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-prom-'));
  const file = path.join(dir, 'prometheus.yml');
  fs.writeFileSync(file, config);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(dir, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  t.after(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const get = async (where: string): Promise<unknown> => {
    const response = await fetch(`http://${address}/api/v1/${where}`);
    const body = (await response.json()) as { status: string; error?: string; data: unknown };
    assert.equal(body.status, 'success', `${where}: ${body.error ?? ''}`);
    return body.data;
  };
  await eventually(() => get('status/buildinfo'), { deadlineMs: 20_000, what: 'Prometheus' });
  return get;
}

void test('dashboard, alert rules and queries of autoscalers find every instance', async (t) => {
  const program = programNamed('prometheus');
  if (program === undefined) return t.skip('prometheus is not installed (tests/scenarios/install.sh)');
  const instances: Sluice[] = [];
  for (let at = 0; at < INSTANCES; at += 1) {
    instances.push(
      await running(t, { entry: app('trivial.js'), workers: 1, config: '[cache]\nenabled = true\n' }),
    );
  }
  const get = await prometheus(t, program, configFor(instances));
  const query = async (expression: string): Promise<readonly Sample[]> => {
    const filled = expression
      .replaceAll('$__rate_interval', '10s')
      .replaceAll('$job', 'sluice/shop')
      .replaceAll('$instance', '.*');
    const found = (await get(`query?query=${encodeURIComponent(filled)}`)) as { result: readonly Sample[] };
    return found.result;
  };
  const instancesOf = (found: readonly Sample[]): Set<string> =>
    new Set(found.flatMap(({ metric: { instance } }) => (instance === undefined ? [] : [instance])));
  await eventually(
    async () => {
      for (const sluice of instances) await ask(sluice, '/');
      const rates = await query('sum by (instance) (rate(sluice_requests_total{job="$job"}[10s])) > 0');
      return instancesOf(rates).size === INSTANCES;
    },
    { deadlineMs: 30_000, what: 'a rate of each instance' },
  );

  const dashboard = JSON.parse(read('docs/monitoring/grafana.json')) as {
    readonly panels: readonly Panel[];
    readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  };
  for (const { expr } of dashboard.annotations.list) await query(expr);
  const rows = dashboard.panels.flatMap(({ type }, at) => (type === 'row' ? [at] : []));
  assert.equal(dashboard.panels[0]?.title, 'Fleet');
  let asked = 0;
  for (const [at, { title, targets = [] }] of dashboard.panels.entries()) {
    for (const { expr } of targets) {
      const found = await query(expr);
      asked += 1;
      if (at > (rows[1] ?? 0) || EMPTY.includes(title)) continue;
      assert.ok(found.length > 0, `${title}: ${expr}`);
      if (/by \(instance/.test(expr) && !/^(max|avg|count)\(/.test(expr))
        assert.equal(instancesOf(found).size, INSTANCES, `${title}: ${expr}`);
    }
  }
  assert.ok(asked > 60, `${asked} queries`);

  const rules = async (): Promise<readonly Rule[]> =>
    ((await get('rules')) as { groups: readonly { rules: readonly Rule[] }[] }).groups.flatMap(
      (group) => group.rules,
    );
  await eventually(async () => (await rules()).every(({ health }) => health === 'ok'), {
    deadlineMs: 20_000,
    what: 'an evaluation of each rule',
  });
  assert.ok((await rules()).length > 20);
  assert.deepEqual(await query('ALERTS{alertstate="firing"}'), []);

  const keda = parseYaml(read('examples/fleet/kubernetes/autoscaler-keda.yaml')) as {
    spec: { triggers: readonly { type: string; metadata: { query: string } }[] };
  };
  const wait = keda.spec.triggers.find(({ type }) => type === 'prometheus');
  assert.ok(wait);
  const [mean, ...others] = await query(wait.metadata.query);
  assert.ok(mean !== undefined && others.length === 0 && Number(mean.value[1]) >= 0, 'the query of KEDA');

  const adapter = parseYaml(read('packaging/helm/prometheus-adapter.yaml')) as {
    rules: { custom: readonly { seriesQuery: string; metricsQuery: string; name: { as: string } }[] };
  };
  const [rule] = adapter.rules.custom;
  assert.ok(rule && (await query(rule.seriesQuery)).length === INSTANCES, 'the series of prometheus-adapter');
  // As prometheus-adapter fills the template in for the pods of a HorizontalPodAutoscaler.
  const filled = rule.metricsQuery
    .replaceAll('<<.Series>>', rule.name.as)
    .replaceAll('<<.LabelMatchers>>', 'namespace="shop",pod=~"shop-0|shop-1|shop-2"')
    .replaceAll('<<.GroupBy>>', 'pod');
  assert.equal((await query(filled)).length, INSTANCES, filled);
});
