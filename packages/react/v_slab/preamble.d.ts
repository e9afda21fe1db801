import { type Render } from './work.js';
/** Once the tags of the document are settled, notes which segments go into its head. */
export declare function preparePreamble(render: Render): void;
