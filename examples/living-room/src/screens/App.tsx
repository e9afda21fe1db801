/** @jsxRuntime automatic @jsxImportSource react */
import { Screen, Screens, type Style, Widget } from '@sluice/screens';
import { type ReactNode, useCallback, useMemo, useReducer, useRef, useState } from 'react';
import { useModel } from '../graph/hooks.js';
import { Film } from './Film.js';
import { Home } from './Home.js';
import { COLOURS, SCREEN, TIMES } from './look.js';
import {
  GoProvider,
  moved,
  type Move,
  type Place,
  type Places,
  placesOf,
  RestProvider,
  ServerProvider,
  textOf,
} from './places.js';
import { Product } from './Product.js';
import { Search } from './Search.js';

interface AppProps {
  /** Stack of screens to begin with, as `textOf` writes it. */
  readonly at?: string;
  /** Called with the stack after each move. */
  readonly onAt?: ((at: string) => void) | undefined;
  /** Address of the server for pictures, without a slash at the end. */
  readonly server?: string;
}

const GROUND: Style = { ...SCREEN, background: COLOURS.ground, clip: true };

/** The app: a stack of places, of which the top one is seen. */
export function App({ at = '', onAt, server = '' }: AppProps): ReactNode {
  const [places, dispatch] = useReducer(moved, at, placesOf);
  const latest = useRef(places);
  const go = useCallback(
    (move: Move) => {
      latest.current = moved(latest.current, move);
      dispatch(move);
      onAt?.(textOf(latest.current));
    },
    [onAt],
  );
  const [hinted, rest] = useHint();
  const { home, search, product, film } = useMemo(() => contentOf(places), [places]);
  const productId = product ?? hinted;
  return (
    <ServerProvider value={server}>
      <GoProvider value={go}>
        <RestProvider value={rest}>
          <Widget staticStyle={GROUND}>
            <Screens
              current={places.at(-1)?.screen ?? 'home'}
              transition="fade"
              duration={TIMES.screen}
              {...(places.length > 1 && { onBack: () => go({ move: 'back' }) })}
            >
              <Screen name="home">{home}</Screen>
              <Screen name="search" preload>
                {search}
              </Screen>
              {productId !== undefined && (
                <Screen name="product" preload>
                  <Product id={productId} />
                </Screen>
              )}
              {film !== undefined && (
                <Screen name="film">
                  <Film id={film} />
                </Screen>
              )}
            </Screens>
          </Widget>
        </RestProvider>
      </GoProvider>
    </ServerProvider>
  );
}

interface Contents {
  readonly home: ReactNode;
  readonly search: ReactNode;
  readonly product: number | undefined;
  readonly film: number | undefined;
}

/** What each kind of screen is about: its place that lies highest in the stack. */
function contentOf(places: Places): Contents {
  const last = <Kind extends Place['screen']>(kind: Kind): Extract<Place, { screen: Kind }> | undefined =>
    places.findLast((place): place is Extract<Place, { screen: Kind }> => place.screen === kind);
  const idOf = (kind: 'product' | 'film'): number | undefined => {
    const place = places.findLast(({ screen }) => screen === kind);
    return place !== undefined && 'id' in place ? place.id : undefined;
  };
  return {
    home: <Home />,
    search: <Search text={last('search')?.text ?? ''} />,
    product: idOf('product'),
    film: idOf('film'),
  };
}

/** Milliseconds after which a focus that rests on a poster makes its product come ahead. */
const RESTS_MS = 350;

/** The first product on which the focus has rested, for a screen that is mounted ahead; and what notes where it rests. */
function useHint(): [hinted: number | undefined, rest: (id: number) => void] {
  const model = useModel();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [hinted, setHinted] = useState<number>();
  const rest = useCallback(
    (id: number) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        setHinted((first) => first ?? id);
        // A viewer who opens the product finds its facts there. Facts that cannot be had now are asked for then.
        model.get(`products[${id}].facts`, `products[${id}].similar[0..10].card`).catch(() => undefined);
      }, RESTS_MS);
    },
    [model],
  );
  return [hinted, rest];
}
