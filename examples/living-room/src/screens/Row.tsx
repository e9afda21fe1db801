import { List, type Style, Widget } from '@sluice/screens';
import type { ReactNode } from 'react';
import { useGraph } from '../graph/hooks.js';
import type { Card } from '../graph/schema.js';
import { COLOURS, SAFE, SCREEN, SIZES } from './look.js';
import { EmptyPoster, Poster, POSTER_GAP, POSTER_STEP } from './Poster.js';

/** Pixels from one row to the next. */
export const ROW_STEP = 540;

const LEFT = SAFE.x - POSTER_GAP;
const TITLE: Style = { marginLeft: SAFE.x, fontSize: SIZES.row, fontWeight: 600, color: COLOURS.text };
/** As far as the right edge of the screen: a poster that is cut there says that there are more. */
const LINE: Style = { width: SCREEN.width - LEFT, height: 470, marginLeft: LEFT };
const EMPTY_LINE: Style = { ...LINE, flexDirection: 'row', clip: true };

/** Row of a category. */
export function CategoryRow({ place }: { place: number }): ReactNode {
  const row = useGraph(`rows[${place}]["title", "length"]`, `rows[${place}][0..19].card`)?.rows?.[place];
  const cards = Array.from({ length: row?.length ?? 0 }, (_, at) => row?.[at]?.card);
  return <Row title={row?.title ?? ''} cards={cards} />;
}

/** Row of what the viewer has watched. */
export function AgainRow(): ReactNode {
  const again = useGraph('again.length', 'again[0..11].card')?.again;
  const cards = Array.from({ length: again?.length ?? 0 }, (_, at) => again?.[at]?.card);
  return <Row title="Watch again" cards={cards} />;
}

/** Row of products that are like one. */
export function SimilarRow({ id }: { id: number }): ReactNode {
  const similar = useGraph(`products[${id}].similar[0..10].card`)?.products?.[id]?.similar;
  const cards = Array.from({ length: 11 }, (_, at) => similar?.[at]?.card);
  return <Row title="More like this" cards={cards} />;
}

export function Row({ title, cards }: { title: string; cards: readonly (Card | undefined)[] }): ReactNode {
  return (
    <Widget>
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
