/** @jsxRuntime automatic @jsxImportSource react */
import { GraphProvider } from '@sluice/graph/react';
import type { Model } from '@sluice/graph';
import type { ReactNode } from 'react';
import { App } from './App.js';

interface RootProps {
  readonly model: Model;
  readonly at?: string;
  readonly onAt?: (at: string) => void;
  readonly server?: string;
}

/** The app with its data: what a device renders. */
export function Root({ model, ...app }: RootProps): ReactNode {
  return (
    <GraphProvider model={model}>
      <App {...app} />
    </GraphProvider>
  );
}
