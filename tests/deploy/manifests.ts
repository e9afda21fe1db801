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
  const objects = documents.map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as unknown;
  });
  const kinds = objects.map((object) => `${String(at(object, 'apiVersion'))} ${String(at(object, 'kind'))}`);
  assert.deepEqual(kinds, ['apps/v1 Deployment', 'v1 Service', 'policy/v1 PodDisruptionBudget']);
  const [deployment, service, budget] = objects;
  for (const object of objects)
    assert.match(String(at(object, 'metadata.name')), /^[a-z]([a-z0-9-]*[a-z0-9])?$/);

  const labels = at(deployment, 'spec.template.metadata.labels');
  assert.ok(labels !== undefined);
  assert.deepEqual(at(deployment, 'spec.selector.matchLabels'), labels);
  assert.deepEqual(at(service, 'spec.selector'), labels);
  assert.deepEqual(at(budget, 'spec.selector.matchLabels'), labels);
  assert.ok(
    Number(at(deployment, 'spec.replicas')) > Number(at(budget, 'spec.minAvailable')),
    'a node can be drained',
  );
  assert.equal(at(deployment, 'spec.strategy.rollingUpdate.maxUnavailable'), 0);

  const pod = at(deployment, 'spec.template.spec');
  const container = at(pod, 'containers.0');
  const port = at(container, 'ports.0.name');
  assert.equal(at(service, 'spec.ports.0.targetPort'), port);
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    assert.equal(at(container, `${probe}.httpGet.port`), port, probe);
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

/** Reads `compose.yaml` of this folder; its only service, checked. */
export function composed(dir: string): unknown {
  const file: unknown = parse(fs.readFileSync(path.join(dir, 'compose.yaml'), 'utf8'), { strict: true });
  const services = Object.values(at(file, 'services') as Readonly<Record<string, unknown>>);
  assert.equal(services.length, 1);
  const [service] = services;
  assert.equal(at(service, 'build'), '.');
  assert.equal(at(service, 'init'), true);
  assert.equal(at(service, 'read_only'), true);
  assert.deepEqual(at(service, 'cap_drop'), ['ALL']);
  assert.match(String(at(service, 'stop_grace_period')), /^\d+s$/);
  return service;
}
