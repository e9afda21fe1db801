// Checks of compose files and Kubernetes manifests: fields without which a deployment loses requests or rights are too wide.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

/** A value of the parsed file by its path: `at(deployment, 'spec.template.spec.containers.0.image')`. */
export function at(value: unknown, where: string): unknown {
  return where.split('.').reduce<unknown>((inner, key) => {
    if (typeof inner !== 'object' || inner === null) return undefined;
    return (inner as Readonly<Record<string, unknown>>)[key];
  }, value);
}

export interface Manifests {
  readonly deployment: unknown;
  readonly service: unknown;
  readonly budget: unknown;
}

/** Reads `kubernetes.yaml` of this folder, and checks that its objects fit together. */
export function kubernetes(dir: string): Manifests {
  const documents = parseAllDocuments(fs.readFileSync(path.join(dir, 'kubernetes.yaml'), 'utf8'), {
    strict: true,
  });
  return checked(
    documents.map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS() as unknown;
    }),
  );
}

/** Checks that a deployment, its service and its budget fit together, lose no request and have few rights. */
export function checked(objects: readonly unknown[]): Manifests {
  const sorted = ['Deployment', 'Service', 'PodDisruptionBudget'].map((kind) =>
    objects.find((object) => at(object, 'kind') === kind),
  );
  const kinds = sorted.map((object) => String(at(object, 'apiVersion')));
  assert.deepEqual(kinds, ['apps/v1', 'v1', 'policy/v1']);
  const [deployment, service, budget] = sorted;
  for (const object of objects)
    assert.match(String(at(object, 'metadata.name')), /^[a-z]([a-z0-9-]*[a-z0-9])?$/);

  const labels = at(deployment, 'spec.template.metadata.labels');
  assert.ok(labels !== undefined);
  assert.deepEqual(at(deployment, 'spec.selector.matchLabels'), labels);
  assert.deepEqual(at(service, 'spec.selector'), labels);
  assert.deepEqual(at(budget, 'spec.selector.matchLabels'), labels);
  assert.ok(
    Number(at(deployment, 'spec.replicas')) > Number(at(budget, 'spec.maxUnavailable')),
    'a pod serves while another is drained',
  );
  assert.equal(at(deployment, 'spec.strategy.rollingUpdate.maxUnavailable'), 0);

  const pod = at(deployment, 'spec.template.spec');
  const container = at(pod, 'containers.0');
  assert.equal(at(service, 'spec.ports.0.targetPort'), at(container, 'ports.0.name'));
  const admin = at(container, 'ports.1.name');
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    assert.equal(at(container, `${probe}.httpGet.port`), admin, probe);
    assert.match(String(at(container, `${probe}.httpGet.path`)), /^\//, probe);
  }
  for (const amount of ['requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']) {
    assert.ok(at(container, `resources.${amount}`) !== undefined, amount);
  }
  assert.equal(at(container, 'securityContext.allowPrivilegeEscalation'), false);
  assert.equal(at(container, 'securityContext.readOnlyRootFilesystem'), true);
  assert.deepEqual(at(container, 'securityContext.capabilities.drop'), ['ALL']);
  assert.equal(at(pod, 'securityContext.runAsNonRoot'), true);
  const names = (list: unknown) => (list as readonly unknown[]).map((entry) => at(entry, 'name'));
  assert.deepEqual(names(at(pod, 'volumes')), names(at(container, 'volumeMounts')));
  return { deployment, service, budget };
}

/** Reads `compose.yaml` of this folder; its services by name, those that are built here checked. */
export function composedAll(dir: string): Readonly<Record<string, unknown>> {
  const text = fs.readFileSync(path.join(dir, 'compose.yaml'), 'utf8');
  const services = at(parse(text, { strict: true, merge: true }), 'services') as Readonly<
    Record<string, unknown>
  >;
  for (const service of Object.values(services)) {
    assert.equal(at(service, 'read_only'), true);
    assert.deepEqual(at(service, 'cap_drop'), ['ALL']);
    assert.match(String(at(service, 'stop_grace_period')), /^\d+s$/);
    if (at(service, 'build') === undefined) continue;
    assert.equal(at(service, 'build'), '.');
    assert.equal(at(service, 'init'), true);
  }
  return services;
}

/** Reads `compose.yaml` of this folder; its only service, checked. */
export function composed(dir: string): unknown {
  const services = Object.values(composedAll(dir));
  assert.equal(services.length, 1);
  return services[0];
}
