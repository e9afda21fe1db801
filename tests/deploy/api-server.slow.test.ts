// A real API server takes the chart's objects: kube-apiserver over etcd, without nodes, so that nothing runs.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { folder, rendered } from '../../packaging/helm/manifests.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { programNamed } from '../support/programs.ts';
import { repositoryDir } from '../support/sluice.ts';
import { tempDir } from './deployed.ts';
import { at } from './manifests.ts';

/** Go modules whose files define further kinds, with the versions that are tested. */
const DEFINITIONS: Readonly<Record<string, string>> = {
  'github.com/kedacore/keda/v2@v2.21.0': 'config/crd/bases/keda.sh_scaledobjects.yaml',
  'github.com/prometheus-operator/prometheus-operator@v0.85.0':
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
};
const TOKEN = 'of-a-test';
/** Starting the server creates its own objects first. */
const START_MS = 180_000;

interface Cluster {
  /** Runs kubectl with these arguments and this input. */
  readonly kubectl: (args: readonly string[], input?: string) => SpawnSyncReturns<string>;
  /** The same, which must succeed; what it printed. */
  readonly done: (args: readonly string[], input?: string) => string;
}

function started(t: TestContext, program: string, args: readonly string[], log: string): void {
  const file = fs.openSync(log, 'w');
  const child = spawn(program, args, { stdio: ['ignore', file, file] });
  fs.closeSync(file);
  t.after(async () => {
    if (child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  });
}

async function cluster(t: TestContext, etcd: string, apiserver: string, kubectl: string): Promise<Cluster> {
  const dir = tempDir(t);
  const [clients, peers, port] = [await freePort(), await freePort(), await freePort()];
  const at127 = (one: number): string => `http://127.0.0.1:${one}`;
  started(
    t,
    etcd,
    [
      `--data-dir=${path.join(dir, 'etcd')}`,
      `--listen-client-urls=${at127(clients)}`,
      `--advertise-client-urls=${at127(clients)}`,
      `--listen-peer-urls=${at127(peers)}`,
    ],
    path.join(dir, 'etcd.log'),
  );
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = path.join(dir, 'accounts.key');
  fs.writeFileSync(key, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const tokens = path.join(dir, 'tokens.csv');
  fs.writeFileSync(tokens, `${TOKEN},tester,1,system:masters\n`, { mode: 0o600 });
  const log = path.join(dir, 'apiserver.log');
  started(
    t,
    apiserver,
    [
      `--etcd-servers=${at127(clients)}`,
      `--cert-dir=${path.join(dir, 'certificates')}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      `--secure-port=${port}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      `--token-auth-file=${tokens}`,
      '--authorization-mode=RBAC',
    ],
    log,
  );
  const authority = path.join(dir, 'certificates/apiserver.crt');
  const run = (args: readonly string[], input?: string): SpawnSyncReturns<string> =>
    spawnSync(
      kubectl,
      [
        `--server=https://127.0.0.1:${port}`,
        `--certificate-authority=${authority}`,
        `--token=${TOKEN}`,
        `--cache-dir=${path.join(dir, 'kubectl')}`,
        ...args,
      ],
      {
        encoding: 'utf8',
        env: { ...process.env, KUBECONFIG: path.join(dir, 'none'), HOME: dir },
        ...(input === undefined ? {} : { input }),
      },
    );
  await eventually(() => run(['get', '--raw=/readyz']).stdout === 'ok', {
    deadlineMs: START_MS,
    pauseMs: 500,
    what: 'the API server',
  }).catch((error: unknown) => {
    throw new Error(fs.readFileSync(log, 'utf8').slice(-2_000), { cause: error });
  });
  return {
    kubectl: run,
    done(args, input) {
      const { status, stdout, stderr } = run(args, input);
      assert.equal(status, 0, `kubectl ${args.join(' ')}: ${stderr}`);
      assert.ok(!stderr.includes('Warning'), stderr);
      return stdout;
    },
  };
}

/** Files that define kinds of others, where Go's module proxy gives them. */
function definitions(): string[] {
  return Object.entries(DEFINITIONS).flatMap(([module, file]) => {
    const { status, stdout } = spawnSync('go', ['mod', 'download', '-json', module], {
      encoding: 'utf8',
      cwd: '/',
    });
    if (status !== 0) return [];
    const { Dir } = JSON.parse(stdout) as { Dir: string };
    return [path.join(Dir, file)];
  });
}

void test('a real API server takes every object of the chart', async (t) => {
  const [etcd, apiserver, kubectl, helm] = ['etcd', 'kube-apiserver', 'kubectl', 'helm'].map(programNamed);
  if (etcd === undefined || apiserver === undefined || kubectl === undefined || helm === undefined)
    return t.skip(
      'etcd, kube-apiserver, kubectl or helm is not here (make packaging/.tools/bin/kube-apiserver)',
    );
  const { kubectl: run, done } = await cluster(t, etcd, apiserver, kubectl);
  // Pods of this namespace must be as restricted as Kubernetes knows.
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  };
  done(['apply', '-f', '-'], stringify(namespace));
  // A controller would, which is not here.
  done(['--namespace=shop', 'create', 'serviceaccount', 'default']);

  const files = definitions();
  for (const file of files) {
    done(['apply', '--server-side', '-f', file]);
    done(['wait', '--for=condition=Established', '--timeout=60s', '-f', file]);
  }
  const isDefined = (file: string): boolean => files.length === 2 || !/keda|monitor/.test(file);
  const left = fs.readdirSync(folder).filter((file) => !isDefined(file));
  if (left.length > 0) t.diagnostic(`without ${left.join(', ')}: the proxy of Go's modules does not answer`);

  const apply = ['--namespace=shop', 'apply', '--server-side', '--validate=strict'];
  const wanted: string[] = [];
  for (const file of fs.readdirSync(folder).filter(isDefined)) {
    const name = path.join(folder, file);
    done([...apply, '--dry-run=server', '-f', name]);
    done([...apply, '-f', name]);
    wanted.push(...done(['--namespace=shop', 'get', '-o', 'name', '-f', name]).trim().split('\n'));
  }
  assert.deepEqual(
    wanted.map((name) => name.replace(/\/shop$/, '')).sort(),
    [
      'deployment.apps',
      'horizontalpodautoscaler.autoscaling',
      'networkpolicy.networking.k8s.io',
      'poddisruptionbudget.policy',
      ...(files.length === 2 ? ['podmonitor.monitoring.coreos.com', 'scaledobject.keda.sh'] : []),
      'service',
    ].sort(),
  );

  // What `sluice init` writes, and the chart with other values.
  done([...apply, '--dry-run=server', '-f', path.join(repositoryDir, 'examples/hello/kubernetes.yaml')]);
  const others = [
    'image.repository=shop',
    'port=443',
    'tls=true',
    'service.type=LoadBalancer',
    'tmpSizeLimit=1Gi',
  ];
  done([...apply, '--dry-run=server', '-f', '-'], rendered(helm, 'other', others));

  // The deployment's pods, which nobody makes here, are as restricted as the namespace wants them.
  const [deployment] = parseAllDocuments(fs.readFileSync(path.join(folder, 'app.yaml'), 'utf8'))
    .map((document) => document.toJS() as unknown)
    .filter((object) => at(object, 'kind') === 'Deployment');
  const template = at(deployment, 'spec.template') as { metadata: object; spec: object };
  const pod = (name: string, spec: object): string =>
    stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name }, spec });
  done([...apply, '-f', '-'], pod('one', template.spec));
  // And the server would say so if they were not.
  const rooted = run(
    [...apply, '-f', '-'],
    pod('two', { ...template.spec, securityContext: { runAsUser: 0 } }),
  );
  assert.match(rooted.stderr, /violates PodSecurity "restricted/);
  const misspelt = run(
    [...apply, '--dry-run=server', '-f', '-'],
    pod('two', { ...template.spec, containres: [] }),
  );
  assert.match(misspelt.stderr, /containres/);
});
