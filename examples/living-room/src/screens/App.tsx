import { isBack, type Style, Widget } from '@sluice/screens';
import { type ReactNode, useCallback, useReducer } from 'react';
import { Film } from './Film.js';
import { Home } from './Home.js';
import { COLOURS, FILL, SCREEN, TIMES } from './look.js';
import { GoProvider, moved, type Move, type Place, type Places, placesOf, ServerProvider, textOf } from './places.js';
import { Product } from './Product.js';
import { Search } from './Search.js';

interface AppProps {
  /** Stack of screens to begin with, as `textOf` writes it. */
  readonly at?: string;
  /** Called with the stack after each move. */
  readonly onAt?: (at: string) => void;
  /** Address of the server for pictures, without a slash at the end. */
  readonly server?: string;
}

const GROUND: Style = { ...SCREEN, background: COLOURS.ground, clip: true };
const ENTERS = {
  opacity: { from: 0, to: 1, duration: TIMES.screen },
  x: { from: 60, to: 0, duration: TIMES.screen, easing: 'ease-out' },
} as const;

/** The app: a stack of screens, of which the top one is seen. Those below keep their widgets, and so their focus. */
export function App({ at = '', onAt, server = '' }: AppProps): ReactNode {
  const [places, dispatch] = useReducer(moved, at, placesOf);
  const go = useCallback(
    (move: Move) => {
      dispatch(move);
      onAt?.(textOf(moved(places, move)));
    },
    [places, onAt],
  );
  return (
    <ServerProvider value={server}>
      <GoProvider value={go}>
        <Widget
          staticStyle={GROUND}
          onKey={(event) => {
            if (!isBack(event) || places.length === 1) return false;
            go({ move: 'back' });
            return true;
          }}
        >
          {places.map((place, level) => (
            <Layer key={`${level} ${place.screen} ${'id' in place ? place.id : ''}`} level={level} places={places} />
          ))}
        </Widget>
      </GoProvider>
    </ServerProvider>
  );
}

function Layer({ level, places }: { level: number; places: Places }): ReactNode {
  const isTop = level === places.length - 1;
  return (
    <Widget
      staticStyle={FILL}
      style={{ display: isTop ? 'flex' : 'none' }}
      animate={level === 0 ? undefined : ENTERS}
    >
      <Content place={places[level] as Place} />
    </Widget>
  );
}

function Content({ place }: { place: Place }): ReactNode {
  switch (place.screen) {
    case 'home':
      return <Home />;
    case 'search':
      return <Search text={place.text} />;
    case 'product':
      return <Product id={place.id} />;
    case 'film':
      return <Film id={place.id} />;
  }
}
