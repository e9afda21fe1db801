/** Generated from screens/stream.json by screens/generate.ts. */

/** Version of the stream. */
export const VERSION = 1;

/** Commands: the low byte of a command's first word. */
export const COMMAND = {
  /** A new widget, outside the tree. */
  CREATE: 1,
  /** The widget becomes a child of `parent` (0: the root), before the child `before` (0: at the end). A widget that is already in the tree moves. */
  PLACE: 2,
  /** Removes the widget and all its descendants. Their numbers may be used again from the next batch on. */
  REMOVE: 3,
  /** Own value of a property: pixels or a plain number. */
  NUMBER: 4,
  /** Own value in percent of the parent (50 is one half). */
  PERCENT: 5,
  /** Own value of a colour (0xRRGGBBAA), a choice (its index in the list, from 0) or a flag (0 or 1). */
  INTEGER: 6,
  /** Own value of a text: its index in the batch's strings, from 0. */
  STRING: 7,
  /** Removes the widget's own value of this property. */
  RESET: 8,
  /** Shared style of the widget (0: none). */
  STYLE: 9,
  /** Shared style that applies while the widget has the focus (0: none). */
  FOCUS_STYLE: 10,
  /** Defines a shared style. `length` words follow: entries like `number`, `percent`, `integer`, `string` and `transition`, without their `id`. A style is defined once and never changes. */
  DEFINE: 11,
  /** Moves the focus to the widget (0: to none). */
  FOCUS: 12,
  /** Changes of the property take `duration` milliseconds after `delay` (0: immediately). The transition applies from the second frame in which the widget is in the tree and not hidden. */
  TRANSITION: 13,
  /** Animates the property from `from` (NaN: the current value) to `to`. `repeat` is the number of further runs, 0 to 65535; 65535 means infinite. If bit 16 is set, every second run is reversed. The final value stays. */
  ANIMATE: 14,
  /** Ends an animation of this property. The property returns to the value of its styles. */
  STOP: 15,
} as const;

/** Events: the low byte of an event's first word. */
export const EVENT = {
  /** A key, named as in the DOM's `KeyboardEvent.key`. `phase`: 0 pressed, 1 repeated by the device, 2 released. `sequence` grows by one. `time` is in milliseconds of the surface's clock. */
  KEY: 1,
  /** New position and size of a widget with `reports`, in pixels of the surface, without `x`, `y`, `scale` and `rotate`. */
  LAYOUT: 2,
  /** A transition or animation of a widget with `reports` has ended. */
  ANIMATION_END: 3,
  /** The image of a widget with `reports` is loaded (1) or has failed to load (2). */
  IMAGE: 4,
  /** Memory of the device: 0 enough, 1 low, 2 almost none. */
  MEMORY: 5,
  /** New size of the surface in pixels. */
  RESIZE: 6,
  /** The screen shows the batches with this cause: `time`, and the `duration` of layout and drawing in milliseconds. A frame reports each cause of its batches once, including 0, and including batches that changed nothing. If there are more than 64 causes, it reports the last 64. */
  FRAME: 7,
} as const;

export const EASINGS = ['linear', 'ease', 'ease-in', 'ease-out', 'ease-in-out'] as const;

export type PropertyType = 'length' | 'number' | 'integer' | 'color' | 'choice' | 'flag' | 'text';

export interface PropertyFacts {
  readonly code: number;
  readonly type: PropertyType;
  /** Values of a choice, in the order of their numbers. */
  readonly values?: readonly string[];
  readonly default: number | string | boolean;
  readonly group: 'layout' | 'paint' | 'behaviour';
  /** Whether it can change by steps. */
  readonly animates: boolean;
}

