/** Places of the app: the stack of its screens, and the text that stands for it. */
import { createContext, useContext } from 'react';

export type Place =
  | { readonly screen: 'home' }
  | { readonly screen: 'search'; readonly text: string }
  | { readonly screen: 'product' | 'film'; readonly id: number };

/** From the lowest screen to the one that is seen. There is one at least. */
export type Places = readonly [Place, ...Place[]];

const HOME: Places = [{ screen: 'home' }];
const PLACES_MAX = 12;
const TEXT_MAX = 24;

/** Text of a stack, such as `search:lamp/product:12`. */
export function textOf([, ...above]: Places): string {
  return above.map((place) => `${place.screen}:${'id' in place ? place.id : encoded(place)}`).join('/');
}

/** Stack of a text. A text that is no place ends it. */
export function placesOf(text: string): Places {
  const above: Place[] = [];
  for (const part of text.split('/').slice(0, PLACES_MAX)) {
    const place = placeOf(part);
    if (place === undefined) break;
    above.push(place);
  }
  return [...HOME, ...above] as unknown as Places;
}

function placeOf(part: string): Place | undefined {
  const [, screen = '', value = ''] = /^(\w+):(.*)$/.exec(part) ?? [];
  if (screen === 'search') return { screen, text: cleaned(decoded(value)) };
  const id = Number(value);
  const isId = /^\d{1,6}$/.test(value) && id > 0;
  return (screen === 'product' || screen === 'film') && isId ? { screen, id } : undefined;
}

/** A search's text: small letters, digits and spaces. */
export function cleaned(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z\d ]/g, '')
    .slice(0, TEXT_MAX);
}

function encoded(place: Place): string {
  return 'text' in place ? place.text.replaceAll(' ', '+') : '';
}

function decoded(value: string): string {
  return value.replaceAll('+', ' ');
}

export type Move =
  | { readonly move: 'open'; readonly place: Place }
  | { readonly move: 'back' }
  /** Changes what the screen on top is about. */
  | { readonly move: 'become'; readonly place: Place };

export function moved(places: Places, move: Move): Places {
  switch (move.move) {
    case 'open':
      return places.length === PLACES_MAX ? places : [...places, move.place];
    case 'become':
      return [...places.slice(0, -1), move.place] as unknown as Places;
    case 'back':
      return places.length === 1 ? places : (places.slice(0, -1) as unknown as Places);
  }
}

export type Go = (move: Move) => void;

const GoContext = createContext<Go>(() => undefined);
export const GoProvider = GoContext.Provider;

/** Function that moves between screens. */
export function useGo(): Go {
  return useContext(GoContext);
}

const RestContext = createContext<(id: number) => void>(() => undefined);
export const RestProvider = RestContext.Provider;

/** Function that notes the product on whose poster the focus is. */
export function useRest(): (id: number) => void {
  return useContext(RestContext);
}

/** Address of the server, without a slash at the end; empty where addresses may be relative. */
const ServerContext = createContext('');
export const ServerProvider = ServerContext.Provider;

export function usePosterAddress(): (id: number, isLarge?: boolean) => string {
  const server = useContext(ServerContext);
  return (id, isLarge) => `${server}/posters/${id}${isLarge === true ? '-large' : ''}.png`;
}
