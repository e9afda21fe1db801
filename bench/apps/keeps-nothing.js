// Loaded before an app: Sluice's component cache keeps nothing in this process.
import { configureCache } from '@sluice/react/server';

configureCache({ bytes_max: 0 });
