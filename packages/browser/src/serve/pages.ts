/** Pages of a project's components, rendered by the frameworks that are installed. It must not know servers. */
import { installedAt } from '../vite/installed.js';
import {
  createPages,
  createRegistry,
  type Adapter,
  type Pages,
  type PagesOptions,
  type Registry,
} from '@sluice/render';

/** Server's half of a build, as `vite build` writes it and Vite evaluates it. */
export interface Components {
  register<R>(registry: R): R;
  /** Component of React around each box. */
  readonly wrap?: ((props: { readonly children: unknown }) => null) | undefined;
}

export async function pagesOf(
  root: string,
  components: Components,
  options: Omit<PagesOptions, 'registry'>,
  register: ((registry: Registry) => unknown) | undefined,
): Promise<Pages> {
  const registry = createRegistry({ adapters: await adaptersOf(root, components) });
  components.register(registry);
  await register?.(registry);
  return createPages({ ...options, registry });
}

async function adaptersOf(root: string, { wrap }: Components): Promise<Adapter[]> {
  const isInstalled = installedAt(root);
  const adapters: Adapter[] = [];
  if (isInstalled('react', 'react-dom')) {
    const { react } = await import('@sluice/render/react');
    adapters.push(react(wrap === undefined ? {} : { wrap }));
  }
  if (isInstalled('preact', 'preact-render-to-string'))
    adapters.push((await import('@sluice/render/preact')).preact());
  if (isInstalled('vue')) adapters.push((await import('@sluice/render/vue')).vue());
  return adapters;
}
