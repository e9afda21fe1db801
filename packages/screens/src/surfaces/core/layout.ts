// Layout of boxes by Yoga, whose defaults are the stream's: columns, no shrinking, no automatic smallest size.
import Yoga, {
  Align,
  Display,
  Edge,
  FlexDirection,
  Gutter,
  Justify,
  MeasureMode,
  PositionType,
  Wrap,
} from 'yoga-layout';
import type { Node as YogaNode } from 'yoga-layout';
import { PROPERTIES, type PropertyName } from '../../stream/codes.js';
import type { Box } from './box.js';
import { type Font, type Width, linesOf, widest } from './paragraph.js';
import { Percent, type Value } from './values.js';

const DIRECTIONS = [
  FlexDirection.Column,
  FlexDirection.Row,
  FlexDirection.ColumnReverse,
  FlexDirection.RowReverse,
];
const JUSTIFIED = [
  Justify.FlexStart,
  Justify.Center,
  Justify.FlexEnd,
  Justify.SpaceBetween,
  Justify.SpaceAround,
  Justify.SpaceEvenly,
];
const ITEMS = [Align.Stretch, Align.FlexStart, Align.Center, Align.FlexEnd];
const SELVES = [Align.Auto, ...ITEMS];
const LINES = [
  Align.FlexStart,
  Align.Center,
  Align.FlexEnd,
  Align.Stretch,
  Align.SpaceBetween,
  Align.SpaceAround,
];

type Length = number | 'auto' | `${number}%` | undefined;
type Setter = (node: YogaNode, value: Value) => void;

const length = (value: Value): Length => (value instanceof Percent ? `${value.value}%` : (value as number));
/** Limit, or none for not a number. */
const limit = (value: Value): Exclude<Length, 'auto'> => length(value) as Exclude<Length, 'auto'>;
const size = (value: Value): Length => (Number.isNaN(value) ? 'auto' : length(value));
const number = (value: Value): number => value as number;
const of = <Choice>(choices: readonly Choice[], value: Value): Choice => choices[value as number] as Choice;

/** Setters by property. Those of text are below, in `measure`. */
const SETTERS: Readonly<Partial<Record<PropertyName, Setter>>> = {
  display: (node, value) => node.setDisplay(value === 1 ? Display.None : Display.Flex),
  position: (node, value) =>
    node.setPositionType(value === 1 ? PositionType.Absolute : PositionType.Relative),
  flexDirection: (node, value) => node.setFlexDirection(of(DIRECTIONS, value)),
  flexWrap: (node, value) => node.setFlexWrap(value === 1 ? Wrap.Wrap : Wrap.NoWrap),
  justifyContent: (node, value) => node.setJustifyContent(of(JUSTIFIED, value)),
  alignItems: (node, value) => node.setAlignItems(of(ITEMS, value)),
  alignSelf: (node, value) => node.setAlignSelf(of(SELVES, value)),
  alignContent: (node, value) => node.setAlignContent(of(LINES, value)),
  flexGrow: (node, value) => node.setFlexGrow(number(value)),
  flexShrink: (node, value) => node.setFlexShrink(number(value)),
  flexBasis: (node, value) => node.setFlexBasis(size(value)),
  width: (node, value) => node.setWidth(size(value)),
  height: (node, value) => node.setHeight(size(value)),
  minWidth: (node, value) => node.setMinWidth(limit(value)),
  minHeight: (node, value) => node.setMinHeight(limit(value)),
  maxWidth: (node, value) => node.setMaxWidth(limit(value)),
  maxHeight: (node, value) => node.setMaxHeight(limit(value)),
  aspectRatio: (node, value) => node.setAspectRatio(number(value) > 0 ? number(value) : undefined),
  rowGap: (node, value) => node.setGap(Gutter.Row, number(value)),
  columnGap: (node, value) => node.setGap(Gutter.Column, number(value)),
  left: (node, value) => node.setPosition(Edge.Left, limit(value)),
  top: (node, value) => node.setPosition(Edge.Top, limit(value)),
  right: (node, value) => node.setPosition(Edge.Right, limit(value)),
  bottom: (node, value) => node.setPosition(Edge.Bottom, limit(value)),
  paddingLeft: (node, value) => node.setPadding(Edge.Left, number(value)),
  paddingTop: (node, value) => node.setPadding(Edge.Top, number(value)),
  paddingRight: (node, value) => node.setPadding(Edge.Right, number(value)),
  paddingBottom: (node, value) => node.setPadding(Edge.Bottom, number(value)),
  marginLeft: (node, value) => node.setMargin(Edge.Left, number(value)),
  marginTop: (node, value) => node.setMargin(Edge.Top, number(value)),
  marginRight: (node, value) => node.setMargin(Edge.Right, number(value)),
  marginBottom: (node, value) => node.setMargin(Edge.Bottom, number(value)),
  borderWidth: (node, value) => node.setBorder(Edge.All, number(value)),
};

const SETTER_OF: readonly (Setter | undefined)[] = (() => {
  const table: (Setter | undefined)[] = [];
  for (const [name, setter] of Object.entries(SETTERS)) table[PROPERTIES[name as PropertyName].code] = setter;
  return table;
})();

const { text, fontSize, fontWeight, fontFamily, lineHeight, maxLines } = PROPERTIES;
const OF_TEXT: ReadonlySet<number> = new Set(
  [text, fontSize, fontWeight, fontFamily, lineHeight, maxLines].map(({ code }) => code),
);

export const createNode = (): YogaNode => Yoga.Node.create();

export function fontOf(box: Box): Font {
  const size = box.number(fontSize.code);
  return {
    size,
    weight: box.number(fontWeight.code),
    family: box.text(fontFamily.code),
    line_px: size * box.number(lineHeight.code),
  };
}

/** Lines of a box's text within a width, pixels. */
export const linesIn = (box: Box, width: number, widthOf: Width): string[] =>
  linesOf(box.text(text.code), fontOf(box), width, box.number(maxLines.code), widthOf);

/** Says to Yoga what value a property of the box has. */
export function setLayout(box: Box, code: number, value: Value): void {
  SETTER_OF[code]?.(box.node, value);
  if (OF_TEXT.has(code) && box.isMeasured) box.node.markDirty();
}

/** Lets Yoga measure the box's text, or no longer. A box with children has no text of its own: Yoga measures leaves alone. */
export function setMeasured(box: Box, widthOf: Width): void {
  const isMeasured = box.children.length === 0 && box.text(text.code) !== '';
  if (isMeasured === box.isMeasured) return;
  box.isMeasured = isMeasured;
  if (isMeasured) {
    box.node.setMeasureFunc((width, mode) => measure(box, width, mode, widthOf));
  } else {
    // Yoga knows of no change otherwise, and lets only nodes that are measured be marked.
    box.node.markDirty();
    box.node.setMeasureFunc(null);
  }
}

function measure(
  box: Box,
  width: number,
  mode: MeasureMode,
  widthOf: Width,
): { width: number; height: number } {
  const font = fontOf(box);
  const within = mode === MeasureMode.Undefined ? Number.POSITIVE_INFINITY : width;
  // Yoga rounds: a text must not wrap in the width that was measured for it.
  const lines = linesIn(box, within + 0.5, widthOf);
  return {
    width: mode === MeasureMode.Exactly ? width : Math.min(within, Math.ceil(widest(lines, font, widthOf))),
    height: lines.length * font.line_px,
  };
}
