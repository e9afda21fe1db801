export type { PropertyValues } from './stream/codes.js';
