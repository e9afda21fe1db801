import { createContext } from 'react';
import type { Probe } from './probe.js';

/** Probe of the root, for components that wait for idle time, memory, or a change of the screen. */
export const ProbeContext = createContext<Probe | null>(null);
