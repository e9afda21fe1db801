import { react19_1 } from './19.1.js';
import type { Profile } from './profile.js';

export const react19_0: Profile = {
  ...react19_1,
  line: '19.0',
  unknownTypes: [...react19_1.unknownTypes, Symbol.for('react.view_transition')],
  head: 'start-tag',
  idMarks: [':', 'R', ':'],
  imageHints: 'all',
  suspendedEnd: '',
};
