/** @jsxRuntime automatic @jsxImportSource react */
import { List, type Style, Widget } from '@sluice/screens';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { useGraph } from '../graph/hooks.js';
import type { Card } from '../graph/schema.js';
import { COLOURS, SAFE, SCREEN, SIZES } from './look.js';
import { EmptyPoster, Poster, POSTER_GAP, POSTER_STEP } from './Poster.js';

/** Pixels from one row to the next. */
export const ROW_STEP = 540;

const LEFT = SAFE.x - POSTER_GAP;
const TITLE: Style = { marginLeft: SAFE.x, fontSize: SIZES.row, fontWeight: 600, color: COLOURS.text };
/** As far as the right edge of the screen: a poster that is cut there says that there are more. */
const LINE: Style = { width: SCREEN.width - LEFT, height: 480, marginLeft: LEFT };
const EMPTY_LINE: Style = { ...LINE, flexDirection: 'row', clip: true };

/** The row that takes the focus when it is there, once. */
export interface First {
  readonly place: number;
  isDone: boolean;
}
const FirstContext = createContext<First | undefined>(undefined);
export const FirstProvider = FirstContext.Provider;

function useTakesFocus(place: number | undefined): boolean {
  const first = useContext(FirstContext);
  const [takesFocus] = useState(first !== undefined && first.place === place && !first.isDone);
  useEffect(() => {
    if (takesFocus && first !== undefined) first.isDone = true;
  }, [takesFocus, first]);
  return takesFocus;
}

/** Row of a category. */
export function CategoryRow({ place }: { place: number }): ReactNode {
  const row = useGraph(`rows[${place}]["title", "length"]`, `rows[${place}][0..19].card`)?.rows?.[place];
  const cards = Array.from({ length: row?.length ?? 0 }, (_, at) => row?.[at]?.card);
  return <Row place={place} title={row?.title ?? ''} cards={cards} />;
}

/** Place of the row of what was watched, above those of categories. */
export const AGAIN = -1;

/** Row of what the viewer has watched. */
export function AgainRow(): ReactNode {
  const again = useGraph('again.length', 'again[0..11].card')?.again;
  const cards = Array.from({ length: again?.length ?? 0 }, (_, at) => again?.[at]?.card);
  return <Row place={AGAIN} title="Watch again" cards={cards} />;
}

/** Row of products that are like one. */
export function SimilarRow({ id }: { id: number }): ReactNode {
  const similar = useGraph(`products[${id}].similar[0..10].card`)?.products?.[id]?.similar;
  const cards = Array.from({ length: 11 }, (_, at) => similar?.[at]?.card);
  return <Row title="More like this" cards={cards} />;
}

interface RowProps {
  /** Its place in a screen of rows. */
  readonly place?: number;
  readonly title: string;
  readonly cards: readonly (Card | undefined)[];
}

/** A row as an area of the focus, which is given to it as to a widget. */
const AREA = { direction: 'column' } as const;

export function Row({ place, title, cards }: RowProps): ReactNode {
  const takesFocus = useTakesFocus(place);
  return (
    <Widget focusArea={AREA} focused={takesFocus ? true : undefined}>
      <Widget staticStyle={TITLE} text={title} />
      <List
        direction="horizontal"
        style={LINE}
        items={cards.filter((card) => card !== undefined)}
        itemSize={POSTER_STEP}
        renderItem={posterOf}
      />
    </Widget>
  );
}

function posterOf(card: Card): ReactNode {
  return <Poster card={card} />;
}

/** Place of a row that is on its way. */
export function EmptyRow(): ReactNode {
  return (
    <Widget>
      <Widget staticStyle={TITLE} text=" " />
      <Widget staticStyle={EMPTY_LINE}>
        {[0, 1, 2, 3, 4, 5, 6].map((place) => (
          <EmptyPoster key={place} />
        ))}
      </Widget>
    </Widget>
  );
}
