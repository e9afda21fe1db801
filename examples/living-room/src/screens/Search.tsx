/** @jsxRuntime automatic @jsxImportSource react */
import { List, type Style, Widget } from '@sluice/screens';
import { memo, type ReactNode, useDeferredValue, useMemo } from 'react';
import { useGraph } from '../graph/hooks.js';
import type { Card } from '../graph/schema.js';
import { Guard } from './Guard.js';
import { BUTTON, BUTTON_FOCUS, COLOURS, FILL, SAFE, SCREEN, SIZES } from './look.js';
import { cleaned, useGo } from './places.js';
import { EmptyPoster, Poster, POSTER_STEP } from './Poster.js';

const ROW = { direction: 'row' } as const;
const GRID = { direction: 'grid', enter: 'last' } as const;
const KEYS = 'abcdefghijklmnopqrstuvwxyz0123456789'.split('');
const KEY_SIZE = 76;
const KEY_GAP = 10;
const KEYS_WIDTH = 6 * KEY_SIZE + 5 * KEY_GAP;

const BOARD: Style = { position: 'absolute', left: SAFE.x, top: SAFE.y, width: KEYS_WIDTH };
const FIELD: Style = {
  height: 92,
  marginBottom: 28,
  paddingHorizontal: 24,
  justifyContent: 'center',
  borderRadius: 14,
  background: COLOURS.raised,
};
const TYPED: Style = { fontSize: SIZES.row, fontWeight: 600, maxLines: 1 };
const GRID_STYLE: Style = { width: KEYS_WIDTH, flexDirection: 'row', flexWrap: 'wrap', gap: KEY_GAP };
const KEY: Style = { ...BUTTON, height: KEY_SIZE, borderWidth: 4, borderColor: '#ffffff00' };
const LETTER: Style = { fontSize: SIZES.row, fontWeight: 600, color: COLOURS.text, textAlign: 'center' };

const COLUMNS = 4;
const RESULTS_LEFT = SAFE.x + KEYS_WIDTH + 76;
const RESULTS: Style = {
  position: 'absolute',
  left: RESULTS_LEFT,
  top: SAFE.y,
  width: SCREEN.width - RESULTS_LEFT,
};
const RESULTS_LIST: Style = { width: SCREEN.width - RESULTS_LEFT, height: SCREEN.height - SAFE.y };
const LINE: Style = { flexDirection: 'row' };
const HINT: Style = { paddingTop: 24, fontSize: SIZES.body, lineHeight: 1.4, color: COLOURS.dim };

/** Search by prefix: a keyboard on the left, what it finds on the right, while one types. */
export function Search({ text }: { text: string }): ReactNode {
  const go = useGo();
  // Typing comes first: results of the text before stay until those of the new one are there.
  const shown = useDeferredValue(text.trim());
  const type = (next: string): void =>
    go({ move: 'become', place: { screen: 'search', text: cleaned(next) } });
  return (
    <Widget
      staticStyle={FILL}
      focusArea={ROW}
      onKey={({ key }) => {
        // Keys of a keyboard that the device may have. Backspace leads back on some remote controls.
        if (!/^[a-z\d ]$/i.test(key)) return false;
        type(text + key);
        return true;
      }}
    >
      <Widget staticStyle={BOARD}>
        <Widget staticStyle={FIELD}>
          <Widget
            staticStyle={TYPED}
            style={{ color: text === '' ? COLOURS.dim : COLOURS.text }}
            text={text === '' ? 'Type to search' : `${text}_`}
          />
        </Widget>
        <Keyboard text={text} type={type} />
      </Widget>
      <Widget staticStyle={RESULTS}>
        {shown === '' ? (
          <Widget
            staticStyle={HINT}
            text={'Try “lamp”, “oak” or “kite”.\nEvery letter narrows the results.'}
          />
        ) : (
          <Guard key={shown} what="The results" fallback={<EmptyResults />}>
            <Results text={shown} />
          </Guard>
        )}
      </Widget>
    </Widget>
  );
}

function Keyboard({ text, type }: { text: string; type: (text: string) => void }): ReactNode {
  const wide = (KEYS_WIDTH - 2 * KEY_GAP) / 3;
  return (
    <Widget staticStyle={GRID_STYLE} focusArea={GRID}>
      {KEYS.map((letter) => (
        <Key
          key={letter}
          label={letter}
          width={KEY_SIZE}
          isFirst={letter === 'a'}
          onPress={() => type(text + letter)}
        />
      ))}
      <Key label="Space" width={wide} onPress={() => type(`${text} `)} />
      <Key label="Delete" width={wide} onPress={() => type(text.slice(0, -1))} />
      <Key label="Clear" width={wide} onPress={() => type('')} />
    </Widget>
  );
}

interface KeyProps {
  readonly label: string;
  readonly width: number;
  readonly isFirst?: boolean;
  readonly onPress: () => void;
}

function Key({ label, width, isFirst, onPress }: KeyProps): ReactNode {
  return (
    <Widget
      staticStyle={KEY}
      focusStyle={BUTTON_FOCUS}
      style={{ width }}
      focusable
      focused={isFirst === true ? true : undefined}
      onKey={({ key }) => {
        if (key !== 'Enter') return false;
        onPress();
        return true;
      }}
    >
      <Widget
        staticStyle={LETTER}
        style={label.length > 1 ? { fontSize: SIZES.small } : undefined}
        text={label}
      />
    </Widget>
  );
}

const Results = memo(function Results({ text }: { text: string }): ReactNode {
  const found = useGraph(
    `search[${JSON.stringify(text)}].length`,
    `search[${JSON.stringify(text)}][0..19].card`,
  )?.search?.[text];
  const lines = useMemo(() => linesOf(found), [found]);
  if (lines.length === 0) return <Widget staticStyle={HINT} text={`Nothing begins with “${text}”.`} />;
  return <List items={lines} itemSize={500} renderItem={lineOf} style={RESULTS_LIST} />;
});

type Found = {
  readonly [place: number]: { readonly card?: Card | undefined } | undefined;
  readonly length?: number;
};

function linesOf(found: Found | undefined): readonly (readonly Card[])[] {
  const cards = Array.from({ length: found?.length ?? 0 }, (_, at) => found?.[at]?.card).filter(
    (card) => card !== undefined,
  );
  return Array.from({ length: Math.ceil(cards.length / COLUMNS) }, (_, line) =>
    cards.slice(line * COLUMNS, (line + 1) * COLUMNS),
  );
}

function lineOf(cards: readonly Card[]): ReactNode {
  return (
    <Widget staticStyle={LINE} focusArea={ROW}>
      {cards.map((card) => (
        <Poster key={card.id} card={card} />
      ))}
    </Widget>
  );
}

function EmptyResults(): ReactNode {
  return (
    <Widget staticStyle={LINE} style={{ width: COLUMNS * POSTER_STEP }}>
      {Array.from({ length: COLUMNS }, (_, place) => (
        <EmptyPoster key={place} />
      ))}
    </Widget>
  );
}
