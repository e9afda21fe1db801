/** @jsxRuntime automatic @jsxImportSource react */
import { type Style, Widget } from '@sluice/screens';
import { memo, type ReactNode } from 'react';
import type { Card } from '../graph/schema.js';
import { COLOURS, SIZES, TIMES } from './look.js';
import { useGo, usePosterAddress, useRest } from './places.js';

/** Space around a poster, into which it grows with the focus. */
export const POSTER_GAP = 14;
/** Pixels from one poster to the next. */
export const POSTER_STEP = 240 + 2 * POSTER_GAP;

const CELL: Style = { width: POSTER_STEP, paddingTop: 20, paddingLeft: POSTER_GAP };
const PICTURE: Style = {
  width: 240,
  height: 360,
  borderRadius: 12,
  borderWidth: 5,
  borderColor: '#ffffff00',
  background: COLOURS.raised,
  transition: { scale: TIMES.focus, borderColor: TIMES.focus },
};
const PICTURE_FOCUS: Style = { scale: 1.07, borderColor: COLOURS.text };
const NAME: Style = {
  width: 240,
  marginTop: 20,
  fontSize: SIZES.small,
  color: COLOURS.dim,
  maxLines: 2,
};

/** Poster of a product, which opens its screen. A list may give it another product. */
export const Poster = memo(function Poster({ card, focused }: { card: Card; focused?: boolean }): ReactNode {
  const go = useGo();
  const rest = useRest();
  const addressOf = usePosterAddress();
  const { id, name } = card;
  return (
    <Widget staticStyle={CELL}>
      <Widget
        staticStyle={PICTURE}
        focusStyle={PICTURE_FOCUS}
        image={addressOf(id)}
        focusable
        focused={focused}
        onFocus={() => rest(id)}
        onKey={({ key }) => {
          if (key !== 'Enter') return false;
          go({ move: 'open', place: { screen: 'product', id } });
          return true;
        }}
      />
      <Widget staticStyle={NAME} text={name} />
    </Widget>
  );
});

const EMPTY: Style = { width: 240, height: 360, borderRadius: 12, background: COLOURS.raised };

/** Place of a poster that is on its way. */
export function EmptyPoster(): ReactNode {
  return (
    <Widget staticStyle={CELL}>
      <Widget
        staticStyle={EMPTY}
        animate={{ opacity: { from: 1, to: 0.45, duration: 900, repeat: Infinity, alternate: true } }}
      />
    </Widget>
  );
}
