/** @jsxRuntime automatic @jsxImportSource react */
import { List, type Style, Widget } from '@sluice/screens';
import { type ReactNode, useMemo, useState } from 'react';
import { useValue } from '../graph/hooks.js';
import { Button } from './Button.js';
import { Guard } from './Guard.js';
import { COLOURS, FILL, SAFE, SCREEN, SIZES } from './look.js';
import { useGo } from './places.js';
import { AGAIN, AgainRow, CategoryRow, EmptyRow, type First, FirstProvider, ROW_STEP } from './Row.js';

const COLUMN = { direction: 'column' } as const;
const TOP: Style = {
  height: 150,
  paddingTop: SAFE.y,
  paddingLeft: SAFE.x,
  paddingRight: SAFE.x,
  flexDirection: 'row',
  alignItems: 'center',
  justifyContent: 'space-between',
};
const NAME: Style = { fontSize: SIZES.title, fontWeight: 700, color: COLOURS.accent };
const ROWS: Style = { width: SCREEN.width, height: SCREEN.height - 170, marginTop: 20 };

/** Rows of posters, with what was watched before on top. */
export function Home(): ReactNode {
  const go = useGo();
  return (
    <Widget staticStyle={FILL} focusArea={COLUMN}>
      <Widget staticStyle={TOP}>
        <Widget staticStyle={NAME} text="Tidewick" />
        <Button text="Search" onPress={() => go({ move: 'open', place: { screen: 'search', text: '' } })} />
      </Widget>
      <Guard what="The rows" fallback={<EmptyRow />}>
        <Rows />
      </Guard>
    </Widget>
  );
}

function Rows(): ReactNode {
  const count = useValue('rows.length') ?? 0;
  const watched = useValue('again.length') ?? 0;
  const hasWatched = watched > 0;
  const places = useMemo(
    () => [...(hasWatched ? [AGAIN] : []), ...Array.from({ length: count }, (_, place) => place)],
    [count, hasWatched],
  );
  const [first] = useState<First>(() => ({ place: places[0] ?? 0, isDone: false }));
  return (
    <FirstProvider value={first}>
      <List items={places} itemSize={ROW_STEP} renderItem={rowOf} style={ROWS} align="start" />
    </FirstProvider>
  );
}

function rowOf(place: number): ReactNode {
  return (
    <Guard key={place} what="This row" fallback={<EmptyRow />}>
      {place === AGAIN ? <AgainRow /> : <CategoryRow place={place} />}
    </Guard>
  );
}
