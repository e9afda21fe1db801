/** How a late piece travels to the client: hidden, in an element in which the parser lets its tags stand. */
import { COLUMN_GROUP, MATHML, SVG, TABLE, TABLE_BODY, TABLE_ROW } from './format.js';
const HTML_WRAPPER = ['<div hidden id="', '</div>'];
const WRAPPERS = new Map([
    [SVG, ['<svg aria-hidden="true" style="display:none" id="', '</svg>']],
    [MATHML, ['<math aria-hidden="true" style="display:none" id="', '</math>']],
    [TABLE, ['<table hidden id="', '</table>']],
    [TABLE_BODY, ['<table hidden><tbody id="', '</tbody></table>']],
    [TABLE_ROW, ['<table hidden><tr id="', '</tr></table>']],
    [COLUMN_GROUP, ['<table hidden><colgroup id="', '</colgroup></table>']],
]);
export function segmentWrapper(mode) {
    return WRAPPERS.get(mode) ?? HTML_WRAPPER;
}
//# sourceMappingURL=transport.js.map