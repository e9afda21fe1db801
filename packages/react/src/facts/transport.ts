/** Transport of a late piece to the client: hidden, in an element in which the parser lets its tags stand. */
import { COLUMN_GROUP, MATHML, SVG, TABLE, TABLE_BODY, TABLE_ROW } from './format.js';

/** Start up to the value of `id`, and end. */
type Wrapper = readonly [open: string, close: string];

const HTML_WRAPPER: Wrapper = ['<div hidden id="', '</div>'];
const WRAPPERS = new Map<number, Wrapper>([
  [SVG, ['<svg aria-hidden="true" style="display:none" id="', '</svg>']],
  [MATHML, ['<math aria-hidden="true" style="display:none" id="', '</math>']],
  [TABLE, ['<table hidden id="', '</table>']],
  [TABLE_BODY, ['<table hidden><tbody id="', '</tbody></table>']],
  [TABLE_ROW, ['<table hidden><tr id="', '</tr></table>']],
  [COLUMN_GROUP, ['<table hidden><colgroup id="', '</colgroup></table>']],
]);

export function segmentWrapper(mode: number): Wrapper {
  return WRAPPERS.get(mode) ?? HTML_WRAPPER;
}
