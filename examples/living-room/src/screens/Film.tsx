/** @jsxRuntime automatic @jsxImportSource react */
import { isBack, type KeyEvent, type Style, Widget } from '@sluice/screens';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { useGraph, useModel } from '../graph/hooks.js';
import { Guard } from './Guard.js';
import { COLOURS, FILL, SAFE, SCREEN, SIZES } from './look.js';
import { usePosterAddress } from './places.js';

/** Milliseconds without a key after which the overlay hides. */
const HIDES_MS = 3_000;
const SKIP_MS = 10_000;
const BAR_WIDTH = SCREEN.width - 2 * SAFE.x;

const STAGE: Style = { ...FILL, background: '#000000', clip: true };
const PICTURE: Style = { position: 'absolute', left: 600, top: 0, width: 720, height: 1080 };
const OVERLAY: Style = {
  position: 'absolute',
  left: 0,
  bottom: 0,
  width: '100%',
  height: 380,
  paddingLeft: SAFE.x,
  paddingTop: 110,
  gradient: '180 #00000000 0, #000000e6 0.6',
  transition: { opacity: 250 },
};
const NAME: Style = {
  fontSize: SIZES.title,
  fontWeight: 700,
  color: COLOURS.text,
  maxLines: 1,
  width: BAR_WIDTH,
};
const TRACK: Style = {
  marginTop: 26,
  width: BAR_WIDTH,
  height: 12,
  borderRadius: 6,
  background: '#ffffff47',
  clip: true,
};
const BAR: Style = { width: BAR_WIDTH, height: 12, background: COLOURS.accent };
const LINE: Style = {
  marginTop: 18,
  width: BAR_WIDTH,
  flexDirection: 'row',
  justifyContent: 'space-between',
};
const TEXT: Style = { fontSize: SIZES.body, color: COLOURS.text };
const HINT: Style = { fontSize: SIZES.small, color: COLOURS.dim };

/** Film of a product, with an overlay of what plays. */
export function Film({ id }: { id: number }): ReactNode {
  return (
    <Widget staticStyle={STAGE}>
      <Guard what="The film" fallback={null}>
        <Playing key={id} id={id} />
      </Guard>
    </Widget>
  );
}

/** Where the film is: at `from_ms` since `since_ms`, and running or not. */
interface Position {
  readonly from_ms: number;
  readonly since_ms: number;
  readonly isPlaying: boolean;
}

function Playing({ id }: { id: number }): ReactNode {
  const model = useModel();
  const addressOf = usePosterAddress();
  const product = useGraph(`products[${id}]["card", "facts"]`)?.products?.[id];
  const length_ms = (product?.facts?.film_s ?? 0) * 1000;
  const [position, setPosition] = useState<Position>(() => ({
    from_ms: 0,
    since_ms: performance.now(),
    isPlaying: true,
  }));
  const { isShown, show } = useOverlay(position.isPlaying);
  const at_ms = useSeconds(position, length_ms, isShown);

  useEffect(() => {
    // A list of what was watched is no reason to stop a film.
    model.call('again.add', [id]).catch(() => undefined);
  }, [model, id]);

  const move = (from_ms: number, isPlaying: boolean): void =>
    setPosition({
      from_ms: Math.min(Math.max(0, from_ms), length_ms),
      since_ms: performance.now(),
      isPlaying,
    });
  const now = (): number => placeOf(position, length_ms);
  const onKey = (event: KeyEvent): boolean => {
    if (isBack(event)) return false;
    show();
    const { isPlaying } = position;
    if (event.key === 'Enter' || event.key === 'MediaPlayPause') move(now(), !isPlaying);
    else if (event.key === 'ArrowLeft') move(now() - SKIP_MS, isPlaying);
    else if (event.key === 'ArrowRight') move(now() + SKIP_MS, isPlaying);
    return true;
  };
  const { from_ms, isPlaying } = position;
  const start = -BAR_WIDTH * (1 - (length_ms === 0 ? 0 : from_ms / length_ms));
  return (
    <Widget staticStyle={FILL} focusable focused onKey={onKey}>
      <Widget
        staticStyle={PICTURE}
        image={addressOf(id, true)}
        animate={{ scale: { from: 1, to: 1.25, duration: 20_000, repeat: Infinity, alternate: true } }}
      />
      <Widget staticStyle={OVERLAY} style={{ opacity: isShown ? 1 : 0 }}>
        <Widget staticStyle={NAME} text={product?.card?.name ?? ''} />
        <Widget staticStyle={TRACK}>
          <Widget
            staticStyle={BAR}
            style={{ x: start }}
            animate={isPlaying ? { x: { from: start, to: 0, duration: length_ms - from_ms } } : undefined}
          />
        </Widget>
        <Widget staticStyle={LINE}>
          <Widget staticStyle={TEXT} text={`${clock(at_ms)} / ${clock(length_ms)}`} />
          <Widget
            staticStyle={HINT}
            text={`${isPlaying ? 'OK pauses' : 'OK plays'}   ·   left and right skip 10 seconds   ·   Back leaves`}
          />
        </Widget>
      </Widget>
    </Widget>
  );
}

/** Whether the overlay is seen: from a key on for a while, and as long as the film stands still. */
function useOverlay(isPlaying: boolean): { isShown: boolean; show: () => void } {
  const [isShown, setIsShown] = useState(true);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const hideLater = useCallback(() => {
    clearTimeout(timer.current);
    if (isPlaying) timer.current = setTimeout(setIsShown, HIDES_MS, false);
  }, [isPlaying]);
  useEffect(() => {
    hideLater();
    return () => clearTimeout(timer.current);
  }, [hideLater]);
  const show = (): void => {
    setIsShown(true);
    hideLater();
  };
  return { isShown, show };
}

/** Place in the film in milliseconds, renewed each second while somebody sees it. The bar needs none of it. */
function useSeconds(position: Position, length_ms: number, isShown: boolean): number {
  const [, setTick] = useState(0);
  const runs = isShown && position.isPlaying;
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => setTick((tick) => tick + 1), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return placeOf(position, length_ms);
}

function placeOf({ from_ms, since_ms, isPlaying }: Position, length_ms: number): number {
  return Math.min(length_ms, from_ms + (isPlaying ? performance.now() - since_ms : 0));
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
