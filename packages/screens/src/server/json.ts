// A picture as JSON: names instead of codes, widgets in each other. Data alone: what commands do not carry, such as functions, cannot be in it.
import type {
  AnimationJson,
  LookJson,
  ScreenJson,
  TransitionJson,
  ValueJson,
  WidgetJson,
} from '../adopt/json.js';
import { numberOfBits } from '../adopt/json.js';
import { isSameLook, type Look, type Motion, type Part, type Picture, type Value } from '../adopt/picture.js';
import { COMMAND, EASINGS, VERSION } from '../stream/codes.js';
import { PROPERTY_OF } from '../stream/facts.js';

/** Size for which a picture was made, in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export function jsonOf(picture: Picture, { width, height }: Size): ScreenJson {
  const looks: Look[] = [];
  /** Places of styles by their numbers. Styles that say the same are one. */
  const places = new Map<number, number>();
  const placeOf = (style: number): number | undefined => {
    const look = picture.styles.get(style);
    if (look === undefined) return undefined;
    let place = places.get(style);
    if (place === undefined) {
      place = looks.findIndex((other) => isSameLook(look, other));
      if (place === -1) place = looks.push(look) - 1;
      places.set(style, place);
    }
    return place;
  };
  let [last, focus] = [0, 0];
  const widgetOf = (part: Part): WidgetJson => {
    last += 1;
    if (part.id === picture.focus) focus = last;
    const [style, focusStyle] = [placeOf(part.style), placeOf(part.focusStyle)];
    return {
      ...(style !== undefined && { style }),
      ...(focusStyle !== undefined && { focusStyle }),
      ...lookOf(part),
      ...(part.animations.size > 0 && { animations: recordOf(part.animations, animationOf) }),
      ...(part.children.length > 0 && { children: part.children.map(widgetOf) }),
    };
  };
  const widgets = picture.root.children.map(widgetOf);
  return { version: VERSION, width, height, styles: looks.map(lookOf), widgets, focus };
}

function lookOf({ values, transitions }: Look): LookJson {
  return {
    ...(values.size > 0 && { values: recordOf(values, valueOf) }),
    ...(transitions.size > 0 && { transitions: recordOf(transitions, transitionOf) }),
  };
}

function recordOf<From, To>(
  map: ReadonlyMap<number, From>,
  of: (from: From, property: number) => To,
): Record<string, To> {
  return Object.fromEntries(
    [...map].flatMap(([property, from]) => {
      const name = PROPERTY_OF[property]?.name;
      return name === undefined ? [] : [[name, of(from, property)] as const];
    }),
  );
}

function valueOf({ command, word, text }: Value, property: number): ValueJson {
  const facts = PROPERTY_OF[property];
  if (command === COMMAND.STRING) return text;
  if (command === COMMAND.NUMBER) return numberOfBits(word);
  if (command === COMMAND.PERCENT) return `${numberOfBits(word)}%`;
  if (facts?.type === 'flag') return word === 1;
  if (facts?.type === 'choice') return facts.values?.[word] ?? word;
  if (facts?.type === 'color') return `#${(word >>> 0).toString(16).padStart(8, '0')}`;
  return word;
}

function transitionOf([duration = 0, delay = 0, easing = 0]: Motion): TransitionJson {
  return [numberOfBits(duration), numberOfBits(delay), EASINGS[easing] ?? 'linear'];
}

function animationOf([
  from = 0,
  to = 0,
  duration = 0,
  delay = 0,
  easing = 0,
  repeat = 0,
]: Motion): AnimationJson {
  const start = numberOfBits(from);
  return {
    ...(!Number.isNaN(start) && { from: start }),
    to: numberOfBits(to),
    duration: numberOfBits(duration),
    ...(delay !== 0 && { delay: numberOfBits(delay) }),
    ...(easing !== 0 && { easing: EASINGS[easing] ?? 'linear' }),
    ...((repeat & 0xffff) !== 0 && { repeat: repeat & 0xffff }),
    ...((repeat & (1 << 16)) !== 0 && { alternate: true }),
  };
}
