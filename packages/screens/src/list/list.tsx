/** @jsxRuntime automatic @jsxImportSource react */
import {
  type ReactNode,
  memo,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { KeyEvent } from '../focus/key.js';
import { ProbeContext } from '../measure/context.js';
import { PHASE } from '../stream/events.js';
import type { Rect, Style, WidgetHandle } from '../widget/props.js';
import { Widget } from '../widget/widget.js';
import { type ItemSize, Offsets } from './offsets.js';
import { type Frame, START, type Window, fitted, moved } from './window.js';

export interface ListProps<Item> {
  readonly items: readonly Item[];
  /** Widgets of an item. A constant function: with another one all items render again. */
  readonly renderItem: (item: Item, index: number) => ReactNode;
  /** Pixels of an item along the list, the gap to the next included; of all, or by index. Whole numbers stay sharp up to 2²⁴ pixels. */
  readonly itemSize: ItemSize;
  readonly direction?: 'vertical' | 'horizontal';
  /** Screens' worth of items that are alive at most, 3 by default. */
  readonly windowScreens?: number;
  /** Place of the item with the focus: `nearest` scrolls no more than needed, and is the default. */
  readonly align?: 'nearest' | 'start' | 'center';
  /** Milliseconds of a scroll, 200 by default. */
  readonly scrollDuration?: number;
  /** Item that has the focus first. */
  readonly initialIndex?: number;
  /** Style of the list: it has to have a size along its direction, by itself or by its parent. */
  readonly style?: Style;
  /** Style of an item's own widget while that has the focus; a constant. Items with focusable widgets pass the focus on to those. */
  readonly itemFocusStyle?: Style;
  /** Called once for each number of items, when the last one gets its widgets. */
  readonly onEnd?: () => void;
  /** Called with the item that gets the focus by a key. */
  readonly onIndex?: (index: number) => void;
}

/** Keys across the list move the focus inside of an item. */
const ITEM_AREA = {
  vertical: { direction: 'row', remember: false },
  horizontal: { direction: 'column', remember: false },
} as const;
const STATIC = {
  vertical: { position: 'absolute', left: 0, right: 0, top: 0 },
  horizontal: { position: 'absolute', top: 0, bottom: 0, left: 0 },
} as const;
const CONTENT = { position: 'absolute', left: 0, top: 0, width: '100%', height: '100%' } as const;
const KEYS = {
  vertical: { ArrowUp: -1, ArrowDown: 1 },
  horizontal: { ArrowLeft: -1, ArrowRight: 1 },
} as const;

/**
 * List of any number of items, of which those near the screen have widgets. A slot keeps its widget and its component and gets another item,
 * so components of items must take what they show from props. The list scrolls by one transition of the surface.
 */
export function List<Item>(props: ListProps<Item>): ReactNode {
  const { items, renderItem, itemSize, direction = 'vertical', windowScreens = 3, align = 'nearest' } = props;
  const { scrollDuration = 200, style, itemFocusStyle } = props;
  const isVertical = direction === 'vertical';
  const probe = useContext(ProbeContext);
  const [measured, setMeasured] = useState(0);
  const own = isVertical ? style?.height : style?.width;
  const length =
    typeof own === 'number' ? own : measured || ((isVertical ? probe?.height : probe?.width) ?? 0);
  const offsets = useMemo(() => new Offsets(itemSize, items.length), [itemSize, items.length]);
  const frame = useMemo<Frame>(
    () => ({ offsets, count: items.length, length, screens: windowScreens, align }),
    [offsets, items.length, length, windowScreens, align],
  );
  const [state, setState] = useState<Window>(() => ({ ...START, index: props.initialIndex ?? 0 }));
  const window = useMemo(() => fitted(state, frame), [state, frame]);
  const handles = useRef<(WidgetHandle | null)[]>([]);
  const latest = useRef({ window, frame, props });
  useLayoutEffect(() => {
    latest.current = { window, frame, props };
  });

  // The slot that has the item now gets the focus; after the commit, because it may just have got the item.
  const wanted = useRef(-1);
  useLayoutEffect(() => {
    if (wanted.current === -1) return;
    const slot = window.slots.indexOf(wanted.current);
    wanted.current = -1;
    handles.current[slot]?.focus();
  }, [window]);

  const move = useCallback((from: number, by: number): boolean => {
    const { window, frame, props } = latest.current;
    const to = from + by;
    if (to < 0 || to >= frame.count) return false;
    const next = moved({ ...window, index: from }, to, frame);
    latest.current = { window: next, frame, props };
    wanted.current = to;
    setState(next);
    props.onIndex?.(to);
    return true;
  }, []);
  const onKey = useCallback(
    (event: KeyEvent, index: number): boolean => {
      const step = (KEYS[direction] as Readonly<Record<string, number>>)[event.key];
      return step !== undefined && event.phase !== PHASE.RELEASED && move(index, step);
    },
    [direction, move],
  );
  const area = useMemo(
    () => ({
      direction: 'none' as const,
      enter: () => handles.current[latest.current.window.slots.indexOf(latest.current.window.index)] ?? null,
    }),
    [],
  );

  const isAtEnd = items.length > 0 && window.slots.includes(items.length - 1);
  useEffect(() => {
    if (isAtEnd) latest.current.props.onEnd?.();
  }, [isAtEnd, items.length]);

  const slots = useMemo(
    () =>
      window.slots.map((index, slot) =>
        index < 0 || index >= items.length ? null : (
          <Slot
            key={slot}
            slot={slot}
            index={index}
            item={items[index]}
            start={offsets.start(index)}
            size={offsets.size(index)}
            direction={direction}
            render={renderItem as (item: unknown, index: number) => ReactNode}
            focusStyle={itemFocusStyle}
            handles={handles}
            onKey={onKey}
          />
        ),
      ),
    [window.slots, items, offsets, direction, renderItem, itemFocusStyle, onKey],
  );
  const onLayout = useCallback(
    (rect: Rect) => setMeasured(isVertical ? rect.height : rect.width),
    [isVertical],
  );
  const { scroll } = window;
  const content = useMemo<Style>(() => {
    const transition = { duration: scrollDuration, easing: 'ease-out' } as const;
    return isVertical
      ? { y: -scroll, transition: { y: transition } }
      : { x: -scroll, transition: { x: transition } };
  }, [isVertical, scroll, scrollDuration]);
  const outer = useMemo<Style>(() => ({ clip: true, ...style }), [style]);

  return (
    <Widget style={outer} focusArea={area} onLayout={typeof own === 'number' ? undefined : onLayout}>
      <Widget staticStyle={CONTENT} style={content}>
        {slots}
      </Widget>
    </Widget>
  );
}

interface SlotProps {
  readonly slot: number;
  readonly index: number;
  readonly item: unknown;
  readonly start: number;
  readonly size: number;
  readonly direction: 'vertical' | 'horizontal';
  readonly render: (item: unknown, index: number) => ReactNode;
  readonly focusStyle: Style | undefined;
  readonly handles: { readonly current: (WidgetHandle | null)[] };
  readonly onKey: (event: KeyEvent, index: number) => boolean;
}

const Slot = memo(function Slot(props: SlotProps): ReactNode {
  const { slot, index, item, start, size, direction, render, focusStyle, handles, onKey } = props;
  const ref = useCallback(
    (handle: WidgetHandle | null) => {
      handles.current[slot] = handle;
    },
    [handles, slot],
  );
  return (
    <Widget
      ref={ref}
      staticStyle={STATIC[direction]}
      style={direction === 'vertical' ? { y: start, height: size } : { x: start, width: size }}
      focusable
      focusArea={ITEM_AREA[direction]}
      focusStyle={focusStyle}
      onKey={(event) => onKey(event, index)}
    >
      {render(item, index)}
    </Widget>
  );
});
