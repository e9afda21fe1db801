/** @jsxRuntime automatic @jsxImportSource react */
import {
  Children,
  type ReactElement,
  type ReactNode,
  createContext,
  isValidElement,
  memo,
  startTransition,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react';
import { type KeyEvent, isBack } from '../focus/key.js';
import { ProbeContext } from '../measure/context.js';
import { PHASE } from '../stream/events.js';
import type { Style, WidgetProps } from '../widget/props.js';
import { Widget } from '../widget/widget.js';
import { type Mounted, dropped, first, left, nextPreload, preloaded, shown } from './state.js';

export interface ScreenProps {
  readonly name: string;
  /** Whether the screen is mounted ahead of time, hidden, when nothing else is to do. */
  readonly preload?: boolean;
  readonly children?: ReactNode;
}

export interface ScreensProps {
  /** Name of the screen that is shown. */
  readonly current: string;
  /** `<Screen>` elements. */
  readonly children: ReactNode;
  /** Screens mounted at once, at most; 4 by default. The one that was shown longest ago goes first. */
  readonly max?: number;
  /** Way in which screens change; at once by default. */
  readonly transition?: 'none' | 'fade' | 'slide';
  /** Milliseconds of a transition, 250 by default. */
  readonly duration?: number;
  /** Milliseconds of idle time that a preload needs to begin, 4 by default. */
  readonly budget?: number;
  /** Called for a key that leads back, if no widget of the screen has used it. */
  readonly onBack?: () => void;
  readonly style?: Style;
}

/** A screen of `<Screens>`, which reads its props. */
export function Screen(_props: ScreenProps): ReactNode {
  throw new Error('<Screen> must be a direct child of <Screens>');
}

const ShownContext = createContext(true);

/** Whether the screen around is shown: false while it is preloaded or kept. Its effects run at mount. */
export const useShown = (): boolean => useContext(ShownContext);

const FILL = { flexGrow: 1 } as const;
const SCREEN = { position: 'absolute', left: 0, top: 0, width: '100%', height: '100%' } as const;
const HIDDEN = { display: 'none' } as const;
const VISIBLE = { display: 'flex' } as const;
const AREA = { direction: 'column' } as const;

/**
 * Shows one screen at a time. Others stay mounted behind it, hidden and not rendered again, until there are too many or memory is low. The focus
 * goes to the screen that is shown, to the widget that had it there.
 *
 * @throws {Error} if no screen has the name of the current one.
 */
export function Screens(props: ScreensProps): ReactNode {
  const {
    current,
    children,
    max = 4,
    transition = 'none',
    duration = 250,
    budget = 4,
    onBack,
    style,
  } = props;
  const probe = useContext(ProbeContext);
  const screens = useMemo(() => screensOf(children), [children]);
  const order = screens.map(({ props: { name } }) => name);
  if (!order.includes(current)) throw new Error(`<Screens> has no <Screen name="${current}">`);

  const [state, setState] = useState(() => first(current));
  let mounted = state;
  if (state.current !== current) {
    mounted = shown(state, current, order, { max, hasTransition: transition !== 'none' });
    setState(mounted);
  }

  useEffect(() => probe?.show(current), [probe, current]);

  const [level, setLevel] = useState(0);
  useEffect(
    () =>
      probe?.onMemory((level) => {
        setLevel(level);
        setState((state) => dropped(state, level));
      }),
    [probe],
  );

  const preloads = screens.filter(({ props }) => props.preload === true).map(({ props }) => props.name);
  const next = level === 0 ? nextPreload(mounted, preloads, max) : undefined;
  useEffect(() => {
    if (next === undefined || probe === null) return;
    let isOver = false;
    const wait = (): void =>
      probe.requestIdle((deadline) => {
        if (isOver) return;
        // The rest of a frame that is nearly over is too short for a screen.
        if (deadline() < budget) wait();
        else
          startTransition(() =>
            setState((state) => (state.names.includes(next) ? state : preloaded(state, next))),
          );
      });
    wait();
    return () => {
      isOver = true;
    };
  }, [next, probe, budget]);

  const onKey = (event: KeyEvent): boolean => {
    if (onBack === undefined || event.phase !== PHASE.PRESSED || !isBack(event)) return false;
    onBack();
    return true;
  };
  return (
    <Widget staticStyle={FILL} style={style} onKey={onKey}>
      {screens.map(({ props: { name, children } }) => {
        if (!mounted.names.includes(name)) return null;
        const isCurrent = name === current;
        const isShown = isCurrent || name === mounted.leaving;
        return (
          <Widget
            key={name}
            staticStyle={SCREEN}
            style={isShown ? VISIBLE : HIDDEN}
            focusArea={AREA}
            focusable={isCurrent ? undefined : false}
            focused={isCurrent}
            animate={motionOf(mounted, name, transition, duration, probe?.width ?? 0)}
            onAnimationEnd={name === mounted.leaving ? () => setState(left) : undefined}
          >
            <Kept isShown={isShown}>{children}</Kept>
          </Widget>
        );
      })}
    </Widget>
  );
}

/** Widgets of a screen. While it is hidden they are not rendered again from outside; their own state and contexts still do. */
const Kept = memo(
  ({ isShown, children }: { readonly isShown: boolean; readonly children: ReactNode }): ReactNode => (
    <ShownContext.Provider value={isShown}>{children}</ShownContext.Provider>
  ),
  (before, now) => !before.isShown && !now.isShown,
);

function screensOf(children: ReactNode): ReactElement<ScreenProps>[] {
  const screens: ReactElement<ScreenProps>[] = [];
  Children.forEach(children, (child) => {
    if (child === null || typeof child === 'boolean') return;
    if (!isValidElement<ScreenProps>(child) || child.type !== Screen)
      throw new Error('<Screens> has children other than <Screen>');
    screens.push(child);
  });
  return screens;
}

/** Animation by which a screen comes or goes. Its last values stay, so each way says where it begins. */
function motionOf(
  { current, leaving, isBack: back }: Mounted,
  name: string,
  transition: ScreensProps['transition'],
  duration: number,
  width: number,
): WidgetProps['animate'] {
  if (transition === 'none' || leaving === null) return undefined;
  if (name !== current && name !== leaving) return undefined;
  const isComing = name === current;
  const easing = 'ease-out';
  if (transition === 'fade')
    return { opacity: { from: isComing ? 0 : 1, to: isComing ? 1 : 0, duration, easing } };
  const side = back === isComing ? -width : width;
  return { x: { from: isComing ? side : 0, to: isComing ? 0 : side, duration, easing } };
}
