import { react19_0 } from './19.0.js';
import type { Profile } from './profile.js';

export const react18_3: Profile = {
  ...react19_0,
  line: '18.3',
  api: 'streams',
  hooks: 'of-18',
  unknownTypes: [Symbol.for('react.view_transition'), Symbol.for('react.activity')],
  resourceFunctions: null,
  nodes: 'elements',
  components: 'legacy',
  contexts: 'consumer',
  customElements: 'by-is',
  head: 'in-place',
  idPlaces: 'none',
  waiting: 'on',
  overflow: 'fails',
  abort: 'silently',
  turns: 'begin-late',
  reports: 'errors',
  boundaryIds: 'apart',
  badgeEnd: null,
  docsSite: 'https://reactjs.org',
};
