// The Helm chart: Helm accepts it, refuses values that do not fit, and the plain manifests and those of `sluice init` are what it gives.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { chart, folder, manifests, rendered } from '../../packaging/helm/manifests.ts';
import { programNamed } from '../support/programs.ts';
import { repositoryDir } from '../support/sluice.ts';
import { at, checked } from './manifests.ts';

/** Every optional part. */
const EVERYTHING = [
  'image.repository=shop',
  'podMonitor.enabled=true',
  'networkPolicy.enabled=true',
  'networkPolicy.admin[0].namespaceSelector.matchLabels.team=monitoring',
  'autoscaling.by=keda',
  'autoscaling.keda.serverAddress=http://prometheus:9090',
  'autoscaling.keda.authenticationRef=prometheus',
  'port=443',
  'tls=true',
  'tmpSizeLimit=1Gi',
  'podLabels.team=shop',
  'podAnnotations.note=yes',
  'env[0].name=NODE_OPTIONS',
  'env[0].value=--enable-source-maps',
];

const objectsOf = (text: string): unknown[] =>
  parseAllDocuments(text, { strict: true }).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as unknown;
  });

function helm(t: TestContext): string | undefined {
  const program = programNamed('helm');
  if (program === undefined) t.skip('helm is not here: make packaging/.tools/bin/helm');
  return program;
}

void test('helm lint has nothing to say, with defaults and with everything', (t) => {
  const program = helm(t);
  if (program === undefined) return;
  for (const values of [['image.repository=shop'], EVERYTHING]) {
    const args = ['lint', '--strict', chart, ...values.flatMap((value) => ['--set', value])];
    const ended: SpawnSyncReturns<string> = spawnSync(program, args, { encoding: 'utf8' });
    const { status, stdout, stderr } = ended;
    assert.equal(status, 0, stdout + stderr);
    assert.ok(!/WARNING|ERROR/.test(stdout), stdout);
  }
});

void test('plain manifests are what the chart gives', (t) => {
  const program = helm(t);
  if (program === undefined) return;
  const made = manifests(program);
  assert.deepEqual(fs.readdirSync(folder).sort(), [...made.keys()].sort());
  for (const [name, text] of made)
    assert.equal(
      fs.readFileSync(path.join(folder, name), 'utf8'),
      text,
      `write ${name} anew: npx tsx packaging/helm/manifests.ts`,
    );
});

void test('sluice init gives hello the objects that the chart gives', (t) => {
  const program = helm(t);
  if (program === undefined) return;
  const written = fs.readFileSync(path.join(repositoryDir, 'examples/hello/kubernetes.yaml'), 'utf8');
  const values = ['image.repository=hello', 'drain.timeout=20'];
  const byKind = (text: string): Map<string, unknown> =>
    new Map(objectsOf(text).map((object) => [String(at(object, 'kind')), object]));
  assert.deepEqual(byKind(rendered(program, 'hello', values)), byKind(written));
});

void test('plain manifests lose no request, and give no rights', () => {
  const text = fs.readFileSync(path.join(folder, 'app.yaml'), 'utf8');
  const { deployment } = checked(objectsOf(text));
  const pod = at(deployment, 'spec.template.spec');
  const env = at(pod, 'containers.0.env') as readonly { name: string; value: string }[];
  const secondsOf = (name: string): number => Number(env.find((one) => one.name === name)?.value) / 1000;
  const drain = ['SLUICE_DRAIN_DELAY_MS', 'SLUICE_DRAIN_TIMEOUT_MS', 'SLUICE_WORKERS_STOP_TIMEOUT_MS'];
  const grace = Number(at(pod, 'terminationGracePeriodSeconds'));
  assert.equal(
    grace,
    drain.map(secondsOf).reduce((sum, seconds) => sum + seconds, 5),
  );
  const startup = at(pod, 'containers.0.startupProbe');
  const tries = Number(at(startup, 'periodSeconds')) * Number(at(startup, 'failureThreshold'));
  assert.ok(tries > secondsOf('SLUICE_WORKERS_START_TIMEOUT_MS'));
});

void test('every optional part is there when it is asked for', (t) => {
  const program = helm(t);
  if (program === undefined) return;
  const objects = objectsOf(rendered(program, 'shop', EVERYTHING));
  const kinds = objects.map((object) => String(at(object, 'kind'))).sort();
  const expected = [
    'Deployment',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'PodMonitor',
    'ScaledObject',
    'Service',
  ];
  assert.deepEqual(kinds, expected);
  const of = (kind: string): unknown => objects.find((object) => at(object, 'kind') === kind);
  assert.equal(at(of('Deployment'), 'spec.replicas'), undefined, 'the autoscaler decides');
  assert.equal(at(of('Service'), 'spec.ports.0.port'), 443);
  const container = at(of('Deployment'), 'spec.template.spec.containers.0');
  assert.deepEqual(at(container, 'securityContext.capabilities.add'), ['NET_BIND_SERVICE']);
  assert.equal(at(of('ScaledObject'), 'spec.triggers.0.metadata.threshold'), '0.500');
  assert.equal(at(of('NetworkPolicy'), 'spec.ingress.0.from'), undefined, 'everybody may use the app');
  assert.ok(at(of('NetworkPolicy'), 'spec.ingress.1.from.0.namespaceSelector') !== undefined);
});

void test('both autoscalers behave alike', (t) => {
  const program = helm(t);
  if (program === undefined) return;
  const base = ['image.repository=shop', 'autoscaling.keda.serverAddress=http://prometheus:9090'];
  const [hpa, keda] = ['hpa', 'keda'].map((by) => {
    const [object] = objectsOf(rendered(program, 'shop', [...base, `autoscaling.by=${by}`], ['autoscaler']));
    return object;
  });
  assert.deepEqual(
    at(hpa, 'spec.behavior'),
    at(keda, 'spec.advanced.horizontalPodAutoscalerConfig.behavior'),
  );
  assert.equal(at(hpa, 'spec.metrics.0.pods.target.averageValue'), '500m');
});

void test('values that do not fit are refused with the key', (t) => {
  const program = helm(t);
  if (program === undefined) return;
  const refused: readonly (readonly [string, RegExp])[] = [
    ['replicas=-1', /replicas/],
    ['replcas=3', /replcas/],
    ['drain.delay=x', /delay/],
    ['autoscaling.by=vpa', /by/],
    ['image.digest=sha256:1', /digest/],
    ['image.repository=', /image\.repository/],
    ['autoscaling.by=keda', /autoscaling\.keda\.serverAddress/],
    ['autoscaling.by=hpa,autoscaling.min=11', /autoscaling\.min/],
    ['resources.limits.cpu=null', /cpu/],
  ];
  for (const [value, key] of refused)
    assert.throws(() => rendered(program, 'shop', ['image.repository=shop', value]), key, value);
});

void test('the version of the chart is that of Sluice', () => {
  const version = (file: string, pattern: RegExp): string | undefined =>
    pattern.exec(fs.readFileSync(path.join(repositoryDir, file), 'utf8'))?.[1];
  assert.equal(
    version('packaging/helm/sluice/Chart.yaml', /^version: (.+)$/m),
    version('packages/sluice/package.json', /"version": "(.+)"/),
  );
});
