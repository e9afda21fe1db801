/**
 * Plain manifests of the chart, for clusters without Helm: `examples/fleet/kubernetes/`. `--check` fails where the files are not what
 * the chart would give. It needs helm on PATH or in packaging/.tools/bin (`make packaging/.tools/bin/helm`).
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Folder of the chart. */
export const chart = path.join(root, 'packaging/helm/sluice');
/** Folder of the manifests. */
export const folder = path.join(root, 'examples/fleet/kubernetes');

/** Kubernetes for which the chart is rendered. A helm that was built from its module knows no version of its own. */
const KUBERNETES = '1.34.0';
/** Values of every manifest. */
const SHOP = ['image.repository=registry.example/shop', 'image.tag=1.0.0'];
const MONITORING = 'kubernetes\\.io/metadata\\.name=monitoring';

/** Files with their templates and values. */
const FILES: Readonly<Record<string, { templates: readonly string[]; values: readonly string[] }>> = {
  'app.yaml': { templates: ['deployment', 'service', 'disruption-budget'], values: [] },
  'autoscaler-hpa.yaml': { templates: ['autoscaler'], values: ['autoscaling.by=hpa'] },
  'autoscaler-keda.yaml': {
    templates: ['autoscaler'],
    values: [
      'autoscaling.by=keda',
      'autoscaling.keda.serverAddress=http://prometheus-operated.monitoring:9090',
    ],
  },
  'pod-monitor.yaml': { templates: ['pod-monitor'], values: ['podMonitor.enabled=true'] },
  'network-policy.yaml': {
    templates: ['network-policy'],
    values: [
      'networkPolicy.enabled=true',
      `networkPolicy.admin[0].namespaceSelector.matchLabels.${MONITORING}`,
    ],
  },
};

/** Output of `helm template` for a release, without the lines that name templates. Throws with helm's error. */
export function rendered(
  helm: string,
  release: string,
  values: readonly string[],
  templates: readonly string[] = [],
): string {
  const args = ['template', release, chart, '--namespace', 'shop', '--kube-version', KUBERNETES];
  for (const value of values) args.push('--set', value);
  for (const template of templates) args.push('--show-only', `templates/${template}.yaml`);
  const { status, stdout, stderr, error } = spawnSync(helm, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(error?.message ?? stderr.trim());
  return stdout.replaceAll(/^# Source: .*\n/gm, '').replace(/^---\n/, '');
}

/** The manifests by their names. */
export function manifests(helm: string): Map<string, string> {
  const texts = Object.entries(FILES).map(([name, { templates, values }]): [string, string] => [
    name,
    `# Written from packaging/helm/sluice by packaging/helm/manifests.ts.\n${rendered(helm, 'shop', [...SHOP, ...values], templates)}`,
  ]);
  return new Map(texts);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const built = path.join(root, 'packaging/.tools/bin/helm');
  const made = manifests(fs.existsSync(built) ? built : 'helm');
  const stale = [...made].filter(([name, text]) => {
    const file = path.join(folder, name);
    return !fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text;
  });
  if (process.argv.includes('--check')) {
    for (const [name] of stale) console.error(`stale: examples/fleet/kubernetes/${name}`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    fs.mkdirSync(folder, { recursive: true });
    for (const [name, text] of stale) fs.writeFileSync(path.join(folder, name), text);
  }
}