/** Properties by name. */
export const PROPERTIES = {
  display: {"code":1,"type":"choice","values":["flex","none"],"default":"flex","group":"layout","animates":false},
  position: {"code":2,"type":"choice","values":["relative","absolute"],"default":"relative","group":"layout","animates":false},
  flexDirection: {"code":3,"type":"choice","values":["column","row","column-reverse","row-reverse"],"default":"column","group":"layout","animates":false},
  flexWrap: {"code":4,"type":"choice","values":["nowrap","wrap"],"default":"nowrap","group":"layout","animates":false},
  justifyContent: {"code":5,"type":"choice","values":["flex-start","center","flex-end","space-between","space-around","space-evenly"],"default":"flex-start","group":"layout","animates":false},
  alignItems: {"code":6,"type":"choice","values":["stretch","flex-start","center","flex-end"],"default":"stretch","group":"layout","animates":false},
  alignSelf: {"code":7,"type":"choice","values":["auto","stretch","flex-start","center","flex-end"],"default":"auto","group":"layout","animates":false},
  alignContent: {"code":8,"type":"choice","values":["flex-start","center","flex-end","stretch","space-between","space-around"],"default":"flex-start","group":"layout","animates":false},
  flexGrow: {"code":9,"type":"number","default":0,"group":"layout","animates":false},
  flexShrink: {"code":10,"type":"number","default":0,"group":"layout","animates":false},
  flexBasis: {"code":11,"type":"length","default":"auto","group":"layout","animates":false},
  width: {"code":12,"type":"length","default":"auto","group":"layout","animates":false},
  height: {"code":13,"type":"length","default":"auto","group":"layout","animates":false},
  minWidth: {"code":14,"type":"length","default":0,"group":"layout","animates":false},
  minHeight: {"code":15,"type":"length","default":0,"group":"layout","animates":false},
  maxWidth: {"code":16,"type":"length","default":"auto","group":"layout","animates":false},
  maxHeight: {"code":17,"type":"length","default":"auto","group":"layout","animates":false},
  aspectRatio: {"code":18,"type":"number","default":"auto","group":"layout","animates":false},
  rowGap: {"code":19,"type":"number","default":0,"group":"layout","animates":false},
  columnGap: {"code":20,"type":"number","default":0,"group":"layout","animates":false},
  left: {"code":21,"type":"length","default":"auto","group":"layout","animates":false},
  top: {"code":22,"type":"length","default":"auto","group":"layout","animates":false},
  right: {"code":23,"type":"length","default":"auto","group":"layout","animates":false},
  bottom: {"code":24,"type":"length","default":"auto","group":"layout","animates":false},
  paddingLeft: {"code":25,"type":"number","default":0,"group":"layout","animates":false},
  paddingTop: {"code":26,"type":"number","default":0,"group":"layout","animates":false},
  paddingRight: {"code":27,"type":"number","default":0,"group":"layout","animates":false},
  paddingBottom: {"code":28,"type":"number","default":0,"group":"layout","animates":false},
  marginLeft: {"code":29,"type":"number","default":0,"group":"layout","animates":false},
  marginTop: {"code":30,"type":"number","default":0,"group":"layout","animates":false},
  marginRight: {"code":31,"type":"number","default":0,"group":"layout","animates":false},
  marginBottom: {"code":32,"type":"number","default":0,"group":"layout","animates":false},
  opacity: {"code":40,"type":"number","default":1,"group":"paint","animates":true},
  x: {"code":41,"type":"number","default":0,"group":"paint","animates":true},
  y: {"code":42,"type":"number","default":0,"group":"paint","animates":true},
  scale: {"code":43,"type":"number","default":1,"group":"paint","animates":true},
  rotate: {"code":44,"type":"number","default":0,"group":"paint","animates":true},
  clip: {"code":45,"type":"flag","default":false,"group":"paint","animates":false},
  zIndex: {"code":46,"type":"integer","default":0,"group":"paint","animates":false},
  background: {"code":47,"type":"color","default":"#00000000","group":"paint","animates":true},
  gradient: {"code":48,"type":"text","default":"","group":"paint","animates":false},
  borderRadius: {"code":49,"type":"number","default":0,"group":"paint","animates":true},
  borderWidth: {"code":50,"type":"number","default":0,"group":"layout","animates":false},
  borderColor: {"code":51,"type":"color","default":"#00000000","group":"paint","animates":true},
  image: {"code":52,"type":"text","default":"","group":"paint","animates":false},
  fit: {"code":53,"type":"choice","values":["cover","contain","fill"],"default":"cover","group":"paint","animates":false},
  text: {"code":60,"type":"text","default":"","group":"layout","animates":false},
  color: {"code":61,"type":"color","default":"#ffffffff","group":"paint","animates":true},
  fontSize: {"code":62,"type":"number","default":24,"group":"layout","animates":false},
  fontWeight: {"code":63,"type":"integer","default":400,"group":"layout","animates":false},
  fontFamily: {"code":64,"type":"text","default":"sans-serif","group":"layout","animates":false},
  lineHeight: {"code":65,"type":"number","default":1.25,"group":"layout","animates":false},
  textAlign: {"code":66,"type":"choice","values":["left","center","right"],"default":"left","group":"paint","animates":false},
  maxLines: {"code":67,"type":"integer","default":0,"group":"layout","animates":false},
  reports: {"code":80,"type":"flag","default":false,"group":"behaviour","animates":false},
} as const satisfies Readonly<Record<string, PropertyFacts>>;

export type PropertyName = keyof typeof PROPERTIES;

