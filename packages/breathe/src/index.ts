/** Loops that let others in. Without dependencies, and usable without Sluice, in Node.js and in browsers. */
export { breathe, Breather, type BreatheOptions, type BreatherOptions } from './breather.js';
export { breathing } from './breathing.js';
