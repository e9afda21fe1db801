import { react19_2 } from './19.2.js';
import type { Profile } from './profile.js';

export const react19_1: Profile = {
  ...react19_2,
  line: '19.1',
  api: 'prerender',
  unknownTypes: [...react19_2.unknownTypes, Symbol.for('react.activity')],
  lists: 'as-children',
  head: 'rendered-last',
  fallbacks: 'like-content',
  idMarks: ['\u00ab', 'R', '\u00bb'],
  waiting: 'unless-thrown',
  turns: 'end-late',
  outlining: 'never',
  givenUpPlaces: 'fail',
  shell: 'unmarked',
  nonces: 'one',
  providerSuffix: '.Provider',
  badgeEnd: ' ',
};
