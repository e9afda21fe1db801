// What an app loads that uses the model: its class and nothing else.
import { Model } from '@sluice/graph';

globalThis.Model = Model;
