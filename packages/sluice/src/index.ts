/** Types for programs that write or read Sluice's config. The command is `bin/sluice.js`. */
export type * from './config.js';