/** Values of properties, as apps write them. */
export interface PropertyValues {
  /** Whether the widget takes part in layout and is drawn. */
  readonly display?: 'flex' | 'none';
  /** Position in the flow, or only by `left`, `top`, `right` and `bottom`. */
  readonly position?: 'relative' | 'absolute';
  /** Main axis of the children. */
  readonly flexDirection?: 'column' | 'row' | 'column-reverse' | 'row-reverse';
  /** Whether children that do not fit start a new line. */
  readonly flexWrap?: 'nowrap' | 'wrap';
  /** Alignment of children along the main axis. */
  readonly justifyContent?: 'flex-start' | 'center' | 'flex-end' | 'space-between' | 'space-around' | 'space-evenly';
  /** Alignment of children across the main axis. */
  readonly alignItems?: 'stretch' | 'flex-start' | 'center' | 'flex-end';
  /** Alignment of this child across the main axis. */
  readonly alignSelf?: 'auto' | 'stretch' | 'flex-start' | 'center' | 'flex-end';
  /** Alignment of the lines of wrapped children. */
  readonly alignContent?: 'flex-start' | 'center' | 'flex-end' | 'stretch' | 'space-between' | 'space-around';
  /** Share of free space that the widget takes. */
  readonly flexGrow?: number;
  /** Share of missing space by which the widget shrinks. */
  readonly flexShrink?: number;
  /** Size along the main axis before growing and shrinking. */
  readonly flexBasis?: number | `${number}%`;
  /** Width with padding and border. */
  readonly width?: number | `${number}%`;
  /** Height with padding and border. */
  readonly height?: number | `${number}%`;
  /** Smallest width. */
  readonly minWidth?: number | `${number}%`;
  /** Smallest height. */
  readonly minHeight?: number | `${number}%`;
  /** Largest width. */
  readonly maxWidth?: number | `${number}%`;
  /** Largest height. */
  readonly maxHeight?: number | `${number}%`;
  /** Width divided by height. */
  readonly aspectRatio?: number;
  /** Space between rows. */
  readonly rowGap?: number;
  /** Space between columns. */
  readonly columnGap?: number;
  /** Distance from the parent's left edge. */
  readonly left?: number | `${number}%`;
  /** Distance from the parent's top edge. */
  readonly top?: number | `${number}%`;
  /** Distance from the parent's right edge. */
  readonly right?: number | `${number}%`;
  /** Distance from the parent's bottom edge. */
  readonly bottom?: number | `${number}%`;
  /** Space inside the left edge. */
  readonly paddingLeft?: number;
  /** Space inside the top edge. */
  readonly paddingTop?: number;
  /** Space inside the right edge. */
  readonly paddingRight?: number;
  /** Space inside the bottom edge. */
  readonly paddingBottom?: number;
  /** Space outside the left edge. */
  readonly marginLeft?: number;
  /** Space outside the top edge. */
  readonly marginTop?: number;
  /** Space outside the right edge. */
  readonly marginRight?: number;
  /** Space outside the bottom edge. */
  readonly marginBottom?: number;
  /** 0 is invisible, 1 opaque. The widget and its descendants blend as one picture. */
  readonly opacity?: number;
  /** Shift to the right after layout. */
  readonly x?: number;
  /** Shift down after layout. */
  readonly y?: number;
  /** Scale factor around the centre of the widget. */
  readonly scale?: number;
  /** Rotation in degrees, clockwise around the centre of the widget. */
  readonly rotate?: number;
  /** Whether descendants are clipped at the widget's edges, including rounded corners. */
  readonly clip?: boolean;
  /** Order among siblings: a higher one is drawn later. */
  readonly zIndex?: number;
  /** Colour of the area. */
  readonly background?: string;
  /** `ANGLE COLOR AT, COLOR AT…` over the background: degrees as in CSS (0 up, 90 right), `#rrggbbaa`, position from 0 to 1. */
  readonly gradient?: string;
  /** Radius of the corners. */
  readonly borderRadius?: number;
  /** Width of the border, inside the edges; takes space like padding. */
  readonly borderWidth?: number;
  /** Colour of the border. */
  readonly borderColor?: string;
  /** URL of a picture (PNG or JPEG), drawn over background and gradient. */
  readonly image?: string;
  /** Way to fit the picture into the widget. */
  readonly fit?: 'cover' | 'contain' | 'fill';
  /** Text of the widget, with its line breaks. While a widget has children, its text is not shown and has no size. */
  readonly text?: string;
  /** Colour of the text. */
  readonly color?: string;
  /** Size of the text. */
  readonly fontSize?: number;
  /** Weight of the font, 100 to 900; bold from 600 on. */
  readonly fontWeight?: number;
  /** Name of a font that the surface has. */
  readonly fontFamily?: string;
  /** Height of a line in units of `fontSize`. */
  readonly lineHeight?: number;
  /** Alignment of the lines in the widget. */
  readonly textAlign?: 'left' | 'center' | 'right';
  /** Maximum number of lines; then an ellipsis ends the text (0: no limit). */
  readonly maxLines?: number;
  /** Whether events report the widget's position, image and animations. */
  readonly reports?: boolean;
}
