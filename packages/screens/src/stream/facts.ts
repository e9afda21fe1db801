// What the codes say, by code: for readers of the stream. Apps' roots need none of it.
import { COMMAND, EVENT, PROPERTIES, type PropertyFacts, type PropertyName } from './codes.js';

export interface Property extends PropertyFacts {
  readonly name: PropertyName;
}

/** Properties by their code. Codes without a property are undefined. */
export const PROPERTY_OF: readonly (Property | undefined)[] = (() => {
  const table: (Property | undefined)[] = Array.from({ length: 256 });
  for (const [name, facts] of Object.entries(PROPERTIES))
    table[facts.code] = { ...facts, name: name as PropertyName };
  return table;
})();

/** Kind of a word: what has to hold for it. */
export type Word = 'widget' | 'widget-or-none' | 'style' | 'count' | 'float' | 'value' | 'string' | 'easing';

export interface Command {
  readonly name: string;
  /** Whether the first word carries a property. */
  readonly property: boolean;
  /** Words after the first. */
  readonly words: readonly Word[];
}

/** Commands by their code. A test compares them with stream.json. */
export const COMMAND_OF: readonly (Command | undefined)[] = [
  undefined,
  command('create', false, 'widget'),
  command('place', false, 'widget-or-none', 'widget', 'widget-or-none'),
  command('remove', false, 'widget'),
  command('number', true, 'widget', 'float'),
  command('percent', true, 'widget', 'float'),
  command('integer', true, 'widget', 'value'),
  command('string', true, 'widget', 'string'),
  command('reset', true, 'widget'),
  command('style', false, 'widget', 'style'),
  command('focus-style', false, 'widget', 'style'),
  command('define', false, 'style', 'count'),
  command('focus', false, 'widget-or-none'),
  command('transition', true, 'widget', 'float', 'float', 'easing'),
  command('animate', true, 'widget', 'float', 'float', 'float', 'float', 'easing', 'count'),
  command('stop', true, 'widget'),
];

/** Commands whose entries a shared style may have, there without their widget. */
export const IN_STYLES: ReadonlySet<number> = new Set([
  COMMAND.NUMBER,
  COMMAND.PERCENT,
  COMMAND.INTEGER,
  COMMAND.STRING,
  COMMAND.TRANSITION,
]);

/** Words of each event, the first one included, by its code. */
export const EVENT_LENGTH: readonly number[] = (() => {
  const lengths: number[] = [0];
  lengths[EVENT.KEY] = 5;
  lengths[EVENT.LAYOUT] = 6;
  lengths[EVENT.ANIMATION_END] = 3;
  lengths[EVENT.IMAGE] = 3;
  lengths[EVENT.MEMORY] = 2;
  lengths[EVENT.RESIZE] = 3;
  lengths[EVENT.FRAME] = 4;
  return lengths;
})();

function command(name: string, property: boolean, ...words: readonly Word[]): Command {
  return { name, property, words };
}
